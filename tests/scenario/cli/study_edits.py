"""Edits of study.json of a resumed study, two at a time.

usage: study_edits.py HPOTUNE FOLDER

Each edit of the list is taken, or refused with a reason, by itself; two together
are taken where both are, and else refused as one of them is.
"""

import copy
import itertools
import json
import os
import shutil
import subprocess
import sys

HPOTUNE, FOLDER = sys.argv[1:]

OLD = {
    "study": "s", "objective": {"metric": "loss", "goal": "minimize"},
    "parameters": {
        # New parameters are before and after those that change.
        "m": {"type": "float", "min": 0, "max": 1},
        "n": {"type": "int", "min": 1, "max": 9},
        "c": {"type": "choice", "values": ["a", "b"]}},
    "strategy": {"name": "random", "seed": 3}, "stopping": "none",
    "trial": {"command": ["sh", "-c", "echo hpotune: loss=$1", "t", "{m}"]},
    "limits": {"trials": 4, "parallel": 1}}
QUEUE = [{"m": 0.1, "n": 2, "c": "a"}, {"m": 0.9, "n": 8, "c": "b"},
         {"m": 0.5, "n": 5, "c": "a"}, {"m": 0.2, "n": 9, "c": "b"}]

P = "parameters"
# Name, the place, its value, and the parameters that are first in the file.
EDITS = [
    ("narrower", [P, "m", "max"], 0.4),
    ("wider", [P, "m", "min"], -1),
    ("narrower int", [P, "n", "max"], 6),
    ("int scale", [P, "n", "scale"], "log"),
    ("more choices", [P, "c", "values"], ["a", "b", "d"]),
    ("fewer choices", [P, "c", "values"], ["a"]),
    ("condition", [P, "m", "when"], {"c": ["a"]}),
    ("new", [P, "a"], {"type": "float", "min": 0, "max": 1, "default": 0.5}),
    ("new, last", [P, "z"], {"type": "int", "min": 0, "max": 3, "default": 1}),
    ("new, conditional", [P, "y"], {"type": "float", "min": 0, "max": 1,
                                    "default": 0.5, "when": {"c": ["a"]}}),
    ("new, fixed", [P, "f"], {"type": "fixed", "value": "x"}),
    ("new without default", [P, "w"], {"type": "float", "min": 0, "max": 1}),
    ("another type", [P, "n", "type"], "float"),
    ("fixed instead", [P, "c"], {"type": "fixed", "value": "a"}),
    ("no longer", [P, "n"], None),
    ("where", ["where"], ["m < 0.99"]),
    ("target", ["objective", "target"], -5),
    ("strategy", ["strategy"], {"name": "tpe"}),
    ("population", ["strategy"], {"name": "pbt"}),
    ("seed", ["strategy", "seed"], 4),
    ("rule", ["stopping"], "median"),
    ("limit", ["limits", "parallel"], 2),
    ("command", ["trial", "env"], {"A": "b"}),
    ("goal", ["objective", "goal"], "maximize"),
]


def edited(edits):
    study = copy.deepcopy(OLD)
    study["limits"]["trials"] = 5
    for _, path, value in edits:
        at = study
        for key in path[:-1]:
            at = at[key]
        if value is None:
            del at[path[-1]]
        else:
            at[path[-1]] = value
    # As in an editor: what is new may stand first.
    study[P] = dict(sorted(study[P].items()))
    return study


def run(command, study):
    with open(FOLDER + "/s.json", "w", encoding="utf-8") as file:
        json.dump(study, file)
    done = subprocess.run([HPOTUNE, command, "s.json"], cwd=FOLDER, check=False,
                          capture_output=True, text=True)
    return done.returncode, done.stderr


def reason(text):
    """What of an error does not depend on where it is found."""
    return text.partition("s.json")[2].lstrip("0123456789:").partition(":")[0]


def conflict(one, two):
    """Whether both write the same place, or one below the other's."""
    n = min(len(one[1]), len(two[1]))
    return one[1][:n] == two[1][:n]


os.makedirs(FOLDER)
assert run("start", {**OLD, "enqueue": QUEUE})[0] == 0
alone = {}
for edit in EDITS:
    status, said = run("check", edited([edit]))
    alone[edit[0]] = (status, reason(said))
    if status not in (0, 2):
        print(edit[0], status, said)
taken = 0
for one, two in itertools.combinations(EDITS, 2):
    if conflict(one, two):
        continue
    status, said = run("check", edited([one, two]))
    name = "%s and %s" % (one[0], two[0])
    bad = [alone[e[0]][1] for e in (one, two) if alone[e[0]][0] != 0]
    taken += status == 0
    if status != (2 if bad else 0) or (bad and reason(said) not in bad):
        print("%s: status %d, want %s: %s" % (name, status, bad or 0, said))
print("%d of %d edits are taken, %s" % (
    sum(v[0] == 0 for v in alone.values()), len(EDITS),
    "most pairs too" if taken > 100 else "%d pairs" % taken))
# In effect: those that change the space, with the trials that are there.
space = [e for e in EDITS if alone[e[0]][0] == 0 and e[1][0] == P]
for one, two in itertools.combinations(space, 2):
    if conflict(one, two) or "narrower" not in (one[0], two[0]):
        continue
    shutil.copytree(FOLDER, FOLDER + "-2")
    FOLDER += "-2"
    status, said = run("start", edited([one, two]))
    if status != 0:
        print("%s and %s: start: %s" % (one[0], two[0], said))
    rows = subprocess.run(
        ["sqlite3", FOLDER + "/s.db", "SELECT count(*) FROM trials; "
         "SELECT outside LIKE 'm is%' OR outside LIKE 'c is%' OR "
         "outside LIKE 'n is%' OR outside LIKE '%inactive' FROM trials "
         "WHERE trial IN (2, 3)"],
        capture_output=True, text=True, check=True).stdout.split()
    if rows != ["5", "1", "1"]:
        print("%s and %s: in effect: %s" % (one[0], two[0], rows))
    shutil.rmtree(FOLDER)
    FOLDER = FOLDER[:-2]
