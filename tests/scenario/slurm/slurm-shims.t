#!/bin/sh
# Programs of other trackers in jobs: trial.shims, in jobs of one trial, whose setup
# has a path of its own, in jobs of several that start warm, and with backend.dir.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm.sh"
need sqlite3 python3
cluster_up

# A package that must not be used, and a module beside it that must be there.
mkdir packages
cat >packages/wandb.py <<'PY'
raise SystemExit("the package itself")
PY
echo 'path = "packages"' >packages/other.py
cat >train.py <<'PY'
import os
import wandb, other
run = wandb.init(config={"x": 7, "epochs": 3})
for epoch in range(wandb.config.epochs):
    wandb.log({"loss": wandb.config.x + epoch, "epoch": epoch})
print(wandb.__file__, other.path, wandb.config.x == float(os.environ["X"]))
PY
shims_study() { # name keys-of-trial keys-of-backend
	slurm_study "$1" '"trials": 4, "parallel": 2' \
	    "\"cpus\": 1, \"retries\": 0, \"shims\": [\"wandb\"], $2" "$3"
	sed -i 's|"\./trial", "{x}"|"python3", "train.py"|' "$1.json"
	ok "$1: its trials" quietly "$HPOTUNE" start -q "$1.json" ||
	    diag "$(cat err; "$HPOTUNE" logs "$1.json" 1 | tail -n 20)"
	is "$(sql "$1.db" "SELECT count(*), sum(n = 3 AND least = 1 AND most = 3)
	    FROM (SELECT count(*) AS n, min(step) AS least, max(step) AS most
	        FROM metrics WHERE name = 'loss' GROUP BY trial)")" '4|4' \
	    "$1: what each has logged are reports"
	is "$(sql "$1.db" "SELECT count(*) FROM metrics AS m JOIN trials AS t USING (trial)
	    WHERE m.name = 'loss' AND m.step = 1 AND
	        abs(m.value - json_extract(t.params, '$.x')) < 1e-9")" 4 \
	    "$1: wandb.config has the parameter of the trial"
}
logs() { # study
	for n in 1 2 3 4; do
		"$HPOTUNE" logs "$1.json" $n
	done | sort -u
}

shims_study each '"env": { "X": "{x}" }' \
    ", \"setup\": \"export PYTHONPATH=$dir/packages\""
is "$(logs each)" "$dir/each.d/shims/wandb.py packages True" \
    'before what setup has put on the path, which stays'

shims_study several "\"env\": { \"X\": \"{x}\", \"PYTHONPATH\": \"$dir/packages\" },
    \"warm\": [\"wandb\", \"other\"]" ', "trials_per_job": 2'
is "$(logs several)" "$dir/several.d/shims/wandb.py packages True" \
    'in jobs of several trials'
like "$(sql several.db 'SELECT text FROM events')" 'modules are imported once' \
    'which start warm'

mkdir shared
shims_study away "\"env\": { \"X\": \"{x}\", \"PYTHONPATH\": \"$dir/packages\" }" \
    ", \"dir\": \"$dir/shared\""
like "$(logs away)" "^$dir/shared/away-[^/]*/shims/wandb.py packages True\$" \
    'with backend.dir they are where the nodes see them'
ok 'its best trial runs again by hand' quietly sh -c "$("$HPOTUNE" best away.json | sed -n 's/^ *again: *//p')" ||
    diag "$(cat err)"
like "$(cat out)" "/away.d/shims/wandb.py packages True" 'with them'

done_testing
