#!/bin/sh
# Names in braces in trial.env and trial.workdir: as in trial.command.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

study() { # members of trial
	cat >study.json <<END
{ "study": "s", "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": {
    "x": { "type": "int", "min": 1, "max": 2 },
    "opt": { "type": "choice", "values": ["sgd"] },
    "beta": { "type": "float", "min": 0, "max": 1, "when": { "opt": ["sgd"] } } },
  "strategy": { "name": "random", "seed": 1 },
  "trial": { "command": ["$dir/trial"], $1 },
  "limits": { "trials": 2, "parallel": 1 } }
END
}
cat >trial <<'END'
#!/bin/sh
printf '%s\n' "$A" "$B" "$C" "$(pwd -P)" >>"$LIST"
echo "hpotune: loss=$HPOTUNE_TRIAL"
END
chmod +x trial
mkdir runs runs/1 runs/2 'in {x}'

study "\"workdir\": \"runs/{trial}\", \"env\": {
    \"A\": \"x={x} opt={opt}, {{{trial}}}\", \"B\": \"{output_dir}/b\",
    \"C\": \"{checkpoint_dir}:{attempt}\", \"LIST\": \"$dir/list\" }"
ok 'check' quietly "$HPOTUNE" check study.json
like "$(cat out)" "in $dir/runs/1\$" 'shows the folder of the example'
like "$("$HPOTUNE" check --json study.json)" "\"workdir\":\"$dir/runs/1\"" \
    'as JSON'
ok 'start' quietly timeout 100 "$HPOTUNE" start -q study.json
sql s.db 'SELECT trial, x FROM results ORDER BY trial' |
    while IFS='|' read -r trial x; do
	d=$dir/s.d/trials/$trial
	printf '%s\n' "x=$x opt=sgd, {$trial}" "$d/output/b" \
	    "$d/checkpoint:1" "$dir/runs/$trial"
    done >want
is "$(cat list)" "$(cat want)" 'each trial has its own values and folder'

# Once more by the line of best.
rm list
"$HPOTUNE" best s.db | sed -n '/^again: /,$p' | sed '1s/^again: //' >again.sh
ok 'the line of best' quietly sh again.sh
is "$(sed -n '1p; 4p' list)" "$(sed -n '1p; 4p' want)" 'gives the same'
like "$(sed -n 2p list)" '/s-again-1/output/b$' 'but for the folders'
like "$("$HPOTUNE" best --json s.db)" '"A":"x=[12] opt=sgd, \{1\}"' 'as JSON'

# A folder of the attempt; a literal brace; the folder of study.json has some.
rm -rf s.db* s.d list
study "\"workdir\": \"{output_dir}\", \"env\": { \"A\": \"{{\\\"a\\\": 1}}\",
    \"LIST\": \"$dir/list\" }"
ok 'in the folder of its output' quietly timeout 100 "$HPOTUNE" start -q study.json
is "$(sed -n '1p; 4p' list | tr '\n' ' ')" \
    "{\"a\": 1} $dir/s.d/trials/1/output " 'it runs there'
rm -f list
cp study.json 'in {x}'
sed -i 's/{output_dir}/./' 'in {x}/study.json'
ok 'a folder with braces' quietly timeout 100 "$HPOTUNE" start -q 'in {x}/study.json'
is "$(sed -n 4p list)" "$dir/in {x}" 'is taken as it is'

# What has no value is refused, and nothing is made.
rm -rf s.db* s.d
refused() { # place and text
	for command in check start; do
		"$HPOTUNE" $command study.json >out 2>err
		is "$? $(sed 's/study.json:[0-9]*:[0-9]*: //' err)" \
		    "2 hpotune: $1" "$command: $1"
	done
	ok 'nothing is made' test ! -e s.db
}
study '"env": { "A": "{nothing}" }'
refused 'trial.env.A: {nothing} is not a parameter; known: x, opt, beta, trial, attempt, checkpoint_dir, output_dir, model_dir, study_dir, batch, params'
study '"workdir": "runs/{trail}"'
refused 'trial.workdir: {trail} is not a parameter; did you mean "trial"?'
study '"env": { "A": "{\"a\": 1}" }'
refused 'trial.env.A: {"a": 1} is not a parameter; a literal { is written {{'
study '"env": { "A": "a{b" }'
refused 'trial.env.A: "{" without "}"; a literal one is written {{'
study '"env": { "A": "{params}" }'
refused 'trial.env.A: {params} stands for arguments of trial.command; the file that HPOTUNE_PARAMS names has all parameters'
study '"workdir": "{beta}"'
refused 'trial.workdir: {beta} has no value when beta is inactive; {params} leaves it out then'

done_testing
