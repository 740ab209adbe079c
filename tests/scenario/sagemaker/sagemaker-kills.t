#!/bin/sh
# The server is killed while it creates, stops, reads and records: the next one
# adopts the jobs, nothing is created twice, no result is lost.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/standin.sh"

need sqlite3 awk tar gzip
failing=$TOP_BUILDDIR/tests/torture/hpotune-fail
sagemaker_code
standin

curves='SELECT trial, step, value FROM curves ORDER BY trial, step'
sagemaker_study near.json near 2 '"local"'
ok 'the study here' timeout 300 "$HPOTUNE" start near.json --quiet
want=$(sql near.db "$curves")

dies() { # place study: a server that is killed there
	HPOTUNE_FAIL=$1 HPOTUNE_FAIL_LOG=$dir/kills timeout 300 "$failing" \
	    start "$2.json" --quiet >"$2.out" 2>&1
	[ $? -eq 137 ] && return
	diag "$(cat "$2.out")"
	return 1
}

resumes() { # study
	timeout 300 "$HPOTUNE" start "$1.json" --quiet >"$1.out" 2>&1 && return
	diag "$(cat "$1.out")"
	return 1
}

n=0
for place in sagemaker.put sagemaker.before_create sagemaker.created \
    sagemaker.ended sagemaker.drained; do
	n=$((n + 1))
	sagemaker_study k$n.json k$n 2 "$(sagemaker_block)"
	ok "killed at $place" dies $place=kill k$n
	ok "$place: the next server ends it" resumes k$n
	is "$(sql k$n.db "$curves")" "$want" "$place: the same curves"
	is "$(sql k$n.db 'SELECT trial, attempt, end_class FROM attempts')" \
	    '1|1|ok
2|1|ok' "$place: one attempt each"
done
is "$(proved jobs)" $((2 * n)) 'no job more than trials'
proved_clean 'kills around a job'

# ---- while it stops ----------------------------------------------------------------

: >code/slow
for place in sagemaker.before_stop sagemaker.stopped; do
	n=$((n + 1))
	sagemaker_study k$n.json k$n 2 "$(sagemaker_block)" \
	    '{ "rule": "threshold", "upper": 0.34, "warmup_steps": 3 }'
	ok "killed at $place" dies $place=kill k$n
	ok "$place: the next server ends it" resumes k$n
	is "$(sql k$n.db 'SELECT state, step FROM trials')" 'stopped|3
stopped|3' "$place: both are stopped"
	is "$(sql k$n.db 'SELECT count(*) FROM attempts')" 2 \
	    "$place: one attempt each"
done
rm code/slow
proved_clean 'kills around a stop'

# ---- again and again, around every commit ----------------------------------------------

again() { # place study: killed there until it is through
	rounds=0
	while [ $rounds -lt 60 ]; do
		rounds=$((rounds + 1))
		HPOTUNE_FAIL=$1 HPOTUNE_FAIL_LOG=$dir/kills timeout 300 \
		    "$failing" start "$2.json" --quiet >"$2.out" 2>&1
		case $? in
		0) return 0 ;;
		137) ;;
		*) diag "$(cat "$2.out")"; return 1 ;;
		esac
	done
	return 1
}

for place in store.before_commit store.after_commit tuner.before_effect; do
	n=$((n + 1))
	sagemaker_study k$n.json k$n 2 "$(sagemaker_block)"
	ok "killed at $place, again and again" again "$place=kill%4" k$n
	is "$(sql k$n.db "$curves")" "$want" "$place: the same curves"
	is "$(sql k$n.db 'SELECT trial, attempt, end_class FROM attempts')" \
	    '1|1|ok
2|1|ok' "$place: one attempt each"
done
proved_clean 'kills around every commit'

# ---- settings that change while jobs run --------------------------------------------

: >code/slow
sagemaker_study changed.json changed 2 "$(sagemaker_block)"
server changed.json --quiet
ok 'jobs on demand run' retry sql_is changed.db \
    "SELECT count(*) FROM trials WHERE state = 'running'" 2
kill -9 "$server"
reap "$server" 2>/dev/null
rm code/slow
sagemaker_study changed.json changed 2 "$(sagemaker_block '"spot": true')"
server changed.json --quiet
told() {
	"$HPOTUNE" stop changed.json >stop.out 2>&1
}
ok 'the next server has them' retry told
reap "$server"
is "$(sql changed.db "SELECT text FROM events WHERE level = 'error'")" '' \
    'no error that the jobs do not run on spot'
proved_clean 'changed settings'
done_testing
