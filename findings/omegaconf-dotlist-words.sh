#!/bin/sh
# OmegaConf 2.3.1's from_dotlist, which from_cli is, beside the overrides of Hydra 1.3.8:
# of one word the first makes 8 of 010, 3 of 0b11, 90 of 1:30, True of on and the texts
# 'nan', 'inf' and '-.5', the second the texts '010', '0b11', '1:30' and 'on', and the
# numbers nan, inf and -0.5.  {a:1} is a mapping of a there, and of 'a:1' to None here.
# Guess before: OmegaConf makes 10 of 010 and numbers of nan and inf.
set -eu
d=$(mktemp -d)
trap 'rm -rf "$d"' EXIT
cd "$d"
python3 -m venv v
v/bin/pip -q install --disable-pip-version-check hydra-core==1.3.8 omegaconf==2.3.1
cat >run.py <<'END_PY'
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import OmegaConf

hydra = OverridesParser.create()
for word in "010 0b11 1:30 on nan inf -.5 1e-5 null {a:1}".split():
    ours = OmegaConf.to_container(OmegaConf.from_dotlist(["x=" + word]))["x"]
    print(word, repr(ours), repr(hydra.parse_override("x=" + word).value()))
END_PY
v/bin/python run.py | tee out
diff - out <<'END_OUT'
010 8 '010'
0b11 3 '0b11'
1:30 90 '1:30'
on True 'on'
nan 'nan' nan
inf 'inf' inf
-.5 '-.5' -0.5
1e-5 1e-05 1e-05
null None None
{a:1} {'a:1': None} {'a': 1}
END_OUT
