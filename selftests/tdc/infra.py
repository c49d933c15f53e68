#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Put iqcn into the kernel's own cases of nested qdiscs.

	infra.py [new] <infra/qdiscs.json >cases.json

iqcn replaces the leaf qdisc of each case, with a limit that makes iqcn queue or
drop as that leaf does.  A class or a one-child qdisc without a leaf gets iqcn
as its leaf.  The results that a case expects of its leaf are expected of iqcn;
EXPECT has the exceptions.  Without "new" the cases of NEW are left out, with
"new" all other cases.  Cases without a place for iqcn are always left out.
Without "new" stderr lists the cases that are left out, with the reason.
"""
import json
import re
import sys

# qdiscs without children, which iqcn replaces
LEAVES = "fq_codel codel fq_pie pie hhf fq skbprio cake dualpi2 sfq pfifo blackhole"
# qdiscs with one child, a fifo by default, and kinds of classes
HOLDERS = "netem tbf cbs red sfb"
CLASSES = "drr hfsc qfq htb ets"
# the handle of a HOLDER if its case does not set one, so that iqcn can name it
# as its parent
HANDLE = "fee:"

EXPECT = {}
# an older tc prints the default class without 0x, and invalid JSON for classes
# of ets
EXPECT["a4c3"] = {"matchPattern": "qdisc hfsc 3:.*parent 1:2.*default (?:0x)?1"}
EXPECT["1f1f"] = {"verifyCmd": "$TC -s class show dev $DUMMY",
                  "matchPattern": "class ets 1:1 .*Sent 196 bytes 2 pkt",
                  "matchCount": "1"}
# cases that fail on Linux 6.1 with any leaf, and are left out before Linux 7
NEW = {"bf1d": "Linux 6.1 refuses two netems that duplicate",
       "3a62": "Linux 6.1 panics in qfq, with any leaf",
       "c797": "Linux 6.1 warns of a plug below qfq",
       "82d9": "Linux 6.1 warns of a plug below qfq",
       "d3da": "Linux 6.1 warns of a plug below qfq"}

LEAF = re.compile(rf"^(.* qdisc (?:add|replace|change) .*?) ({'|'.join(LEAVES.split())})\b(.*)$")
HOLDER = re.compile(rf"^.* qdisc (?:add|replace) .*? ({'|'.join(HOLDERS.split())})\b")
CLASS = re.compile(rf"^.* class (?:add|replace) .* ({'|'.join(CLASSES.split())})\b")


def word(command, name):
    """Return the id after a word, without a minor number of 0."""
    found = re.search(rf"\b{name} (\S+)", command)
    return found and re.sub(r":0$", ":", found[1])


def place(parent):
    """Name the place of a child: 2: means 2:1 in a one-child qdisc."""
    return parent + "1" if parent.endswith(":") else parent


def limit(kind, words):
    """Return the limit with which iqcn queues as many packets as the leaf."""
    found = re.search(r"limit (\d+)", words)
    if kind == "blackhole" or (found and int(found[1]) < 10):
        return " limit 1"
    return " limit 1000000" if found else ""


def leaf(command):
    """Replace the leaf of a command with iqcn."""
    found = LEAF.match(command)
    if not found:
        return command
    return f"{found[1]} iqcn{limit(found[2], found[3])}"


def fill(commands):
    """Add iqcn at every place without a leaf."""
    taken = {place(word(c, "parent")) for c in commands
             if re.search(r"qdisc (add|replace) ", c) and word(c, "parent")}
    # an inner class has no leaf
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
    """Return the command itself; in a list, the allowed exit codes follow it.

    The delay is shortened because an older tc accepts at most 274 s."""
    command = command[0] if isinstance(command, list) else command
    return command.replace("delay 5000000000", "delay 200000000")


def as_iqcn(value):
    """Expect the same of iqcn as the case does of its leaf."""
    kinds = "|".join(LEAVES.split())
    if isinstance(value, list):
        return [as_iqcn(v) for v in value]
    if isinstance(value, dict):
        return {k: as_iqcn(v) for k, v in value.items()}
    if isinstance(value, str):
        return re.sub(rf"\b(qdisc )?(?:{kinds})\b(?!:)", r"\1iqcn", value)
    return value


def kept(expected):
    """Expect packets that the old leaf drops on dequeue to leave iqcn."""
    for entry in expected:
        entry["packets"] += entry.pop("drops", 0)
        entry["drops"] = 0
    return expected


def convert(case):
    """Return the case with iqcn in it, or None."""
    setup = [leaf(text(c)) for c in case["setup"]]
    codes = {leaf(text(c)): c[1:] for c in case["setup"] if isinstance(c, list)}
    leaves = {word(c, "handle") for c in setup if " iqcn" in c}
    # iqcn has no filters
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
    # an older tc prints nothing where a newer one prints an empty list
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
