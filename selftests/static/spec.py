#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Print C code that compiles if a netlink specification and uapi headers agree.

  spec.py SPEC DIRECTORY HEADER...

Each name that the specification generates (as in ynl-gen-c) must have the
number that the specification gives it.  A name in an enum of the headers in
DIRECTORY that the specification lacks is an error.
"""
import re
import sys

import yaml


def c_name(*parts):
    return "-".join(parts).upper().replace("-", "_")


def entry(item):
    return item if isinstance(item, str) else item["name"]


def numbers(spec):
    """Names and numbers of definitions, attributes and commands"""
    family = spec["name"]
    for d in spec["definitions"]:
        for i, e in enumerate(d["entries"]):
            yield (c_name(family, d["name"], entry(e)),
                   1 << i if d["type"] == "flags" else i)
    for s in spec["attribute-sets"]:
        for i, a in enumerate(s["attributes"], 1):
            yield c_name(s["name-prefix"] + a["name"]), i
    for i, o in enumerate(spec["operations"]["list"], 1):
        yield c_name(family, "cmd", o["name"]), i


def strings(spec):
    yield c_name(spec["name"], "family-name"), spec["name"]
    for g in spec["mcast-groups"]["list"]:
        yield c_name(spec["name"], "mcgrp", g["name"]), g["name"]


def enumerators(text):
    """Names of the values of each enum"""
    for body in re.findall(r"^enum \w+ \{(.*?)^\};", text, re.S | re.M):
        names = re.findall(r"^\t(\w+)", body, re.M)
        yield [n for n in names
               if not n.startswith("__") and not n.endswith("_UNSPEC")]


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        spec = yaml.safe_load(f)
    known = dict(numbers(spec))
    for header in sys.argv[3:]:
        print(f"#include <{header}>")
        with open(f"{sys.argv[2]}/{header}", encoding="utf-8") as f:
            text = f.read()
        for names in enumerators(text):
            # an enum of the specification, or of its own header
            if known.keys() & set(names) or header == spec["uapi-header"]:
                for name in set(names) - known.keys():
                    print(f'#error "the specification lacks {name}"')
    for name, value in known.items():
        print(f'_Static_assert({name} == {value}, "{name}");')
    for name, value in strings(spec):
        print(f'_Static_assert(!__builtin_strcmp({name}, "{value}"), "{name}");')


if __name__ == "__main__":
    main()
