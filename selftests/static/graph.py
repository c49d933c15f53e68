#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Count the files of the module, the dependencies (arrows) between them, and the
loops.

  graph.py [-m N] [-v] [DIRECTORY]	default: kmod

There are two graphs.  In the graph of calls an arrow leads from one NAME.c of
DIRECTORY to another if the first file names a non-static function that the
other file defines.  The inline functions that the first file uses count as a
part of it.  In the graph of includes an arrow leads from a header to each
header that it includes.  A call through a pointer is no arrow, because the
owner of the pointer decides which function is called.  So tables of functions,
such as the notify methods in timer.c, cause no arrows.  Nor do variables, such
as the workqueue of netns.c.  A loop is a strongly connected component of more
than one file: each of its files uses all others, directly or through some of
them.

  -m N	exit with status 1 if a loop has more than N files
  -v	print each arrow, with its reasons

The sources are not built.  Definitions are found by the kernel's style: they
begin in column 0, and so does the brace that opens their body.
"""
import argparse
import collections
import pathlib
import re
import sys

# Comments, strings and characters: no calls
NOISE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'',
                   re.S)
INCLUDE = re.compile(r'^#[ \t]*include[ \t]+"([^"]+)"', re.M)
# The lines before the opening brace of a body, back to the previous blank line,
# directive or end of a definition
HEAD = r"((?:^[^\n;}#][^\n;]*\n)+)^\{"
FUNCTION = re.compile(HEAD + r"(.*?)^\}", re.M | re.S)
NAME = re.compile(r"(\w+)\s*\(")
# A member of a struct is no function, even if it has the name of a function
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


def calls(sources, inlines):
    """(FILE, OTHER) -> the functions for which the source FILE uses OTHER"""
    code, defined_by = {}, {}
    for path in sources:
        code[path.name] = without_noise(path.read_text(encoding="utf-8"))
        for function, static, _ in functions(code[path.name]):
            if not static:
                defined_by[function] = path.name
    reasons = collections.defaultdict(list)
    for name, text in code.items():
        for word in sorted(words(text, inlines)):
            if defined_by.get(word, name) != name:
                reasons[name, defined_by[word]].append(word + "()")
    return dict(sorted(reasons.items()))


def includes(directory, headers):
    """(FILE, OTHER) -> the include of the header OTHER in the header FILE"""
    names = {str(h.relative_to(directory)): h for h in headers}
    reasons = {}
    for name, path in sorted(names.items()):
        for header in INCLUDE.findall(path.read_text(encoding="utf-8")):
            # relative to the including file, else to DIRECTORY
            beside = str((path.parent / header).relative_to(directory))
            other = beside if beside in names else header
            if other in names:
                reasons[name, other] = [header]
    return reasons


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
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-m", type=int, metavar="N",
                        help="the most files that a loop may have")
    parser.add_argument("-v", action="store_true", help="print each arrow")
    parser.add_argument("directory", nargs="?", type=pathlib.Path,
                        default=pathlib.Path("kmod"))
    args = parser.parse_args()

    sources = sorted(args.directory.glob("*.c"))
    headers = sorted(h for part in (".", "algo")
                     for h in (args.directory / part).glob("*.h"))
    if not sources:
        sys.exit(f"graph: {args.directory} has no .c files")
    largest = 1
    for title, files, pairs in (
            ("calls", [p.name for p in sources],
             calls(sources, read_inlines(headers))),
            ("includes", [str(h.relative_to(args.directory)) for h in headers],
             includes(args.directory, headers))):
        if args.v:
            for (name, other), why in pairs.items():
                print(f"{name} -> {other}: {', '.join(why)}")
        print(f"{title}: {len(files)} files, {len(pairs)} arrows")
        for loop in loops(files, pairs):
            largest = max(largest, len(loop))
            print(f"  loop of {len(loop)}: {' '.join(loop)}")
    if args.m is not None and largest > args.m:
        sys.exit(f"graph: a loop has {largest} files, the most is {args.m}")


if __name__ == "__main__":
    main()
