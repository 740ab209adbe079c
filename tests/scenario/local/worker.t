#!/bin/sh
# Strategies in hpotune-worker: the same trials as without it, a worker that
# dies or is missing, a server that dies during a request.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

need sqlite3
quick=$HPOTUNE
slow=$TOP_BUILDDIR/tests/tools/hpotune-slow
real=$HPOTUNE_WORKER
HPOTUNE_WORKER_CUDA=
export HPOTUNE_WORKER_CUDA

study() { # name limits
	cat >"$1.json" <<END
{
  "study": "$1",
  "objective": { "metric": "m", "goal": "minimize" },
  "parameters": {
    "lr": { "type": "float", "min": 1e-4, "max": 1, "scale": "log" },
    "c": { "type": "choice", "values": ["a", "b"] }
  },
  "strategy": { "name": "tpe", "seed": 9, "n_startup_trials": 4 },
  "stopping": "none",
  "trial": { "command": ["true"], "max_steps": 3 },
  "backend": { "name": "pretend", "seconds_per_step": 0.001 },
  "limits": { $2 }
}
END
}
settings() { # db: number and setting of every trial
	sql "$1" 'SELECT trial, params FROM trials ORDER BY trial'
}
odd() { # words: the days of the worker from now on
	HPOTUNE_WORKER=$TOP_BUILDDIR/tests/tools/bad-worker
	ODD_REAL=$real ODD_STARTS=$dir/starts ODD_DAYS=$1
	export ODD_REAL ODD_STARTS ODD_DAYS
	: >starts
}

# One after the other, so that the history is the same in both.
study in '"trials": 12, "parallel": 1'
study out '"trials": 12, "parallel": 1'
ok 'a study without the worker' "$quick" start --quiet in.json
ok 'the same study with it' "$slow" start --quiet out.json
is "$(settings out.db)" "$(settings in.db)" 'its trials are the same'
is "$(sql out.db "SELECT count(*), min(made_by), max(strategy), sum(redraws),
    count(seconds) FROM suggestions WHERE source = 'strategy'")" \
    '12|cpu|tpe|0|12' 'who suggested them is recorded'

# Deaths change nothing.
odd 'early good'
study hurt '"trials": 12, "parallel": 1'
ok 'a worker that dies' "$slow" start --quiet hurt.json
is "$(settings hurt.db)" "$(settings in.db)" 'changes nothing'
odd kill
study dead '"trials": 12, "parallel": 1'
fails 'one that always does ends the study' 1 "$slow" start --quiet dead.json \
    2>err
like "$(cat err)" 'tpe: hpotune-worker was killed by signal 9, 3 times' \
    'and reports it'
is "$(sql dead.db 'SELECT state, trials FROM study')" 'failed|0' \
    'without a trial'
HPOTUNE_WORKER=$real
ok 'with a sound one' "$slow" start --quiet dead.json
is "$(settings dead.db)" "$(settings in.db)" 'it continues'

# A server that dies while a question is under way.
odd 'deaf x good'
study killed '"trials": 12, "parallel": 1'
background server "$slow" start --quiet killed.json
asked() {
	[ "$(wc -c <starts)" -ge 2 ]
}
ok 'a question is under way' retry asked
kill -9 "$child"
reap "$child" 2>/dev/null
is "$(sql killed.db 'SELECT count(*) FROM trials')" 0 'nothing was recorded'
ok 'the next server' "$slow" start --quiet killed.json
is "$(settings killed.db)" "$(settings in.db)" 'asks again'

# One that is stuck has nobody to ask for an answer any more.
HPOTUNE_WORKER=$real
study stuck '"trials": 12, "parallel": 1'
sed 's/0\.001/0.3/' stuck.json >s && mv s stuck.json
background server "$slow" start --quiet stuck.json
worker_of() { # pid: its worker, in $worker
	for worker in $(cat "/proc/$1/task/$1/children"); do
		[ "$(cat "/proc/$worker/comm")" = hpotune-worker ] && return
	done
	return 1
}
ok 'a worker is there' retry worker_of "$child"
settled() {
	[ "$(sql stuck.db 'SELECT count(*) FROM trials' 2>/dev/null)" -ge 1 ]
}
ok 'it has answered' retry settled
kill -STOP "$worker"
kill -9 "$child"
reap "$child" 2>/dev/null
gone() {
	[ ! -e "/proc/$worker" ] || grep -q '^State:.Z' "/proc/$worker/status"
}
ok 'it ends with its server' retry gone

# Leaving, and a limit, do not wait for an answer.
odd deaf
study left '"trials": 12, "parallel": 1'
background server "$slow" start --quiet left.json
ok 'a question is under way' retry asked
kill -INT "$child"
reap "$child"
is $? 3 'a server leaves without the answer'
odd deaf
study over '"trials": 12, "parallel": 1, "wall_time": 0.5'
ok 'a limit needs no answer' timeout 300 "$slow" start --quiet over.json
is "$(sql over.db 'SELECT state, trials FROM study')" 'finished|0' \
    'the study is over'

# What was put in the queue whole needs no strategy.
odd deaf
study queue '"trials": 1, "parallel": 1'
sed 's/"limits"/"enqueue": [{"lr": 0.5, "c": "b"}], "limits"/' queue.json >q &&
    mv q queue.json
ok 'a whole setting of the queue' timeout 300 "$slow" start --quiet queue.json
is "$(sql queue.db 'SELECT s.*, t.params FROM suggestions AS s
    JOIN trials AS t USING (trial)')" \
    '1|||||||enqueue||||{"lr":0.5,"c":"b"}' 'sends no request'

# What the worker is for: hpotune itself starts without LAPACK.
unlike "$(ldd "$quick" 2>&1)" 'blas|lapack|cuda' 'hpotune links no LAPACK'

# Not there.
HPOTUNE_WORKER=$dir/nobody
study none '"trials": 1'
fails 'a worker that is not there' 1 "$slow" start --quiet none.json 2>err
is "$(cat err)" "hpotune: the strategy tpe: $dir/nobody: No such file or directory" \
    'is one clear error'
[ ! -e none.db ]
verdict $? 'and nothing is made'
fails 'check says it too' 1 "$slow" check none.json 2>err
is "$(cat err)" "hpotune: the strategy tpe: $dir/nobody: No such file or directory" \
    'in the same words'
ok 'what needs none does not mind' "$quick" start --quiet none.json

done_testing
