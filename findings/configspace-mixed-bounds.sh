#!/bin/sh
# ConfigSpace 1.2.2: the short form {"dropout": (0, 1.0)} is a whole number of 0 and
# 1, as the first bound has the type that counts; (0.0, 1) is a real number.  No
# warning is given.
# Guess before: one real bound makes a real parameter.
set -eu
d=$(mktemp -d)
trap 'rm -rf "$d"' EXIT
cd "$d"
python3 -m venv v
v/bin/pip -q install --disable-pip-version-check ConfigSpace==1.2.2
cat >run.py <<'END'
from ConfigSpace import ConfigurationSpace

for bounds in (0, 1.0), (0.0, 1), (0.0, 1.0):
    space = ConfigurationSpace({"dropout": bounds}, seed=1)
    values = {float(c["dropout"]) for c in space.sample_configuration(50)}
    print(bounds, type(space["dropout"]).__name__, "2 values" if len(values) == 2
          else "many values")
END
v/bin/python run.py 2>&1 | tee out
diff - out <<'END'
(0, 1.0) UniformIntegerHyperparameter 2 values
(0.0, 1) UniformFloatHyperparameter many values
(0.0, 1.0) UniformFloatHyperparameter many values
END
