#!/bin/sh
# fastai 2.8.12 with fastcore 2.2.41: WandbCallback ends each training before its first
# batch. The callback formats every argument of the Learner and of its callbacks with
# init_args, which raises TypeError for what has no __dict__, such as a number or a list.
# Guess before: a Learner with WandbCallback() trains, as in fastai's documentation.
set -eu
d=$(mktemp -d)
trap 'rm -rf "$d"' EXIT
cd "$d"
python3 -m venv v
v/bin/pip -q download --disable-pip-version-check --no-deps fastai==2.8.12
python3 -m zipfile -e fastai-2.8.12-*.whl w
grep -q '^Requires-Dist: fastcore>=2.2.22$' w/fastai-*/METADATA
cat >run.py <<'END'
import ast
from fastcore.basics import *

# The functions of the callback, without PyTorch.
tree = ast.parse(open("w/fastai/callback/wandb.py").read())
tree.body = [f for f in tree.body if getattr(f, "name", "").startswith("_format_config")]
exec(compile(tree, "wandb.py", "exec"))
for value in 20, "a", [0.9, 0.99]:
    try:
        print(_format_config({"argument": value}))
    except TypeError as e:
        print("TypeError:", e)
END
v/bin/pip -q install --disable-pip-version-check fastcore==2.2.41
v/bin/python -W ignore run.py | tee out
diff - out <<'END'
TypeError: vars() argument must have __dict__ attribute
TypeError: vars() argument must have __dict__ attribute
TypeError: vars() argument must have __dict__ attribute
END
