#!/bin/sh
# Optuna 5.0.0: a value that was enqueued as a text is handed to the program by
# suggest_float as that text, '0.5', and recorded as 0.5, without a warning; suggest_int
# makes a number of '3'.  2.7 for a whole number is 2, with a warning that it is out of
# range.  A text for the choice [1, 2] is refused.
# Guess before: a text is refused by all of them, 2.7 by suggest_int.
set -eu
d=$(mktemp -d)
trap 'rm -rf "$d"' EXIT
cd "$d"
python3 -m venv v
v/bin/pip -q install --disable-pip-version-check optuna==5.0.0
cat >run.py <<'END_PY'
import warnings

import optuna

optuna.logging.disable_default_handler()
asks = {
    "float": lambda t: t.suggest_float("x", 0.1, 10),
    "log": lambda t: t.suggest_float("x", 0.1, 10, log=True),
    "int": lambda t: t.suggest_int("x", 1, 10),
    "choice": lambda t: t.suggest_categorical("x", [1, 2]),
}
for kind, value in (
    ("float", "0.5"),
    ("log", "0.5"),
    ("int", "3"),
    ("int", 2.7),
    ("choice", "1"),
):
    study = optuna.create_study()
    study.enqueue_trial({"x": value})
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        trial = study.ask()
        try:
            got = repr(asks[kind](trial))
        except ValueError:
            got = "refused"
    kept = study.trials[0].params.get("x")
    print(kind, repr(value), got, repr(kept), len(told))
END_PY
v/bin/python run.py | tee out
diff - out <<'END_OUT'
float '0.5' '0.5' 0.5 0
log '0.5' '0.5' 0.5 0
int '3' 3 3 0
int 2.7 2 2 1
choice '1' refused None 0
END_OUT
