#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Draw comments and sentences of the documentation at random, for a review.

  sample-prose.py [-s SEED] [-c COMMENTS] [-d SENTENCES] [FILE...]

Prints one per line, after its number, file and line.  Comments come from C
files, headers and shell scripts; a paragraph of a long comment, or the
description of one member or argument, counts as a comment of its own.
Sentences come from reStructuredText, manual pages and Markdown.  Tables,
headings and commands are left out.  Without FILE the tracked files of the tree
are read.

The sample depends on the seed and the text alone: the same commit gives the
same sample everywhere.  An edited text gets a new random rank; the others keep
theirs.
"""
import argparse
import hashlib
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]

# A comment, or a string that may contain the start of one
C_TOKEN = re.compile(
    r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'""", re.S)
# A comment of a script, after a command
SH_TAIL = re.compile(r"^[^#]*\s# (.*)$")
DIRECTIVES = re.compile(r"SPDX-License|shellcheck (source|disable|shell)|^!/")
SENTENCE_END = re.compile(r"(?<=[.?!:])\s+(?=[A-Z0-9`*\"(])")
BULLET = re.compile(r"^\s*([-*+]|#\.|\d+\.|\(\w\))\s+")
UNDERLINE = re.compile(r"^([^\w\s])\1{2,}\s*$")
RST_TABLE = re.compile(r"^\s*(=+( +=+)+|\+[-=+]+\+|\|.*)\s*$")
ADMONITIONS = {"note", "warning", "tip", "important", "attention", "hint"}
MAN_FONTS = {"B", "I", "SM", "BR", "RB", "BI", "IB", "IR", "RI"}
MAN_BREAKS = {"SH", "SS", "PP", "P", "LP", "TP", "IP", "RS", "RE", "TQ", "br",
              "sp"}


def paragraphs(lines):
    """(line number, text) of each paragraph of (line number, text) pairs.

    An empty text ends a paragraph.  A description "@name: ..." begins one.
    """
    first, words = 0, []
    for number, text in [*lines, (0, "")]:
        if words and (not text or re.match(r"@[\w.]+:", text)):
            yield first, " ".join(words)
            words = []
        if text:
            if not words:
                first = number
            words.append(text)


def c_comments(text):
    for token in C_TOKEN.finditer(text):
        if not token[0].startswith("/"):
            continue
        first = text.count("\n", 0, token.start()) + 1
        body = re.sub(r"\*/$", "", token[0][2:].lstrip("*"))
        yield from paragraphs(
            (first + i, re.sub(r"^\s*\*?", "", line).strip())
            for i, line in enumerate(body.split("\n")))


def sh_comments(text):
    block = []
    for number, line in enumerate(text.split("\n"), 1):
        whole = re.match(r"^\s*#(.*)", line)
        if whole and not DIRECTIVES.search(whole[1].strip()):
            # indented lines of a comment are a table
            indented = whole[1].startswith(("   ", "\t"))
            block.append((number, "" if indented else whole[1].strip()))
            continue
        yield from paragraphs(block)
        block = []
        tail = None if whole else SH_TAIL.match(line)
        if tail and line[:tail.start(1)].count('"') % 2 == 0 and \
           line[:tail.start(1)].count("'") % 2 == 0:
            yield number, tail[1]
    yield from paragraphs(block)


def indent_of(line):
    return len(line) - len(line.lstrip())


def rst_lines(text):
    """(line number, text) of prose; everything else is an empty line"""
    lines = text.split("\n")
    skip = None             # indentation of the line that owns an omitted block
    table = False
    for i, line in enumerate(lines):
        number, stripped = i + 1, line.strip()
        if skip is not None:
            if not stripped or indent_of(line) > skip:
                yield number, ""
                continue
            skip = None
        if table:
            table = bool(stripped)
            yield number, ""
            continue
        if RST_TABLE.match(line):
            table = True
            yield number, ""
            continue
        if stripped.startswith(".. "):
            name = re.match(r"\.\. (\w+)::", stripped)
            if not (name and name[1] in ADMONITIONS):
                skip = indent_of(line)
            yield number, ""
            continue
        heading = i + 1 < len(lines) and UNDERLINE.match(lines[i + 1])
        if UNDERLINE.match(line) or heading or re.match(r":[\w -]+:", stripped):
            yield number, ""
            continue
        if stripped.endswith("::"):
            skip = indent_of(line)
            stripped = stripped[:-1] if stripped != "::" else ""
        if BULLET.match(line):
            yield number, ""
            stripped = BULLET.sub("", line).strip()
        # a term, whose definition is indented below it
        elif i + 1 < len(lines) and lines[i + 1].strip() and \
                indent_of(lines[i + 1]) > indent_of(line) and \
                (i == 0 or not lines[i - 1].strip()):
            stripped = ""
        yield number, stripped


