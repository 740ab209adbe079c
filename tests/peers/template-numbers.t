#!/bin/sh
# A number that a template of trial.files or a file of {params_file} has is a
# number for each reader: PyYAML (YAML 1.1), ruamel.yaml (1.2) where there is one,
# JSON, TOML, INI and Python.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
find_python PyYAML

i=0
for value in 1e-05 3e-05 1e-10 -1e-05 2.5e-06 1e+20 1e+300 1.5 0.0001 3 7e-300; do
	i=$((i + 1))
	params="${params-}${params+,}\"p$i\": {\"type\": \"fixed\", \"value\": $value}"
	values="${values-} $value"
	echo "p$i: {p$i}" >>t.yaml.in
	echo "p$i = {p$i}" >>t.toml.in
	echo "${comma-}\"p$i\": {p$i}" >>list
	comma=,
done
{ echo {; cat list; echo }; } >t.json.in
{ echo '[s]'; cat t.toml.in; } >t.ini.in
cp t.toml.in t.py.in
cat >study.json <<END
{ "study": "s", "objective": { "metric": "read", "goal": "maximize" },
  "parameters": { $params, "x": { "type": "float", "min": 0, "max": 1 } },
  "trial": { "files": { "t.yaml": "t.yaml.in", "t.toml": "t.toml.in",
      "t.json": "t.json.in", "t.ini": "t.ini.in", "t.py": "t.py.in" },
    "command": ["$python", "$TOP_SRCDIR/tests/peers/template_numbers.py",
      "{file:t.yaml}", "{file:t.toml}", "{file:t.json}", "{file:t.ini}",
      "{file:t.py}", "{params_file}", "{params_file:yaml}",
      "{params_file:toml}"], "env": { "VALUES": "$values" }, "retries": 0 },
  "limits": { "trials": 1 } }
END
ok 'every reader reads numbers' quietly timeout 300 "$HPOTUNE" start -q study.json
like "$("$HPOTUNE" best study.json)" 'read (9|1[0-9])' 'all files were read'
done_testing
