#!/bin/sh
# strategy.device auto with a GPU, a fake one: the first trials are the CPU's, then
# the GPU is opened beside them and both are compared; what follows is an event.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3
HPOTUNE_WORKER_CUDA=$TOP_BUILDDIR/tests/tools/worker-fake
export HPOTUNE_WORKER_CUDA
[ -x "$HPOTUNE_WORKER_CUDA" ] || skip_all 'built without CUDA'

study() { # name device trials
	cat >"$1.json" <<END
{ "study": "$1", "objective": { "metric": "m", "goal": "minimize" },
  "parameters": { "lr": { "type": "float", "min": 1e-4, "max": 1, "scale": "log" } },
  "strategy": { "name": "gp", "seed": 9, "device": "$2" },
  "stopping": "none",
  "trial": { "command": ["true"], "max_steps": 2 },
  "backend": { "name": "pretend", "seconds_per_step": 0.001 },
  "limits": { "trials": $3, "parallel": 1 } }
END
}

study auto auto 150
ok 'a study' "$HPOTUNE" start --quiet auto.json
like "$(sql auto.db "SELECT text FROM events WHERE text LIKE '%computes on%'")" \
    '^gp: it computes on the CPU, and on a GPU where that is faster$' \
    'it says what it does'
like "$(sql auto.db "SELECT text FROM events WHERE text LIKE '%computes on%'")" \
    'the (CPU|GPU) from 1[0-9][0-9] trials on: a suggestion took [0-9.]+ s on the GPU and [0-9.]+ s on the CPU$' \
    'both are compared, and it says which is faster'
is "$(sql auto.db "SELECT count(*) FROM suggestions WHERE trial <= 100 AND
    made_by = 'cuda'")" 0 'few trials are the business of the CPU'

study cuda cuda 12
ok 'a study on the GPU' "$HPOTUNE" start --quiet cuda.json
is "$(sql cuda.db "SELECT count(*) FROM suggestions WHERE trial = 12 AND
    made_by = 'cuda'")" 1 'uses it at once'

done_testing
