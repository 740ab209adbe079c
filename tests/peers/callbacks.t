#!/bin/sh
# The callbacks of python/hpotune.py in programs of Lightning, transformers and
# Keras: reports of each epoch, and a stopped trial that continues.
# These libraries are large: none is installed for the test.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3 python3

export PYTHONPATH="$TOP_SRCDIR/python"
export PYTHONDONTWRITEBYTECODE=1

# Whether a Python that is there has the modules: it is $python.
has() { # module …
	for python in ${HPOTUNE_TEST_PYTHON-} python3; do
		command -v "$python" >/dev/null && python_has "$@" && return
	done
	return 1
}

program() { # library metric step-of-the-last-report metrics module …
	library=$1
	metric=$2
	last=$3
	metrics=$4
	shift 4
	if ! has "$@"; then
		skip "$library" "NOT COMPARED: no Python with $*"
		return
	fi
	cat >"$library.json" <<-END
	{ "study": "$library",
	  "objective": { "metric": "$metric", "goal": "minimize" },
	  "parameters": { "lr": { "type": "float", "min": 0.01, "max": 0.2 } },
	  "trial": { "command": ["$(command -v "$python")",
	      "$TOP_SRCDIR/tests/peers/callback_$library.py"], "retries": 0 },
	  "strategy": { "name": "random", "seed": 1 }, "stopping": "none",
	  "limits": { "trials": 1 } }
	END
	quietly "$HPOTUNE" start -q "$library.json"
	is "$(sql "$library.db" 'SELECT state, step FROM trials')" \
	    "completed|$last" "$library: each epoch is reported" ||
	    diag "$("$HPOTUNE" logs "$library.json" 1 | tail -n 20)"
	is "$(sql "$library.db" "SELECT group_concat(name, ' ') FROM (
	    SELECT name, count(DISTINCT step) AS n FROM metrics
	    GROUP BY name HAVING n = 10 ORDER BY name)")" "$metrics" \
	    "$library: with all its metrics"
	SLOW=0.3 quietly "$HPOTUNE" check --checkpoint "$library.json"
	is "$?" 0 "$library: a stopped trial continues to the same curve" ||
	    diag "$(cat out err)"
	like "$(cat out)" '^resumed +at step [1-9]' \
	    "$library: from the checkpoint of the callback"
}

program lightning val_loss 9 'loss val_loss' lightning torch
KERAS_BACKEND=${KERAS_BACKEND-jax} program keras val_loss 9 'loss val_loss' \
    keras "${KERAS_BACKEND-jax}"
program transformers eval_loss 40 \
    'epoch eval_loss eval_runtime eval_samples_per_second eval_steps_per_second grad_norm learning_rate loss' \
    transformers torch

# Lightning keeps the values of its last validation: they are no new ones.
if has lightning torch; then
	sed -e 's/"lightning"/"every"/' lightning.json >every.json
	EVERY=5 quietly "$HPOTUNE" start -q every.json
	is "$(sql every.db "SELECT name, group_concat(step) FROM
	    (SELECT * FROM metrics ORDER BY step) GROUP BY name")" \
	    'loss|0,1,2,3,4,5,6,7,8,9
val_loss|4,9' 'lightning: an epoch without a validation reports none'
fi
done_testing
