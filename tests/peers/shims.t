#!/bin/sh
# What the packages themselves keep of a program is what hpotune reads of the same
# program with trial.shims.  Packages that are there are used; none is installed.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3 python3

peers=$TOP_SRCDIR/tests/peers
has() { # package …
	for python in ${HPOTUNE_TEST_PYTHON-} python3; do
		command -v "$python" >/dev/null && python_has "$@" && return
	done
	return 1
}
not_compared() {
	skip "$1" "NOT COMPARED: no Python with $1"
}
run() { # study program metric env keys-of-trial argument
	cat >"$1.json" <<END
{ "study": "$1",
  "objective": { "metric": "$3", "goal": "maximize" },
  "parameters": { "lr": { "type": "fixed", "value": 0.5 },
      "epochs": { "type": "fixed", "value": 2 } },
  "strategy": { "name": "random", "seed": 1 }, "stopping": "none",
  "trial": { "command": ["$(command -v "$python")", "$peers/$2"${6-}],
      "env": { $4 }, "retries": 0, $5 },
  "limits": { "trials": 1 } }
END
	ok "$1: the trial" quietly "$HPOTUNE" start -q "$1.json" ||
	    diag "$(cat err; "$HPOTUNE" logs "$1.json" 1 | tail -n 20)"
}
# What is in the file of the package but not, or otherwise, in the database.
differs() { # study file: {name: value} or {name: [[step, value]]}
	python3 - "$1.db" "$2" <<'END'
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
for name, want in json.load(open(sys.argv[2])).items():
    rows = [list(r) for r in db.execute(
        "SELECT step, value FROM metrics WHERE name = ? ORDER BY step", [name])]
    got = rows if isinstance(want, list) else rows and rows[-1][1]
    if got != want:
        print(name, got, want)
END
}

if has wandb; then
	for mode in plain steps defined; do
		metric=val_acc
		run "wandb-$mode" shim_wandb.py $metric "\"MODE\": \"$mode\"" \
		    '"shims": ["wandb"]'
		ok "wandb: $mode" quietly env MODE=$mode HISTORY=history.$mode \
		    WANDB_MODE=offline WANDB_DIR="$dir" WANDB_SILENT=true \
		    WANDB_CACHE_DIR="$dir" WANDB_CONFIG_DIR="$dir" \
		    WANDB_DATA_DIR="$dir" "$python" "$peers/shim_wandb.py" ||
		    diag "$(tail -n 20 out err)"
		is "$(differs "wandb-$mode" history.$mode)" '' \
		    "wandb: the same last values: $mode"
	done
else
	not_compared wandb
fi
if has mlflow || has mlflow-skinny; then
	run flow shim_mlflow.py final '' '"shims": ["mlflow"]' ', "--lr={lr}"'
	ok 'mlflow' quietly env HISTORY=history.flow MLFLOW_ALLOW_FILE_STORE=true \
	    MLFLOW_TRACKING_URI="file://$dir/runs" \
	    "$python" "$peers/shim_mlflow.py" --lr=0.5 || diag "$(tail -n 20 out err)"
	is "$(differs flow history.flow)" '' 'mlflow: the same curves'
fi
for writer in tensorboardX torch.utils.tensorboard; do
	name=x packages=tensorboardX
	[ $writer = tensorboardX ] || name=torch packages='torch tensorboard'
	# shellcheck disable=SC2086 # words
	if ! has $packages; then
		not_compared $writer
		continue
	fi
	curves="SELECT name, step, round(value, 6) FROM metrics ORDER BY name, step"
	run "shim-$name" shim_tensorboard.py val/acc "\"WRITER\": \"$writer\"" \
	    '"shims": ["tensorboard"]'
	run "files-$name" shim_tensorboard.py val/acc \
	    "\"WRITER\": \"$writer\"" \
	    '"metrics": [{ "from": "tensorboard" }]'
	is "$(sql "shim-$name.db" "$curves")" \
	    "$(sql "files-$name.db" "$curves")" \
	    "$writer: as read from the files that it writes"
done

done_testing
