#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Count the files of the module, the arrows between them, and the loops.

  graph.py [-m N] [-v] [DIRECTORY]	default: kmod

A file is a NAME.c of DIRECTORY, together with NAME.h if there is one.  An arrow
leads from one file to another that it uses: it includes its header, or names
a non-static function that the other one defines.  A prototype is no use.  The
inline functions of a header that has no NAME.c belong to whoever uses them.  A
loop is a strongly connected component of more than one file: each of them uses
all others, directly or by way of some of them.

  -m N	exit with status 1 if a loop has more than N files
  -v	print each arrow, with its reasons

The sources are not built.  Definitions are found by the kernel's style: they
and the brace that opens their body begin in column 0.
"""
import argparse
import collections
import pathlib
import re
import sys

# Comments, strings and characters, none of which calls anything
NOISE = re.compile(
    r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'""", re.S)
INCLUDE = re.compile(r'^#[ \t]*include[ \t]+"([^"]+)"', re.M)
# What precedes the opening brace of a body, back to the previous blank line,
# directive or end of a definition
HEAD = r"((?:^[^\n;}#][^\n;]*\n)+)^\{"
FUNCTION = re.compile(HEAD + r"(.*?)^\}", re.M | re.S)
NAME = re.compile(r"(\w+)\s*\(")
# with its continued lines
MACRO = re.compile(r"^#[ \t]*define(?:[^\n]*\\\n)*[^\n]*", re.M)
# A member of a struct is not a function of that name
WORD = re.compile(r"(?<![.>\w])[A-Za-z_]\w*")


def without_noise(text):
    """The text with every comment and string replaced by a blank"""
    return NOISE.sub(lambda m: "\n" * m[0].count("\n") + " ", text)


def functions(code):
    """(name, is it static, body) of each function that the code defines"""
    for head, body in FUNCTION.findall(code):
        # annotations such as __printf(1, 2) may come before the name
        names = [n for n in NAME.findall(head) if not n.startswith("__")]
        if names and "=" not in head:
            yield names[0], bool(re.search(r"\bstatic\b", head)), body


def used_in(path):
    """The text of a file without what a header only declares"""
    code = without_noise(path.read_text(encoding="utf-8"))
    if path.suffix == ".c":
        return code
    return "\n".join(MACRO.findall(code) +
                     [body for _, _, body in functions(code)])


def read_inlines(headers):
    """NAME -> the words of the body, for the inline functions of the headers"""
    bodies = {}
    for header in headers:
        code = without_noise(header.read_text(encoding="utf-8"))
        for name, static, body in functions(code):
            if static:
                bodies[name] = set(WORD.findall(body))
    return bodies


def words(code, inlines):
    """The words of the code and of the inline functions that it uses"""
    found, new = set(), set(WORD.findall(code))
    while new:
        found |= new
        new = set().union(*(inlines.get(w, set()) for w in new)) - found
    return found


def read_files(directory):
    """NAME -> the paths of NAME.c and, if there is one, NAME.h"""
    files = {}
    for source in sorted(directory.glob("*.c")):
        header = source.with_suffix(".h")
        files[source.stem] = [source] + ([header] if header.exists() else [])
    return files


def arrows(files, inlines):
    """(FILE, OTHER) -> the headers and functions for which FILE uses OTHER"""
    code, included, defined_by = {}, {}, {}
    for name, paths in files.items():
        text = "\n".join(p.read_text(encoding="utf-8") for p in paths)
        included[name] = INCLUDE.findall(text)
        code[name] = "\n".join(used_in(p) for p in paths)
        for function, static, _ in functions(without_noise(text)):
            if not static:
                defined_by[function] = name
    reasons = collections.defaultdict(list)
    for name in files:
        for header in included[name]:
            path = pathlib.PurePath(header)
            # a header of tests/ or of Linux may have the name of one of ours
            if path.parent.name == "" and path.stem in files:
                reasons[name, path.stem].append(header)
        for word in sorted(words(code[name], inlines)):
            if word in defined_by:
                reasons[name, defined_by[word]].append(word + "()")
    return {pair: why for pair, why in sorted(reasons.items())
            if pair[0] != pair[1]}


def loops(files, pairs):
    """Strongly connected components of more than one file, largest first"""
    uses = collections.defaultdict(list)
    for name, other in pairs:
        uses[name].append(other)
    # Tarjan's algorithm
    index, low, stack, found = {}, {}, [], []

    def visit(name):
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in uses[name]:
            if other not in index:
                visit(other)
            if other in stack:
                low[name] = min(low[name], low[other])
        if low[name] == index[name]:
            start = stack.index(name)
            found.append(sorted(stack[start:]))
            del stack[start:]

    for name in files:
        if name not in index:
            visit(name)
    return sorted((c for c in found if len(c) > 1), key=lambda c: (-len(c), c))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-m", type=int, metavar="N",
                        help="the most files that a loop may have")
    parser.add_argument("-v", action="store_true", help="print each arrow")
    parser.add_argument("directory", nargs="?", type=pathlib.Path,
                        default=pathlib.Path("kmod"))
    args = parser.parse_args()

    files = read_files(args.directory)
    if not files:
        sys.exit(f"graph: {args.directory} has no .c files")
    owned = {path for paths in files.values() for path in paths}
    inlines = read_inlines(sorted(set(args.directory.rglob("*.h")) - owned))
    pairs = arrows(files, inlines)
    if args.v:
        for (name, other), why in pairs.items():
            print(f"{name} -> {other}: {', '.join(why)}")
    print(f"files {len(files)}")
    print(f"arrows {len(pairs)}")
    largest = 1
    for loop in loops(files, pairs):
        largest = max(largest, len(loop))
        print(f"loop {len(loop)}: {' '.join(loop)}")
    if args.m is not None and largest > args.m:
        sys.exit(f"graph: a loop has {largest} files, the most is {args.m}")


if __name__ == "__main__":
    main()
