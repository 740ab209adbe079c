"""Reads each file with the readers of its format: all numbers must be floats
or integers with the values of $VALUES.  Reports how many readings there were."""
import ast
import configparser
import json
import os
import sys

import yaml

try:
    import tomllib
except ImportError:
    tomllib = None
try:
    from ruamel.yaml import YAML
except ImportError:
    YAML = None


def ini(text):
    parser = configparser.ConfigParser()
    parser.read_string(text)
    return {k: float(v) for k, v in parser["s"].items()}


def python(text):
    return {n.targets[0].id: ast.literal_eval(n.value)
            for n in ast.parse(text).body}


readers = {".yaml": [yaml.safe_load], ".json": [json.loads, yaml.safe_load],
           ".toml": [], ".ini": [ini], ".py": [python]}
if tomllib:
    readers[".toml"].append(tomllib.loads)
if YAML:
    readers[".yaml"].append(YAML(typ="safe").load)

want = [float(v) for v in os.environ["VALUES"].split()]
count = 0
for path in sys.argv[1:]:
    with open(path) as f:
        text = f.read()
    for reader in readers[os.path.splitext(path)[1]]:
        found = reader(text)
        for i, value in enumerate(want, 1):
            got = found["p%d" % i]
            assert type(got) in (int, float) and got == value, (
                path, reader, i, got, value)
        count += 1
print("hpotune: read=%d" % count)
