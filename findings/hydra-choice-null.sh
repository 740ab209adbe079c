#!/bin/sh
# Hydra 1.3.8: a sweep over nothing and a name is written x=null,relu; as
# x=choice(null,relu) it is refused, because null is no type that choice() takes.
# Guess before: both are the same sweep.
set -eu
d=$(mktemp -d)
trap 'rm -rf "$d"' EXIT
cd "$d"
python3 -m venv v
v/bin/pip -q install --disable-pip-version-check hydra-core==1.3.8
cat >run.py <<'END'
from hydra.core.override_parser.overrides_parser import OverridesParser

parser = OverridesParser.create()
for text in "x=null,relu", "x=choice(gelu,relu)", "x=choice(null,relu)":
    try:
        print(text, list(parser.parse_override(text).sweep_string_iterator()))
    except Exception as e:
        print(text, str(e).partition(":")[0])
END
v/bin/python run.py | tee out
diff - out <<'END'
x=null,relu ['null', 'relu']
x=choice(gelu,relu) ['gelu', 'relu']
x=choice(null,relu) TypeError while evaluating 'choice(null,relu)'
END
