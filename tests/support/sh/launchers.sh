# Trials of two ranks under a real launcher.  Source it after lib.sh, and call
# launcher NAME.

HPOTUNE_GPU_LOCKS=$dir/locks
export HPOTUNE_GPU_LOCKS
unset OMP_NUM_THREADS RANK WORLD_SIZE

# The trial of all below: what each rank does is up to $do and its number.
cat >trial <<'END'
#!/bin/sh
saved=$HPOTUNE_CHECKPOINT_DIR/rank-$RANK
trap 'echo "$RANK" >"$saved"; exit 7' TERM
env >"$HPOTUNE_OUTPUT_DIR/env-$RANK"
# All ranks of all trials are there at once.
until [ "$(ls "${HPOTUNE_OUTPUT_DIR%/*/*}"/*/output/env-* | wc -l)" = "$all" ]; do
	sleep 0.1
done
echo "hpotune: step=1 score=$RANK.5"
echo "this is $RANK"
case $do$RANK in
fail1 | zero0)	echo 'it is broken' >&2; exit 5 ;;
esac
[ "$do" != end ] || exit 0
while [ -e trial ]; do sleep 0.1; done
END
chmod +x trial
make_study() { # name launcher what-the-trial-does trials
	cat >"$1.json" <<-END
	{ "study": "$1",
	  "objective": { "metric": "score", "goal": "maximize" },
	  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
	  "strategy": "random",
	  "stopping": { "rule": "threshold",
	    "upper": $([ "$3" = stop ] && echo 0 || echo 9) },
	  "trial": { "command": ["./trial"], "launcher": "$2", "processes": 2,
	    "gpus": 0, "retries": 0, "grace": 50,
	    "env": { "do": "$3", "all": "$((2 * $4))", "PET_REDIRECTS": "9:3", "PET_TEE": "9:3" } },
	  "limits": { "trials": $4, "parallel": $4 } }
	END
}
run() { # study
	timeout 300 "$HPOTUNE" start "$1" --quiet >run.out 2>run.err
}
alive() { # study
	grep -lz "^HPOTUNE_CHECKPOINT_DIR=$dir/$1\.d/" /proc/[0-9]*/environ \
	    2>/dev/null | wc -l
}
none_alive() {
	[ "$(alive "$1")" -eq 0 ]
}
# The hpotune-ranks that has started the launcher.
keeper() { # study
	for keeper_pid in $(grep -lz "^HPOTUNE_CHECKPOINT_DIR=$dir/$1\.d/" \
	    /proc/[0-9]*/environ 2>/dev/null | tr -dc '0-9\n'); do
		case $(tr '\0' ' ' 2>/dev/null <"/proc/$keeper_pid/cmdline") in
		"$TOP_BUILDDIR"/hpotune-ranks\ launcher\ *)
			echo "$keeper_pid" ;;
		esac
	done
}
names='^(RANK|LOCAL_RANK|WORLD_SIZE|LOCAL_WORLD_SIZE|GROUP_RANK|MASTER_ADDR)='

launcher() { # name
	make_study "$1-end" "$1" end 2
	ok "$1: two trials of two ranks at once" run "$1-end.json" ||
	    diag "$(cat run.err "$1"-end.d/trials/1/attempt-1/log)"
	is "$(sql "$1-end.db" 'SELECT trial, value FROM metrics ORDER BY 1')" \
	    '1|0.5
2|0.5' 'rank 0 reports'
	for k in 0 1; do
		is "$(grep -hE "$names" "$1"-end.d/trials/2/output/env-$k |
		    sort | tr '\n' ' ')" \
		    "GROUP_RANK=0 LOCAL_RANK=$k LOCAL_WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 RANK=$k WORLD_SIZE=2 " \
		    "the names of rank $k"
	done
	is "$(cat "$1"-end.d/trials/*/output/env-* | grep '^MASTER_PORT=' |
	    sort | uniq -c | awk '{ print $1 }' | tr '\n' ' ')" '2 2 ' \
	    'a port for each trial'
	is "$(grep -l '^HPOTUNE_METRICS=' "$1"-end.d/trials/1/output/env-?)" \
	    "$1-end.d/trials/1/output/env-0" 'one has the metrics file'
	like "$(cat "$1-end.d/trials/1/attempt-1/log")" '^this is 0$' \
	    'the log is that of rank 0'
	unlike "$(cat "$1-end.d/trials/1/attempt-1/log")" 'this is 1' \
	    '… alone'
	is "$(cat "$1-end.d/trials/1/attempt-1/rank-1.log")" \
	    'hpotune: step=1 score=1.5
this is 1' 'the other has its own'

	make_study "$1-fail" "$1" fail 1
	run "$1-fail.json"
	is $? 1 'a rank fails'
	is "$(sql "$1-fail.db" 'SELECT end_class, trials.why FROM attempts
	    JOIN trials USING (trial)')" \
	    'error|rank 1 ended with status 5: it is broken' \
	    'which, how and why is the reason'
	ok 'nothing is left' retry none_alive "$1-fail"
	make_study "$1-zero" "$1" zero 1
	run "$1-zero.json"
	is "$(sql "$1-zero.db" 'SELECT why FROM trials')" \
	    'rank 0 ended with status 5: it is broken' 'so is rank 0'

	make_study "$1-stop" "$1" stop 1
	ok 'a rule stops the trial' run "$1-stop.json"
	is "$(sql "$1-stop.db" 'SELECT trials.state, end_class, signal
	    FROM trials JOIN attempts USING (trial)')" 'stopped|stopped|' \
	    'it ends by itself'
	is "$(cat "$1"-stop.d/trials/1/checkpoint/rank-*)" '0
1' 'each rank has saved'
	ok 'nothing is left of it' retry none_alive "$1-stop"
	is "$(find "$1"-*.d/trials/1/attempt-1 -name '*pid*')" '' 'nor in its folder'

	make_study "$1-kill" "$1" run 1
	server "$1-kill.json"
	ok 'another trial is up' retry sql_is "$1-kill.db" \
	    'SELECT reports FROM trials' 1
	kill -9 "$(keeper "$1-kill")"
	# shellcheck disable=SC2086 # words of a list
	reap $server
	is $? 1 'kill -9 of hpotune-ranks is the end of it'
	ok 'of all of it' retry none_alive "$1-kill"
}

example() { # name: runs a trial of it
	[ -d example ] || cp -r "$TOP_SRCDIR/examples/distributed" example
	chmod -R u+w example
	sed -i 's/"grace": /"env": { "PET_REDIRECTS": "9:3", "PET_TEE": "9:3" }, &/' \
	    "example/$1/study.json"
	ok "check accepts the example $1" quietly "$HPOTUNE" check \
	    "example/$1/study.json"
	timeout 300 "$HPOTUNE" start "example/$1/study.json" --quiet \
	    --trials 1 >run.out 2>run.err || diag "$(cat run.err)"
	is "$(sql "example/$1/$1.db" 'SELECT state, reports FROM trials')" \
	    'completed|10' 'it runs'
}
