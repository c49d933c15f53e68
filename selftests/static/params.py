#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Check documents against the table of parameters.

  params.py MAN-PAGE SPECIFICATION <ROWS

ROWS has a line per row of kmod/config_table.h: the name of the parameter and
the names of its values, separated by tabs.  tc-iqcn(8) must have each parameter
in the synopsis and as a paragraph, and each name of a value.  The specification
must have the same names of values as the table.  Prints the differences.
"""
import re
import sys

import yaml


def section(text, title):
    """The part of a man page from one .SH to the next"""
    return re.search(rf"^\.SH {title}\n(.*?)(?=^\.SH )", text, re.S | re.M)[1]


def plain(text):
    """The text without roff's macros, fonts and quotes"""
    text = re.sub(r"^\.[A-Z]+ ?", "", text, flags=re.M)
    return re.sub(r"\\f[A-Z]", "", text).replace('"', " ")


def check_man(rows, text):
    synopsis = re.findall(r'^\.RB "\[ " ([a-z0-9-]+)', section(text, "SYNOPSIS"),
                          re.M)
    synopsis = [name for name in synopsis if name != "handle"]
    for name in sorted(set(synopsis) ^ set(rows)):
        yield f"{name} is only in the {'table' if name in rows else 'synopsis'}"
    parameters = section(text, "PARAMETERS")
    paragraphs = re.findall(r"^\.TP\n\.[A-Z]+ ([a-z0-9-]+)", parameters, re.M)
    words = set(re.findall(r"[a-z0-9-]+", plain(parameters)))
    for name, values in rows.items():
        if name not in paragraphs:
            yield f"no paragraph about {name}"
        for value in values:
            if value and value not in words:
                yield f"no {name} {value}"


def check_spec(rows, spec):
    for definition in spec["definitions"]:
        values = rows.get(definition["name"])
        entries = [e if isinstance(e, str) else e["name"]
                   for e in definition["entries"]]
        # the enum "filter" of the family is not that of the parameter "filter";
        # enums of parameters have a header
        if "header" not in definition:
            continue
        # tc has no word for "none"
        if values and entries != [v or "none" for v in values]:
            yield f"{definition['name']} is {entries}, not {values}"


def main():
    rows = {}
    for line in sys.stdin:
        name, *values = line.rstrip("\n").split("\t")
        rows[name] = values
    man, spec = sys.argv[1:]
    with open(man, encoding="utf-8") as f:
        for problem in check_man(rows, f.read()):
            print(f"{man}: {problem}")
    with open(spec, encoding="utf-8") as f:
        for problem in check_spec(rows, yaml.safe_load(f)):
            print(f"{spec}: {problem}")


if __name__ == "__main__":
    main()
