#!/bin/sh
# pyrallis 0.3.1: a value of the command line passes YAML before it meets the type of
# its field.  A field of type str gets 'False' for no, '90' for 1:30 and '7' for 007,
# and one of type int gets 3 for 3.7, without a word; 1e3 is refused there.
# Guess before: a text stays as it is; 3.7 is refused for an int.
set -eu
d=$(mktemp -d)
trap 'rm -rf "$d"' EXIT
cd "$d"
python3 -m venv v
v/bin/pip -q install --disable-pip-version-check pyrallis==0.3.1
cat >run.py <<'END'
from dataclasses import dataclass

import pyrallis


@dataclass
class Config:
    text: str = "-"
    count: int = 0


for args in (["--text", "no"], ["--text", "1:30"], ["--text", "007"],
             ["--count", "3.7"], ["--count", "1e3"]):
    try:
        config = pyrallis.parse(config_class=Config, args=args)
        print(*args, "->", repr(getattr(config, args[0][2:])))
    except Exception as e:
        print(*args, "->", type(e).__name__)
END
v/bin/python -W ignore run.py | tee out
diff - out <<'END'
--text no -> 'False'
--text 1:30 -> '90'
--text 007 -> '7'
--count 3.7 -> 3
--count 1e3 -> ParsingError
END
