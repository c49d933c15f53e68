#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The kernel's own cases of how qdiscs go together, with iqcn as the child.

	infra.py [new] <infra/qdiscs.json >cases.json

A case's leaf qdisc becomes iqcn, with a limit that makes it hold or drop as the
other one does.  Where a class, or a qdisc with one child, has no leaf of its own,
iqcn becomes it.  What it then expects of a kind, it expects of iqcn; where two
kinds differ EXPECT says how.  Cases in which there is no place for iqcn, and those
of NEW, are left out, which is said on stderr; with "new", all but those of NEW.
"""
import json
import re
import sys

# kinds without children that a case is about
LEAVES = "fq_codel codel fq_pie pie hhf fq skbprio cake dualpi2 sfq pfifo blackhole"
# those with one child and a fifo of their own in its place, and classes
HOLDERS = "netem tbf cbs red sfb"
CLASSES = "drr hfsc qfq htb ets"
# a handle for those whose child is to be added but which have none
HANDLE = "fee:"

EXPECT = {}
# an older tc says it without 0x, and of ets' classes what is no JSON
EXPECT["a4c3"] = {"matchPattern": "qdisc hfsc 3:.*parent 1:2.*default (?:0x)?1"}
EXPECT["1f1f"] = {"verifyCmd": "$TC -s class show dev $DUMMY",
                  "matchPattern": "class ets 1:1 .*Sent 196 bytes 2 pkt",
                  "matchCount": "1"}
# what kernels before 7 refuse or do not survive, whatever the leaf
NEW = {"bf1d": "two netems that duplicate, which Linux 6.1 refuses",
       "3a62": "with any leaf Linux 6.1 panics, in qfq",
       "c797": "a plug below qfq, of which Linux 6.1 warns",
       "82d9": "a plug below qfq, of which Linux 6.1 warns",
       "d3da": "a plug below qfq, of which Linux 6.1 warns"}

LEAF = re.compile(rf"^(.* qdisc (?:add|replace|change) .*?) ({'|'.join(LEAVES.split())})\b(.*)$")
HOLDER = re.compile(rf"^.* qdisc (?:add|replace) .*? ({'|'.join(HOLDERS.split())})\b")
CLASS = re.compile(rf"^.* class (?:add|replace) .* ({'|'.join(CLASSES.split())})\b")


def word(command, name):
    """The value after a word: an id, with its minor number if that is not 0."""
    found = re.search(rf"\b{name} (\S+)", command)
    return found and re.sub(r":0$", ":", found[1])


def place(parent):
    """Of a qdisc with one child, 2: and 2:1 are the same place."""
    return parent + "1" if parent.endswith(":") else parent


def limit(kind, words):
    """What makes iqcn hold as much as the other."""
    found = re.search(r"limit (\d+)", words)
    if kind == "blackhole" or (found and int(found[1]) < 10):
        return " limit 1"
    return " limit 1000000" if found else ""


def leaf(command):
    """The command with iqcn for another leaf."""
    found = LEAF.match(command)
    if not found:
        return command
    return f"{found[1]} iqcn{limit(found[2], found[3])}"


def fill(commands):
    """With iqcn wherever nothing else is put."""
    taken = {place(word(c, "parent")) for c in commands
             if re.search(r"qdisc (add|replace) ", c) and word(c, "parent")}
    # a class with classes has no leaf
    taken |= {word(c, "parent") for c in commands if " class " in c}
    filled = set()
    out = []

    for command in commands:
        here = None
        if CLASS.match(command):
            here = word(command, "classid")
        elif HOLDER.match(command):
            if not word(command, "handle"):
                command = HOLDER.sub(lambda m: m[0][:m.start(1) - m.start()] +
                                     f"handle {HANDLE} " + m[1], command)
            here = place(word(command, "handle"))
        elif " class del " in command:
            filled.discard(word(command, "classid"))
        out.append(command)
        if here and here not in taken | filled:
            filled.add(here)
            out.append(f"$TC qdisc add dev {word(command, 'dev')} parent {here} iqcn")
    return out


def text(command):
    """A command of a list may come with the exit codes that do.

    An older tc has no delay that is longer than 274 s."""
    command = command[0] if isinstance(command, list) else command
    return command.replace("delay 5000000000", "delay 200000000")


def as_iqcn(value):
    """What is expected of another leaf, of iqcn."""
    kinds = "|".join(LEAVES.split())
    if isinstance(value, list):
        return [as_iqcn(v) for v in value]
    if isinstance(value, dict):
        return {k: as_iqcn(v) for k, v in value.items()}
    if isinstance(value, str):
        return re.sub(rf"\b(qdisc )?(?:{kinds})\b(?!:)", r"\1iqcn", value)
    return value


def kept(expected):
    """What others drop when they dequeue it leaves here."""
    for entry in expected:
        entry["packets"] += entry.pop("drops", 0)
        entry["drops"] = 0
    return expected


def convert(case):
    """The case with iqcn in it, or None."""
    setup = [leaf(text(c)) for c in case["setup"]]
    codes = {leaf(text(c)): c[1:] for c in case["setup"] if isinstance(c, list)}
    leaves = {word(c, "handle") for c in setup if " iqcn" in c}
    # iqcn classifies nothing
    setup = [c for c in setup
             if not (" filter " in c and word(c, "parent") in leaves)]
    setup = fill(setup)
    under_test = leaf(case["cmdUnderTest"])
    if not any("iqcn" in c for c in setup + [under_test]):
        return None
    new = dict(case, setup=[[c, *codes[c]] if c in codes else c for c in setup],
               cmdUnderTest=under_test, name=case["name"] + ", with iqcn")
    for key in ("verifyCmd", "matchPattern", "matchJSON"):
        if key in case:
            new[key] = as_iqcn(case[key])
    if case["id"] in NEW:
        new["matchJSON"] = kept(new["matchJSON"])
    if "matchPattern" in EXPECT.get(case["id"], {}):
        new.pop("matchJSON", None)
    new.update(EXPECT.get(case["id"], {}))
    # an older tc shows nothing where a newer one shows an empty list
    if new.get("matchJSON") == []:
        new["matchCount"] = "0"
    return new


def main():
    only_new = sys.argv[1:] == ["new"]
    cases = []

    for case in json.load(sys.stdin):
        is_new = case["id"] in NEW
        new = convert(case) if is_new == only_new else None
        if new:
            cases.append(new)
        elif not only_new:
            why = NEW.get(case["id"], "no place for iqcn")
            print(f"left out: {case['id']} {case['name']}: {why}", file=sys.stderr)
    json.dump(cases, sys.stdout, indent=4)


main()
