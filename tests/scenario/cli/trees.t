#!/bin/sh
# Lists and objects as values of a parameter: in files, in arguments of each form,
# in conditions, in the database, and among prior results.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3 python3

cat >trial <<'END'
#!/bin/sh
{
	cat "$HPOTUNE_PARAMS"
	echo
	printf '%s\n' "$@" "$SM_HP_HIDDEN"
	cat "$1" "$2" "$3" "$4"
} >"$OUT/$HPOTUNE_TRIAL"
echo "hpotune: loss=$HPOTUNE_TRIAL"
END
chmod +x trial
echo 'hidden: {hidden}' >t.in
cat >study.json <<END
{ "study": "s", "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": {
    "hidden": { "type": "choice", "default": [ 128 ],
      "values": [[64,64], [128], {"a": [true, null], "b": "x'y", "c": 1e-05},
        1.0, 2] },
    "sizes": { "type": "fixed", "value": [1.50, 2.0, 1e3, "a"] },
    "w": { "type": "int", "min": 1, "max": 2, "when": { "hidden": [[64, 64]] } } },
  "strategy": { "name": "grid" },
  "enqueue": [ { "hidden": { "a": [true, null], "b": "x'y", "c": 0.00001 } } ],
  "trial": { "command": ["$dir/trial", "{file:t}", "{params_file}",
      "{params_file:yaml}", "$dir/t.in", "{params:joined:hidden}",
      "{params:python}", "{params:toolkit:hidden}", "{params:hydra}",
      "h={hidden}"], "files": { "t": "t.in" }, "env": { "OUT": "$dir" } },
  "limits": { "trials": 6, "parallel": 1 } }
END
ok 'a study' quietly timeout 300 "$HPOTUNE" start -q study.json
is "$(sql s.db "SELECT group_concat(hidden || '/' || ifnull(w, '-'), ' ')
    FROM (SELECT hidden, w FROM results ORDER BY hidden, w)")" \
    '1/- 2/- [128]/- [64,64]/1 [64,64]/2 {"a":[true,null],"b":"x'"'"'y","c":1e-05}/-' \
    'each value has its trial, and those with a condition on a list'
want=$(grep -l '^{"hidden":{' 1 2)
is "$(cat "$want" | sed 's|/.*/||' | grep -v '^params-file\.\|^t\(\.in\)*$')" \
    "{\"hidden\":{\"a\": [true, null], \"b\": \"x'y\", \"c\": 1e-05},\"sizes\":[1.5, 2.0, 1000.0, \"a\"]}
--hidden={\"a\": [true, null], \"b\": \"x'y\", \"c\": 1e-05}
--hidden={'a': [True, None], 'b': \"x'y\", 'c': 1e-05}
--sizes=[1.5, 2.0, 1000.0, 'a']
--hidden
{'a': [True, None], 'b': \"x'y\", 'c': 1e-05}
hidden={a: [true,null],b: 'x\\'y',c: 1e-05}
sizes=[1.5,2.0,1000.0,a]
h={\"a\": [true, null], \"b\": \"x'y\", \"c\": 1e-05}
{\"a\": [true, null], \"b\": \"x'y\", \"c\": 1e-05}
hidden: {\"a\": [true, null], \"b\": \"x'y\", \"c\": 1.0e-05}
{
  \"hidden\": {\"a\": [true, null], \"b\": \"x'y\", \"c\": 1.0e-05},
  \"sizes\": [1.5, 2.0, 1000.0, \"a\"]
}
hidden: {\"a\": [true, null], \"b\": \"x'y\", \"c\": 1.0e-05}
sizes: [1.5, 2.0, 1000.0, \"a\"]
hidden: {hidden}" 'the program gets them in each form'
like "$(cat "$(grep -l '"hidden":1[,}]' [1-6] | head -1)")" '^--hidden=1\.0$' \
    'a number with a point is one for Python'

# The file of TOML, in which a list has no null.
sed -e 's/"s"/"toml"/; s/{params_file:yaml}/{params_file:toml}/' study.json >toml.json
quietly "$HPOTUNE" check toml.json
is "$?:$(sed 's/.*json:[0-9:]* //' err)" \
    '2:trial.command[3]: {params_file:toml}: a list of TOML has no null: hidden is {"a": [true, null], "b": "x'"'"'y", "c": 1e-05}' \
    'null in a list is refused'
sed -i 's/\[true, null\]/[true]/; s/\[true, null\]/[true]/' toml.json
ok 'without it' quietly timeout 300 "$HPOTUNE" start -q toml.json
cat >read.py <<'END'
import sys, tomllib
print(tomllib.load(open(sys.argv[1], "rb")))
END
f=$(grep -l 'a" =' toml.d/trials/*/attempt-1/params-file.toml)
is "$(cat "$f")" "hidden = {\"a\" = [true], \"b\" = \"x'y\", \"c\" = 1.0e-05}
sizes = [1.5, 2.0, 1000.0, \"a\"]" 'the file'
if python3 -c 'import tomllib' 2>unseen; then
	is "$(python3 read.py "$f")" \
	    "{'hidden': {'a': [True], 'b': \"x'y\", 'c': 1e-05}, 'sizes': [1.5, 2.0, 1000.0, 'a']}" \
	    'is read by Python'
fi

# Prior results, an answer on the command line, a changed space.
sed -e 's/"s"/"warm"/; s/"strategy".*/"warm_start": ["s.db"],/; /"enqueue"/d' study.json >warm.json
like "$("$HPOTUNE" check warm.json 2>&1)" '^warm start 6 of 6 trials' 'prior results fit'
"$HPOTUNE" export --format optuna -o o.db study.json
is "$(sqlite3 o.db "SELECT DISTINCT distribution_json ->> '\$.attributes.choices[0]'
    FROM trial_params WHERE param_name = 'hidden'")" '[64,64]' 'Optuna gets the list'
mkdir back
quietly "$HPOTUNE" import optuna o.db -o back/s.json
like "$(cat back/s.json)" '"values": \[\[64, 64\], \[128\], \{"a": \[true, null\], ' \
    'and gives it back' || diag "$(cat err)"
done_testing
