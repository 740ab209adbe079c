"""How curves of a database differ from those of a file: shim_same.py DB FILE."""

import json
import re
import sqlite3
import sys

# What is measured of the machine, or of the time.
VARIES = re.compile("runtime|per_sec|per_second|time/fps|time_elapsed|"
                    "model/speed|^dur$")


def same(name, values, want):
    """A step that was reported again has both values."""
    if VARIES.search(name):
        return True
    return any(value is None and want != want or value == want or
               value is not None and
               abs(value - want) <= 1e-5 * max(abs(value), abs(want))
               for value in values)


def main(database, file):
    got = {}
    for name, step, value in sqlite3.connect(database).execute(
            "SELECT name, step, value FROM metrics ORDER BY name, step"):
        got.setdefault(name, {}).setdefault(step, []).append(value)
    with open(file) as f:
        want = {re.sub("[^A-Za-z0-9_./:@-]", "_", name): dict(curve)
                for name, curve in json.load(f).items()}
    if not want:
        print("the package has kept nothing")
    for name in sorted({*got, *want}):
        a, b = got.get(name, {}), want.get(name, {})
        if a.keys() != b.keys() or any(not same(name, a[s], b[s]) for s in a):
            print(f"{name}: {a}, not {b}")


main(*sys.argv[1:])
