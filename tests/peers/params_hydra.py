"""Random values as arguments in the form hydra: Hydra's own parser reads the same
values from them, and OmegaConf.from_cli as well where no text has a quote or a
backslash, which the two escape in ways that differ.

params_hydra.py HPOTUNE COUNT [SEED]: prints a line for each difference and the
number of values that were compared."""
import json
import math
import os
import random
import subprocess
import sys
import tempfile

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import QuotedString
from hydra import compose, initialize
from omegaconf import OmegaConf

hpotune, count = sys.argv[1], int(sys.argv[2])
rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
letters = "aZ09_-./@%:,=+*?!|&~^'\"\\ \t()[]{}$#<>`;éß\u00a0"
words = ["true", "False", "null", "Null", "None", "yes", "on", "inf", "-inf",
         "nan", "NaN", "+inf", "1", "-1", "+1", "0x1f", "1_000", "1__0", "_1",
         "1e5", "1e-05", "1.", ".5", "-.5e+3", "01", "007", "1 ", " 1", "a b", "",
         "  ", "a ", " a", "choice(1,2)", "range(1,3)", "$", "\\", "\\\\",
         "'", "''", "\\'", '"', "a=b", "a:b", "10:30", "a,b", "[1,2]", "{a:1}",
         "true ", "infinity", "-", "+", "~", "~a", "=", ":", "%", "@", "*", "?",
         "|", "a|b", "a/b", "/abs/path", "C:\\dir", "c\\", "x\\'y", "null,", "ü",
         "0b11", "0b", "0o17", "1e", ".inf", "-.inf", ".NaN", "@a", "%a", "-a", "--",
         "---", "...", ".", "2026-11-28", "y", "N", "_", "1_0.5", "1:30:20",
         "sort(a)", "glob(*)", "a#b", "- a", "1,2", "1:2", "file:///x?y=z&w"]


def text():
    if rng.random() < 0.5:
        return rng.choice(words)
    found = "".join(rng.choice(letters) for _ in range(rng.randint(1, 8)))
    return found.replace("${", "$")  # stays an interpolation


def scalar():
    return rng.choice([text, text, lambda: rng.randint(-9, 99),
                       lambda: rng.choice([True, False, None]),
                       lambda: rng.choice([1.0, 1e16, 1e-05, 2.5, -0.5, 1e+300]),
                       lambda: rng.uniform(-1, 1)])()


def tree(depth=0):
    if depth > 2 or rng.random() < 0.6:
        return scalar()
    if rng.random() < 0.7:
        return [tree(depth + 1) for _ in range(rng.randint(0, 3))]
    return {key(): tree(depth + 1) for _ in range(rng.randint(0, 2))}


def key():
    """Hydra reads a key of digits as a number, and null as None."""
    return rng.choice(["a", "bc", "d_e", "f-g", "h i", "j:k", "l.m", "x\\y", "n=o"])


def plain(v):
    if isinstance(v, QuotedString):
        # Hydra resolves escapes of interpolations when it composes.
        return v.text
    if isinstance(v, list):
        return [plain(x) for x in v]
    if isinstance(v, dict):
        return {plain(k): plain(x) for k, x in v.items()}
    return v


def escaped(v):
    """Whether a text of v, or a key, has what OmegaConf would read otherwise."""
    if isinstance(v, list):
        return any(map(escaped, v))
    if isinstance(v, dict):
        return bool(v) and any(escaped(x) or not x.isalpha() for x in v) \
            or any(map(escaped, v.values()))
    return isinstance(v, str) and any(c in v for c in "'\\$")


def same(a, b):
    if isinstance(a, bool) or isinstance(b, bool) or a is None or b is None:
        return a is b
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(map(same, a.values(), b.values()))
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return a == b or math.isclose(a, b, rel_tol=1e-12)
    return type(a) is type(b) and a == b


def main():
    parser = OverridesParser.create()
    initialize(config_path=None, version_base=None)
    n = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "study.json")
        while n < count:
            values = {"p%d" % i: tree() for i in range(25)}
            form = ["hydra", "hydra-append", "hydra-override"][n // 25 % 3]
            with open(path, "w") as f:
                json.dump({
                    "study": "s",
                    "objective": {"metric": "loss", "goal": "minimize"},
                    "parameters": dict(
                        {k: {"type": "fixed", "value": v}
                         for k, v in values.items()},
                        x={"type": "float", "min": 0, "max": 1}),
                    "trial": {"command": ["true", "{params:%s}" % form]},
                    "limits": {"trials": 1}}, f)
            done = subprocess.run([hpotune, "check", "--json", path],
                                  capture_output=True, text=True)
            if done.returncode != 0:
                print("check refuses: " + done.stderr.strip())
                break
            for a, (k, v) in zip(json.loads(done.stdout)["command"][1:],
                                 values.items()):
                n += 1
                if not escaped(v):
                    try:
                        got = OmegaConf.to_container(
                            OmegaConf.from_cli([a.lstrip("+")]))[k]
                    except Exception as error:
                        got = error
                    if not same(got, v):
                        print("%r: %s is %r for OmegaConf" % (v, a, got))
                try:
                    cfg = compose(overrides=["+" + a.lstrip("+")])
                    got = OmegaConf.to_container(cfg, resolve=True)[k]
                    if not same(got, v):
                        print("%r: %s is composed as %r" % (v, a, got))
                except Exception as error:
                    print("%r: %s is not composed: %s" % (v, a, error))
                    continue
                try:
                    got = plain(parser.parse_override(a).value())
                except Exception as error:
                    print("%r: %s is not read: %s" % (v, a, error))
                    continue
                if not same(got, v):
                    print("%r: %s is read as %r" % (v, a, got))
                if not a.startswith({"hydra": "", "hydra-append": "+",
                                     "hydra-override": "++"}[form] + k + "="):
                    print("%s: not of the form %s" % (a, form))
    print("compared %d" % n)


main()
