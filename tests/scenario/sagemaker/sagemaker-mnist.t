#!/bin/sh
# The example study as training jobs: spot machines are interrupted during
# training, and the study ends with the same best trial and curves as without
# interruptions.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/standin.sh"
need sqlite3

train=$TOP_BUILDDIR/examples/fashion-mnist/train
set=/usr/share/datasets/fashion-mnist
[ -r $set/train-images-idx3-ubyte.gz ] ||
    skip_all "$set is missing: install dataset-fashion-mnist"

# Part of the pictures, as a channel in S3.
mkdir -p code data
cp "$train" code/train
{
	printf '\0\0\010\003\0\0\037\100\0\0\0\034\0\0\0\034'
	zcat $set/train-images-idx3-ubyte.gz | tail -c +17 | head -c 6272000
} >data/train-images-idx3-ubyte
{
	printf '\0\0\010\001\0\0\037\100'
	zcat $set/train-labels-idx1-ubyte.gz | tail -c +9 | head -c 8000
} >data/train-labels-idx1-ubyte

cat >study.json <<END
{ "study": "mnist",
  "objective": { "metric": "val_accuracy", "goal": "maximize" },
  "parameters": {
    "lr": { "type": "float", "min": 1e-3, "max": 0.3, "scale": "log" },
    "hidden": { "type": "int", "min": 16, "max": 64, "scale": "log" },
    "batch": { "type": "choice", "values": [64, 128] },
    "optimizer": { "type": "choice", "values": ["sgd", "adam"] }
  },
  "strategy": { "name": "random", "seed": 7 }, "stopping": "none",
  "trial": { "command": ["./train", "--train-size=7000",
	"--validation-size=1000", "--epochs=12",
	"--data=/opt/ml/input/data/train",
	"{params}"],
    "env": { "OPENBLAS_NUM_THREADS": "1" }, "max_steps": 12 },
  "backend": { "name": "sagemaker", "region": "eu-west-1",
    "role": "arn:aws:iam::123456789012:role/Trial",
    "image": "123456789012.dkr.ecr.eu-west-1.amazonaws.com/train:1",
    "instance_type": "ml.c5.xlarge", "s3": "s3://bucket/hpotune/",
    "code": "code", "inputs": { "train": "s3://bucket/pictures/" },
    "spot": true, "max_run": "1h", "max_wait": "2h",
    "price_per_hour": { "ml.c5.xlarge": 0.204 }, "pace": 50 },
  "limits": { "trials": 6, "parallel": 2 } }
END

# One study from its start to its end; what it found is in FILE.
run() { # file [option …]
	run_file=$1
	shift
	rm -rf aws mnist.*
	mkdir -p aws/s3/bucket/pictures
	cp data/* aws/s3/bucket/pictures
	standin --keep "$dir" "$@"
	"$HPOTUNE" start study.json >out 2>err
	is $? 0 "$run_file: it ends well" || diag "$(tail err)"
	sql mnist.db 'SELECT trial, step, value FROM curves
	    ORDER BY trial, step' >$run_file.curves
	sql mnist.db 'SELECT trial, objective FROM best' >$run_file.best
	restarted=$(proved restarted)
	kill $standin
	reap $standin
}

run calm
is "$restarted" 0 'on machines that stay nothing starts twice'
is "$(wc -l <calm.curves)" 72 'every epoch was reported'
run stormy --faults '{ "spot_interrupt": { "max": 4, "seconds": [0.05, 0.2] } }'
ok "with interruptions $restarted jobs start more than once" \
    test "$restarted" -gt 0
is "$(cat stormy.best)" "$(cat calm.best)" 'the best trial is the same'
ok 'and so are all curves' cmp -s calm.curves stormy.curves ||
    diag "$(diff calm.curves stormy.curves)"
like "$(sql mnist.db "SELECT text FROM events WHERE level = 'warning'")" \
    'interrupt' 'interruptions are in the events'
is "$(sql mnist.db 'SELECT count(*) FROM attempts
    WHERE billable_seconds > 0 AND cost > 0')" 6 'what they cost is there'

done_testing
