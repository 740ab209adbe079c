"""Compares the curves of a database with what a library remembers.

reader_same.py DATABASE HISTORY TOLERANCE NAME=HISTORY'S NAME[+OFFSET] …

Prints each difference: a step that only one of both has, or values that differ
by more than the tolerance, which is that of the library's digits.  OFFSET is
added to the steps of the history; *FACTOR behind it multiplies its values."""

import json
import re
import sqlite3
import sys

database, history, tolerance, *pairs = sys.argv[1:]
with open(history) as file:
    history = json.load(file)
db = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
for pair in pairs:
    name, other, offset, factor = re.fullmatch(
        r"([^=]+)=(.*?)(?:\+(-?\d+))?(?:\*(\d+))?", pair).groups()
    read = dict(db.execute(
        "SELECT step, value FROM metrics WHERE name = ? ORDER BY attempt, step, time",
        (name,)))
    want = {int(step) + int(offset or 0): value * float(factor or 1)
            for step, value in history.get(other, {}).items()}
    if not want:
        print(f"{name}: the history has no {other}: {sorted(history)}")
    for step in sorted(read.keys() | want.keys()):
        if step not in read or step not in want or not (
                abs(read[step] - want[step]) <= float(tolerance)
                or read[step] == want[step]):
            print(f"{name} at {step}: {read.get(step)}, {want.get(step)} in"
                  " the history")
