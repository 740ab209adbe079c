#!/bin/sh
# SageMaker's training toolkit 5.1.4: a hyperparameter that is null reaches the program
# as an empty word, --momentum '', which is no number to a parser and not None either.
# Guess before: as the word None, as true is the word True.
set -eu
d=$(mktemp -d)
trap 'rm -rf "$d"' EXIT
cd "$d"
python3 -m venv v
v/bin/pip -q install --disable-pip-version-check sagemaker-training==5.1.4 'setuptools<80'
cat >run.py <<'END_PY'
import json

from sagemaker_training import mapping

given = '{"momentum": null, "on": true, "rate": 1e-05}'
print(mapping.to_cmd_args(json.loads(given)))
END_PY
v/bin/python -W ignore run.py | tee out
diff - out <<'END_OUT'
['--momentum', '', '--on', 'True', '--rate', '1e-05']
END_OUT
