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
ok 'start' quietly timeout 300 "$HPOTUNE" start -q study.json
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
like "$(sed -n 2p list)" '/s-again-1/output/b$' 'except the folders'
like "$("$HPOTUNE" best --json s.db)" '"A":"x=[12] opt=sgd, \{1\}"' 'as JSON'

# A folder of the attempt; a literal brace; the folder of study.json has some.
rm -rf s.db* s.d list
study "\"workdir\": \"{output_dir}\", \"env\": { \"A\": \"{{\\\"a\\\": 1}}\",
    \"LIST\": \"$dir/list\" }"
ok 'in the folder of its output' quietly timeout 300 "$HPOTUNE" start -q study.json
is "$(sed -n '1p; 4p' list | tr '\n' ' ')" \
    "{\"a\": 1} $dir/s.d/trials/1/output " 'it runs there'
rm -f list
cp study.json 'in {x}'
sed -i 's/{output_dir}/./' 'in {x}/study.json'
ok 'a folder with braces' quietly timeout 300 "$HPOTUNE" start -q 'in {x}/study.json'
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
study '"env": { "A": "{params_file:yml}" }'
refused 'trial.env.A: {params_file:yml} is no form of a file; did you mean "yaml"?'

# The parameters as a file, nested at dots; numbers stay numbers.
cat >files.json <<'END'
{ "study": "files", "objective": { "metric": "m", "goal": "minimize" },
  "parameters": {
    "opt.lr": { "type": "choice", "values": [1e-05] },
    "n": { "type": "int", "min": 3, "max": 4 },
    "opt.name": { "type": "fixed", "value": "a \"b\"" },
    "opt.on": { "type": "fixed", "value": true },
    "big": { "type": "choice", "values": [1e+30] },
    "beta": { "type": "float", "min": 0, "max": 1, "when": { "n": [4] } } },
  "trial": { "command": ["sh", "-c",
      "cat \"$0\" \"$1\" $TOML >$OUT; echo hpotune: m=1", "{params_file}",
      "{params_file:yaml}"],
    "env": { "TOML": "{params_file:toml}", "OUT": "{study_dir}/files" } },
  "enqueue": [ { "n": 3 } ], "limits": { "trials": 1 } }
END
ok 'files of parameters' quietly timeout 300 "$HPOTUNE" start -q files.json
cat >want <<'END'
{
  "opt": {
    "lr": 1.0e-05,
    "name": "a \"b\"",
    "on": true
  },
  "n": 3,
  "big": 1.0e+30
}
opt:
  lr: 1.0e-05
  name: "a \"b\""
  "on": true
"n": 3
big: 1.0e+30
opt.lr = 1.0e-05
"n" = 3
opt.name = "a \"b\""
opt."on" = true
big = 1.0e+30
END
is "$(cat files)" "$(cat want)" 'JSON, YAML and TOML'
rm files
"$HPOTUNE" best files.json | sed -n 's/^again: //; /^mkdir/,$p' >again
sh again >out 2>err
is "$(cat files)" "$(cat want)" 'best: its line writes them again'
sed -i 's/"n": {/"opt": { "type": "fixed", "value": 1 }, "n": {/' files.json
"$HPOTUNE" check files.json >out 2>err
like "$(cat err)" '{params_file} is nested at dots: opt cannot be a value and have opt.lr below it$' \
    'a name that is a value and a group is refused'

# Parameters that stand in no argument.
arguments() { # command [keys-of-trial]
	cat >args.json <<-EOF
	{ "study": "args", "objective": { "metric": "loss", "goal": "minimize" },
	  "parameters": { "lr": { "type": "float", "min": 0, "max": 1 },
	    "n": { "type": "int", "min": 1, "max": 9 } },
	  "trial": { "command": $1${2-} }, "limits": { "trials": 2 } }
	EOF
	"$HPOTUNE" check args.json | grep HPOTUNE_PARAMS
}
rest='in no argument: the program has to read HPOTUNE_PARAMS or a variable SM_HP_NAME'
is "$(arguments '["true"]')" "parameters lr, n stand $rest" 'check: none is an argument'
is "$(arguments '["true", "--lr={lr}"]')" "warning    n stands $rest" 'one is'
is "$(arguments '["true", "{params:words:n}"]')" "warning    lr stands $rest" \
    'one is listed'
for command in '["true", "{lr}", "{n}"]' '["true", "{params}"]' \
    '["true", "{params_file:yaml}"]' '["true", "{lr}"], "env": { "N": "{n}" }'; do
	is "$(arguments "$command")" '' "all are given: $command"
done

done_testing
