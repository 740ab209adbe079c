#!/bin/sh
# Every wrong study.json: status 2, one line with position and reason, and no
# file created.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

cat >right.json <<'END'
{
  "study": "demo",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": {
    "lr": { "type": "float", "min": 1e-4, "max": 1, "scale": "log" },
    "layers": { "type": "int", "min": 1, "max": 4 },
    "kind": { "type": "choice", "values": ["sgd", "adam"] },
    "momentum": { "type": "float", "min": 0, "max": 0.99, "when": { "kind": ["sgd"] } }
  },
  "strategy": { "name": "random", "seed": 3 },
  "stopping": { "rule": "median" },
  "trial": { "command": ["true", "{params}"], "max_steps": 30 },
  "backend": { "name": "pretend", "seconds_per_step": 0.001 },
  "limits": { "trials": 3, "parallel": 2 }
}
END

# what  sed command that breaks right.json  pattern of the error
cat >rows <<'END'
unknown key	s/"limits"/"limit"/	study.json:14:3: .*limit.*limits
unknown key of a block	s/"max_steps"/"max_step"/	study.json:12:.*trial.*max_step.*max_steps
duplicate key	s/"goal"/"metric": "x", "goal"/	study.json:3:.*metric.*twice|duplicate
no name	/"study"/d	study
bad name	s/"demo"/"Demo"/	study.json:2:12: study
name too long	s/"demo"/"d2345678901234567890123456789012x"/	study.json:2:12: study
name of another type	s/"demo"/7/	study.json:2:12: study.*text|string
no objective	/"objective"/d	objective
goal misspelt	s/"minimize"/"minimise"/	study.json:3:.*objective.goal.*minimize
no metric	s/"metric": "loss", //	study.json:3:.*metric
both objectives	s/"objective": .*/&"objectives": [],/	study.json:3:.*objectives.*either
one of several	s/"objective": \(.*\),/"objectives": [\1],/	study.json:3:.*objectives.*2 to 8
a rule for several	s/"objective": \({.*}\),/"objectives": [\1, {"metric": "ms", "goal": "minimize"}],/	study.json:11:.*stopping.*several.*none
a strategy for one	s/"objective": \({.*}\),/"objectives": [\1, {"metric": "ms", "goal": "minimize"}],/; /"stopping"/d; s/"random"/"cmaes"/	study.json:10:.*strategy.*cmaes searches for one objective: expected .*nsga2
constraint without bound	s/"objective"/"constraints": [{"metric": "ms"}], &/	study.json:3:.*constraints.0.: .*min, max
constraint twice	s/"objective"/"constraints": [{"metric": "a", "max": 1}, {"metric": "a", "min": 0}], &/	study.json:3:.*constraints.1..metric.*twice
no parameters	/"parameters"/,/^  },$/d	parameters
empty parameters	/"lr": {/,/"momentum": {/d	parameters
type misspelt	s/"type": "float", "min": 1e-4/"type": "flot", "min": 1e-4/	study.json:5:.*parameters.lr.type.*float
min above max	s/"max": 1,/"max": 1e-5,/	study.json:5:.*parameters.lr
min missing	s/"min": 1e-4, //	study.json:5:.*parameters.lr.*min
log of zero	s/1e-4/0/	study.json:5:.*parameters.lr
min of text	s/1e-4/"1e-4"/	study.json:5:.*parameters.lr.min.*number
int with a part	s/"max": 4/"max": 4.5/	study.json:6:.*parameters.layers.max
no choices	s/\["sgd", "adam"\]/[]/	study.json:7:.*parameters.kind.values
same choice twice	s/\["sgd", "adam"\]/["sgd", "sgd"]/	study.json:7:.*parameters.kind.values
reserved name	s/"layers"/"trial"/	study.json:6:.*parameters.trial
parent unknown	s/"kind": \["sgd"\]/"knd": ["sgd"]/	study.json:8:.*parameters.momentum.when.*kind
parent's value unknown	s/"kind": \["sgd"\]/"kind": ["sdg"]/	study.json:8:.*parameters.momentum.when
its own parent	s/"kind": \["sgd"\]/"momentum": [0]/	study.json:8:.*parameters.momentum
default out of range	s/"max": 4/"max": 4, "default": 9/	study.json:6:.*parameters.layers.default
strategy misspelt	s/"random"/"randm"/	study.json:10:.*strategy.*random
option of a strategy	s/"seed": 3/"seed": 3, "levels": 2/	study.json:10:.*strategy.*levels
seed of text	s/"seed": 3/"seed": "3"/	study.json:10:.*strategy.seed
grid too large	s/"random"/"grid"/; s/"max": 4/"max": 1e15/	study.json:10:.*strategy.*points
rule misspelt	s/"median"/"medain"/	study.json:11:.*stopping.*median
option of a rule	s/"median"/"median", "percentle": 3/	study.json:11:.*stopping.*percentile
option out of range	s/"median"/"median", "percentile": 101/	study.json:11:.*stopping.percentile
veto of text	s/"median"/"median", "veto": "yes"/	study.json:11:.*stopping.*veto
no command	s/"command": \["true", "{params}"\], //	study.json:12:.*command
empty command	s/\["true", "{params}"\]/[]/	study.json:12:.*trial.command
command of text	s/\["true", "{params}"\]/"true {params}"/	study.json:12:.*trial.command
unknown name in braces	s/{params}/{parms}/	study.json:12:.*trial.command.*parms
open brace	s/{params}/--x={lr/	study.json:12:.*trial.command
duration	s/"max_steps": 30/"max_run": "30x"/	study.json:12:.*trial.max_run
negative duration	s/"max_steps": 30/"grace": -1/	study.json:12:.*trial.grace
memory	s/"max_steps": 30/"memory": "4Gi"/	study.json:12:.*trial.memory
negative steps	s/"max_steps": 30/"max_steps": -30/	study.json:12:.*trial.max_steps
bad pattern	s/"max_steps": 30/"metrics": [{"name": "loss", "regex": "loss=(["}]/	study.json:12:.*trial.metrics
pattern without a group	s/"max_steps": 30/"metrics": [{"name": "loss", "regex": "loss="}]/	study.json:12:.*trial.metrics
backend misspelt	s/"pretend"/"prtend"/	study.json:13:.*backend.*pretend
option of a backend	s/"seconds_per_step"/"seconds_per_stp"/	study.json:13:.*backend.*seconds_per_step
no limit	s/"trials": 3, //	study.json:14:.*limits
limit of zero	s/"trials": 3/"trials": 0/	study.json:14:.*limits.trials
limit with a part	s/"trials": 3/"trials": 2.5/	study.json:14:.*limits.trials
no end	$d	study.json:1[56]:
text after the end	$a {}	study.json:16:
trailing comma	s/"parallel": 2/"parallel": 2,/	study.json:14:
number with a zero	s/"trials": 3/"trials": 03/	study.json:14:
number too large	s/"max": 1,/"max": 1e999,/	study.json:5:
single quotes	s/"demo"/'demo'/	study.json:2:
not JSON at all	1s/.*/hello/	study.json:1:1:
an array	1s/.*/[]/;2,$d	study.json:1:1:.*object
nothing	1,$d	study.json
END

tab=$(printf '\t')
wrong() { # what command: study.json is wrong and the command says so
	"$HPOTUNE" $2 >out 2>err
	status=$?
	if [ $status -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] && [ ! -s out ] &&
	    grep -Eq "^hpotune: .*$pattern" err &&
	    [ "$(ls)" = "$files" ]; then
		verdict 0 "$1: $2"
	else
		verdict 1 "$1: $2"
		diag "status $status, wanted 2; error: $(cat err)"
		diag "wanted: $pattern"
		diag "files: $(ls | tr '\n' ' ')"
	fi
}

"$HPOTUNE" check right.json >out
is $? 0 'the right one is right'
: >err
: >study.json
files=$(ls)
while IFS=$tab read -r what break pattern <&3; do
	sed -e "$break" right.json >study.json
	if cmp -s right.json study.json; then
		verdict 1 "$what: nothing was broken"
		continue
	fi
	wrong "$what" start
	wrong "$what" check
done 3<rows

# Bytes that sed would not write.
pattern=study.json:
printf '{ "study": "de\377mo" }' >study.json
wrong 'not UTF-8' check
printf '{ "study": "de\001mo" }' >study.json
wrong 'a control character' check
printf '{ "study": "de\\u0000mo" }' >study.json
wrong 'a NUL in a string' check
awk 'BEGIN { for (i = 0; i < 100000; i++) printf "[" }' >study.json
wrong 'far too deep' check

done_testing