def md_lines(text):
    fence = False
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip()
        if stripped.startswith("```"):
            fence = not fence
            stripped = ""
        if fence or re.match(r"#|\||<|!\[|    ", line):
            stripped = ""
        if BULLET.match(line):
            yield number, ""
            stripped = BULLET.sub("", line).strip()
        yield number, stripped


def man_text(line):
    """A line of a manual page without its markup"""
    font = re.match(r"\.(\w+)\s+(.*)", line)
    if font and font[1] in MAN_FONTS:
        words = re.findall(r'"([^"]*)"|(\S+)', font[2])
        joint = " " if font[1] in ("B", "I", "SM") else ""
        line = joint.join(a or b for a, b in words)
    line = re.sub(r"\\f(\[\w*\]|\(..|.)|\\&|\\c", "", line)
    return re.sub(r"\\\(..|\\(.)",
                  lambda m: "\\" if m[1] == "e" else m[1] or "", line).strip()


def man_lines(text):
    literal = tag = False
    section = ""
    for number, line in enumerate(text.split("\n"), 1):
        macro = re.match(r"\.\s*(\w+)", line)
        name = macro[1] if macro else ""
        if name in ("nf", "EX"):
            literal = True
        elif name in ("fi", "EE"):
            literal = False
        if name == "SH":
            section = line[3:].strip(' "')
        prose = (not macro or name in MAN_FONTS) and \
            not line.startswith(('.\\"', "'")) and not literal and \
            section not in ("NAME", "SYNOPSIS", "SEE ALSO")
        if prose and tag:
            prose = tag = False
        if name == "TP":
            tag = True
        if prose:
            yield number, man_text(line)
        elif name in MAN_BREAKS or not name or literal:
            yield number, ""


def sentences(lines):
    """(line number, text) of each sentence of paragraphs"""
    lines = list(lines)
    for first, paragraph in paragraphs(lines):
        # the offset in the paragraph at which each line begins
        where, length = [], 0
        for number, text in lines:
            if number >= first and text and length < len(paragraph):
                where.append((length, number))
                length += len(text) + 1
        start = 0
        for sentence in SENTENCE_END.split(paragraph):
            at = paragraph.index(sentence, start)
            start = at + len(sentence)
            if sentence.endswith((".", "?", "!", ":", ".)")):
                yield max(n for begin, n in where if begin <= at), sentence


READERS = {
    ".c": ("comments", c_comments),
    ".h": ("comments", c_comments),
    ".sh": ("comments", sh_comments),
    ".rst": ("sentences", lambda text: sentences(rst_lines(text))),
    ".md": ("sentences", lambda text: sentences(md_lines(text))),
    ".8": ("sentences", lambda text: sentences(man_lines(text))),
}
# A comment with fewer words in lower case is the guard of a header or the
# arguments of a function, or says nothing: "@port: port"
LEAST_WORDS = 3


def tracked():
    out = subprocess.run(["git", "-C", TOP, "ls-files", "-z"], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    return [TOP / name for name in out.split("\0") if name]


def shown(path):
    try:
        return str(path.resolve().relative_to(TOP))
    except ValueError:
        return str(path)


def draw(items, seed, count):
    """The COUNT items whose hashes are smallest, in the order of the files"""
    def rank(item):
        name, _, text = item
        return hashlib.sha256(f"{seed}\0{name}\0{text}".encode()).digest()

    return sorted(sorted(items, key=rank)[:count])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-s", default="1", metavar="SEED")
    parser.add_argument("-c", type=int, default=100, metavar="COMMENTS")
    parser.add_argument("-d", type=int, default=50, metavar="SENTENCES")
    parser.add_argument("files", nargs="*", type=pathlib.Path, metavar="FILE")
    args = parser.parse_args()

    found = {"comments": set(), "sentences": set()}
    for path in args.files or tracked():
        kind, reader = READERS.get(path.suffix, (None, None))
        if not reader:
            continue
        text = path.read_text(encoding="utf-8")
        for line, prose in reader(text):
            if DIRECTIVES.search(prose):
                continue
            if len(re.findall(r"\b[A-Z]?[a-z]+\b", prose)) >= LEAST_WORDS:
                found[kind].add((shown(path), line, prose))
    for kind, count in ("comments", args.c), ("sentences", args.d):
        print(f"{kind}: {min(count, len(found[kind]))} of {len(found[kind])},"
              f" seed {args.s}")
        for i, (name, line, prose) in enumerate(
                draw(found[kind], args.s, count), 1):
            print(f"{i:3} {name}:{line}: {prose}")


if __name__ == "__main__":
    sys.exit(main())
