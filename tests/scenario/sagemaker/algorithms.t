#!/bin/sh
# AWS's built-in algorithms as trials, on the stand-in AWS, which rejects what
# AWS rejects: XGBoost and linear learner in one study, each with its own
# parameters and metrics; a stop, a kill, and the output of check.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/standin.sh"

need sqlite3 python3
cp "$TOP_SRCDIR/examples/sagemaker/algorithms.json" study.json
chmod u+w study.json
sed -i 's/"pace": 20/"pace": 50/' study.json
"$HPOTUNE" check study.json >said 2>&1
is "$?" 0 'the example is right'
like "$(cat said)" 'without environment, so a job is identified by its name.*without checkpoint' \
    'check states what is not possible there'
like "$("$HPOTUNE" check study.json --json)" '"missing":"AWS' '… also as JSON'

# Two classes, apart by a circle.
cp "$TOP_SRCDIR/tests/standin/algorithms.py" container.py
# Two jobs are made although their answers are lost.
standin --bucket standin --keep "$dir" --faults '{"drop_after":
    {"p": 1, "on": "sagemaker.CreateTrainingJob", "max": 2}}' \
    --image-command "$(command -v python3) $dir/container.py"
mkdir -p aws/s3/standin/two/train aws/s3/standin/two/validation
for set in train validation; do
	awk -v n=120 -v seed=${#set} 'BEGIN { srand(seed)
		for (i = 0; i < n; i++) { x = 2 * rand() - 1; y = 2 * rand() - 1
			print (x * x + y * y < 0.6) "," x "," y } }' \
	    >aws/s3/standin/two/$set/a.csv
done
timeout 300 "$HPOTUNE" start study.json --quiet >out 2>err
is "$?" 0 'a study of two algorithms' || diag "$(cat err)"
is "$(sql algorithms.db "SELECT count(*) FROM trials
    WHERE state IN ('completed', 'stopped')")" 8 'every trial counts'
is "$(sql algorithms.db 'SELECT count(*) FROM attempts')" 8 \
    'whose answer was lost was known by where its output goes'
is "$(sql algorithms.db "SELECT count(DISTINCT params ->> 'algorithm')
    FROM trials")" 2 'of both'
is "$(sql algorithms.db "SELECT sum(n >= 5 AND low = 0) FROM (SELECT
    count(DISTINCT step) AS n, min(step) AS low FROM curves GROUP BY trial)")" 8 \
    'with a curve by rounds or epochs'
is "$(sql algorithms.db "SELECT DISTINCT name FROM metrics
    WHERE name LIKE 'train:%' ORDER BY name" | tr '\n' ' ')" \
    'train:error train:logloss train:objective_loss ' \
    "the algorithms' own metrics stand beside it"
like "$("$HPOTUNE" best study.json)" 'xgboost' 'trees learn a circle'
like "$("$HPOTUNE" sagemaker model study.json 2>&1 | tr -d '\n')" \
    '"Image": ".*sagemaker-xgboost:1.7-1",.*out/[-0-9a-f]{36}/.*model.tar.gz"' \
    'where its model is, packed, and the image of the algorithm'
proved_clean 'two algorithms'

# ---- stopped, killed and found again ----------------------------------------------

# One algorithm alone: the image is the backend's, the metric has AWS's name.
cat >again.json <<'END'
{ "study": "again",
  "objective": { "metric": "validation:error", "goal": "minimize" },
  "parameters": { "eta": { "type": "float", "min": 0.1, "max": 0.5 },
    "objective": { "type": "choice",
      "values": ["binary:logistic", "binary:hinge"] },
    "num_round": { "type": "fixed", "value": 3000 } },
  "strategy": "random", "stopping": "none",
  "trial": { "command": ["train"] },
  "backend": { "name": "sagemaker", "region": "eu-west-1", "pace": 50,
    "container": "algorithm",
    "image": "1.dkr.ecr.eu-west-1.amazonaws.com/sagemaker-xgboost:1.7-1",
    "inputs": { "train": "s3://standin/two/train/",
      "validation": "s3://standin/two/validation/" },
    "role": "arn:aws:iam::123456789012:role/Trial",
    "s3": "s3://standin/hpotune/", "instance_type": "ml.m5.large" },
  "limits": { "trials": 2, "parallel": 2 } }
END
background server "$HPOTUNE" start again.json --quiet
server=$child
reported() {
	[ "0$(sql again.db "SELECT sum(n > 3) FROM (SELECT count(*) AS n
	    FROM curves GROUP BY trial)" 2>/dev/null)" -eq 2 ]
}
ok 'both report' retry reported
kill -9 "$server"
wait "$server" 2>/dev/null
background server "$HPOTUNE" start again.json --quiet
ok 'a stop after a kill' "$HPOTUNE" stop again.json 1
ended() { # trial
	[ "$(sql again.db "SELECT count(*) FROM trials WHERE trial = $1 AND
	    state NOT IN ('waiting', 'starting', 'running', 'stopping')")" = 1 ]
}
ok 'is an end like any other' retry ended 1
is "$(sql again.db 'SELECT count(*) FROM attempts')" 2 \
    'the jobs were found again without a variable'
"$HPOTUNE" stop again.json 2 >/dev/null
ok 'and the other' retry ended 2
# What another column of ours is called, the job is sent all the same.
for trial in 1 2; do
	is "$("$HPOTUNE" logs again.json $trial | grep -c "^INFO objective: $(sql \
	    again.db "SELECT \"params.objective\" FROM results
	    WHERE trial = $trial")$")" 1 "trial $trial has its own objective"
done
proved_clean 'stopped and killed'

# ---- what does not go with them -----------------------------------------------------

wrong() { # what sed-script text
	sed "$2" study.json >wrong.json
	"$HPOTUNE" check wrong.json >said 2>&1
	like "$? $(cat said)" "^2 .*$3" "$1"
}
wrong 'code' 's/"container"/"code": ".", "container"/' \
    'backend.code: AWS.s own algorithms have a program of their own'
wrong 'variables' 's/"command": \["train"\]/"command": ["train"], "env": {"A": "1"}/' \
    'remove trial.env'
wrong 'a command' 's/\["train"\]/["python3", "x.py"]/' \
    'expected trial.command \["train"\]'
wrong 'checkpoints of linear learner' 's/"container"/"checkpoints": true, "container"/' \
    'linear learner writes no checkpoints'
wrong 'a metric nobody knows' 's/"validation:logloss"/"validation:los"/' \
    'this is not a metric of the algorithm'
wrong 'algorithms of a script' 's/"container": "algorithm",//' \
    'this key goes with \"container\": \"algorithm\"'
wrong 'long waiting for spot' \
    's/"container"/"spot": true, "force_spot": true, "max_run": "2h", "container"/' \
    'AWS allows an algorithm without checkpoints 3600 s'
done_testing
