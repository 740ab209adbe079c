#!/bin/sh
# Packed trials on a cluster: a job has one program, which runs trial.pack trials
# side by side and others after them.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm.sh"
need sqlite3
cluster_up

cat >program <<END
#!/bin/sh
env >env.\$SLURM_JOB_ID
echo before the first trial >&2
exec $TOP_BUILDDIR/tests/tools/packed-program
END
chmod +x program
pack_study() { # name limits keys-of-backend [stopping]
	slurm_study "$1" "$2" '"cpus": 1, "gpus": 1, "pack": 3, "max_steps": 6,
	    "grace": 20' "$3" "${4-}"
	sed -i 's|"\./trial", "{x}"|"./program"|
	    s|"min": 0|"min": -1|' "$1.json"
	rm -f starts heard hold crash env.*
}
states() { # study
	sql "$1.db" 'SELECT state, count(*) FROM trials GROUP BY state
	    ORDER BY state' | tr '\n' ' '
}
held() { # study number: so many trials are at step 3
	sql_is "$1.db" 'SELECT count(*) FROM (SELECT trial FROM metrics
	    GROUP BY trial HAVING max(step) = 3)' "$2"
}
starts() { # number
	[ "$(wc -l <starts)" -eq "$1" ]
}
packed() { # study word: processes of its copy of hpotune-pack, by their program
	for pid in $(pgrep -f "bin/hpotune-pack-[0-9a-f]* $2"); do
		case $(readlink "/proc/$pid/exe") in
		"$dir"/$1.d/bin/*) echo "$pid" ;;
		esac
	done
}
none_packed() {
	[ -z "$(packed '*' '(serve|join)')" ]
}

pack_study wrong '"trials": 2' ', "trials_per_job": 2'
"$HPOTUNE" check wrong.json >out 2>err
like "$(cat err)" \
    'trials_per_job: with trial.pack a job runs the trials of one program, here 3' \
    'another number of trials in a job is an error'

# ---- many trials through two programs ---------------------------------------------

pack_study many '"trials": 12, "parallel": 6' \
    ', "time": "1h", "setup": "SET=up; export SET"'
ok 'check accepts it' quietly "$HPOTUNE" check many.json || diag "$(cat err)"
ok 'twelve trials run' quietly timeout 300 "$HPOTUNE" start many.json ||
    diag "$(cat err)"
is "$(states many)" 'completed|12 ' 'all are completed'
# A program that is left without trials by a server that is slow ends after 5 s.
programs=$(wc -l <starts)
ok 'two programs at least' [ "$programs" -ge 2 ]
ok 'which run several trials' [ "$programs" -lt 12 ]
is "$(sql many.db 'SELECT count(DISTINCT place) FROM attempts')" 2 'in two jobs'
is "$(grep -c '^{"hpotune":1,"places":3}$' heard)" "$programs" 'each of three places'
is "$(sql many.db 'SELECT count(*), min(step), max(step) FROM curves')" \
    '72|1|6' 'all reports are there'
is "$(sql many.db 'SELECT DISTINCT attempt, end_class, exit_code, gpus
    FROM attempts')" '1|ok|0|1' 'attempts as any other, on the GPU of the program'
given=$(cat env.*)
like "$given" '^SET=up$' 'the program is given what setup exports'
like "$given" '^CUDA_VISIBLE_DEVICES=[01]$' '… and the GPU of the job'
like "$given" '^HPOTUNE_DEADLINE=[0-9]+$' '… and its deadline'
is "$(echo "$given" | grep -cE '^(HPOTUNE_(TRIAL|PARAMS|ATTEMPT_UUID)|SM_HP)')" \
    0 '… and no variable of a single trial'
ok 'the jobs end with the study' retry no_job_left
ok 'and their programs' retry none_packed
folders_gone() {
	sed -n 's/^HPOTUNE_PACK_DIR=//p' env.* >folders
	[ "$(wc -l <folders)" -eq 2 ] && xargs ls -d <folders 2>&1 |
	    grep -c 'No such file' | grep -qx 2
}
ok 'and the folders of these' retry folders_gone
like "$(cat many.d/jobs/*/slurm.out)" 'before the first trial' \
    'what it wrote for no trial is the output of the job'

# ---- stops, the program dies, the server dies, the node fails ------------------------

pack_study rule '"trials": 6, "parallel": 3' '' \
    '{"rule":"threshold","upper":0.4,"warmup_steps":3}'
: >hold
server rule.json
ok 'a rule stops some' retry sql_is rule.db "SELECT count(*) > 0 FROM trials
    WHERE state = 'stopped' AND step = 3" 1
rm hold
reap "$server"
is "$(sql rule.db "SELECT DISTINCT end_class FROM attempts JOIN trials
    USING (trial) WHERE trials.state = 'stopped'")" stopped '… of that class'
ok 'one program' starts 1
like "$(cat heard)" '^\{"stop":[0-9]+,"attempt":1\}$' 'it received the stop'

pack_study dies '"trials": 3, "parallel": 3' ''
: >hold
server dies.json
ok 'three trials are at step 3' retry held dies 3
echo 'exit 3' >how && mv how crash
ok 'their program dies' retry starts 2
rm hold
reap "$server"
is "$(states dies)" 'completed|3 ' 'all are completed'
is "$(sql dies.db 'SELECT count(*), exit_code FROM attempts
    WHERE attempt = 1 GROUP BY 2')" '3|3' 'each has lost an attempt'
like "$(cat dies.d/trials/2/attempt-1/log)" \
    'its program ended with exit status 3' 'which says why'

pack_study server '"trials": 6, "parallel": 3' ''
: >hold
server server.json
ok 'again three are at step 3' retry held server 3
kill -9 "$server"
reap "$server"
server server.json
# A program that is left without trials ends before a server that is slow begins.
ok 'another server serves them' \
    retry sh -c '"$HPOTUNE" status --json server.json | grep -q "\"server\":true"'
rm hold
reap "$server"
is "$(states server)" 'completed|6 ' 'after a kill of the server all complete'
is "$(sql server.db 'SELECT count(*), max(attempt) FROM attempts')" '6|1' \
    'in one attempt each'
ok 'the program that was there went on' [ "$(wc -l <starts)" -le 2 ]

pack_study node '"trials": 3, "parallel": 3' ''
: >hold
server node.json
ok 'three more are at step 3' retry held node 3
node=$(sql node.db 'SELECT substr(place, 1, 2) FROM attempts WHERE trial = 1')
# Its processes die one after the other, and Slurm notices last.
kill -9 $(packed node serve)
ended() { # the supervisors have written how their trials ended
	[ "$(cat node.d/trials/[123]/attempt-1/end | grep -c '^lost')" -eq 3 ]
}
ok 'their program is killed first' retry ended
cluster fail "$node"
cluster heal "$node"
rm hold
reap "$server"
is "$(states node)" 'completed|3 ' 'when the node fails they run elsewhere'
is "$(sql node.db "SELECT count(*) FROM attempts WHERE attempt > 1 AND
    place LIKE '$node %'")" 0 'and not on that node again'
ok 'no job is left' retry no_job_left
ok 'no program is left' retry none_packed
done_testing
