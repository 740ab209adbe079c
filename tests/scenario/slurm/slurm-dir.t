#!/bin/sh
# The state of a study on a local disk, its trials on a shared one: jobs use the
# path of the shared one, and a copy of the database beside study.json can be
# read while the server runs.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm.sh"
need sqlite3
cluster_up

cat >trial <<'END'
#!/bin/sh
echo "$HPOTUNE_CHECKPOINT_DIR" >"$HPOTUNE_OUTPUT_DIR/where"
echo "hpotune: step=1 loss=$1"
until [ -e "${0%/*}/go" ]; do sleep 0.1; done
echo "hpotune: step=2 loss=$1"
END
chmod +x trial
mkdir local shared
slurm_study apart '"trials": 2' '"grace": 5' ", \"dir\": \"$dir/shared\""
server apart.json --state "$dir/local"
copy_is() { # query value
	[ "$(sqlite3 "$dir/apart.snapshot.db" "$1" 2>&1)" = "$2" ]
}
ok 'a copy of the database is made while trials run' retry copy_is \
    "SELECT count(*) FROM snapshot" 1
like "$("$HPOTUNE" status apart.snapshot.db)" \
    "copy of $(hostname), [0-9.]+m?s old" 'status tells how old it is'
is "$(sqlite3 apart.snapshot.db 'PRAGMA journal_mode')" delete \
    'it needs no shared memory'
is "$(stat -c %a apart.snapshot.db)" 600 'the copy has mode 600'
"$HPOTUNE" start apart.snapshot.db >out 2>err
is $? 2 'it is no study that can be started'
ok 'both trials run' retry sql_is local/apart.db \
    "SELECT count(*) FROM trials WHERE state = 'running'" 2
touch go
reap "$server"
is $? 0 'the study ends'
ok 'the copy has its end' copy_is "SELECT count(*), sum(reports) FROM trials
    WHERE state = 'completed'" '2|4'
ok 'nothing else is left of it' [ ! -e apart.snapshot.db.new ]
like "$(cat shared/apart-*/trials/1/output/where)" \
    "^$dir/shared/apart-[0-9a-f]+/trials/1/checkpoint\$" \
    'trials have the shared path'
is "$(cat local/apart.d/trials/1/output/where)" \
    "$(cat shared/apart-*/trials/1/output/where)" 'NAME.d leads there'
ok 'the state has no copy of the program' [ ! -e local/apart.d/bin ]

# An end whose output is seen later, as by the caches of a shared file system: the
# log lacks a part of its last line at first.
rm go
sed -i '$a echo "hpotune: step=3 loss=$1"' trial
slurm_study later '"trials": 1' '"grace": 5' ", \"dir\": \"$dir/shared\""
server later.json --state "$dir/local"
ok 'a trial runs and reports' retry sql_is local/later.db \
    "SELECT count(*) FROM trials WHERE state = 'running' AND reports = 1" 1
kill -STOP "$server"
touch go
attempt=$(echo "$dir"/shared/later-*/trials/1/attempt-1)
ok 'it ends while the server does not look' retry grep -q hpo:EXIT \
    "$attempt/state"
cp "$attempt/log" whole
truncate -s -9 "$attempt/log"
kill -CONT "$server"
ok 'the server reads what there is' retry sql_is local/later.db \
    'SELECT reports FROM trials' 2
tail -c 9 whole >>"$attempt/log"
reap "$server"
is $? 0 'the study ends'
is "$(sql local/later.db 'SELECT reports, state FROM trials')" '3|completed' \
    'with its last report'

# Two machines: the lease of the other one is a file that is renewed or not.
cat >trial <<'END'
#!/bin/sh
echo "hpotune: step=1 loss=$1"
until [ -e "${0%/*}/done" ]; do sleep 0.1; done
END
slurm_study leased '"trials": 1' '"grace": 5' ", \"dir\": \"$dir/shared\""
server leased.json --state "$dir/local"
ok 'its trial runs' retry sql_is local/leased.db \
    "SELECT count(*) FROM trials WHERE state = 'running'" 1
like "$(cat leased.lease)" "^host=$(hostname) boot=[0-9a-f-]* pid=$server since=2" \
    'the lease names its server'
mkdir other
timeout 300 "$HPOTUNE" start leased.json --state "$dir/other" >out 2>err
is $? 2 'another server of this machine is refused'
like "$(cat err)" "runs on $(hostname) since .* \(process $server\)" 'by name'
echo 'host=elsewhere boot=1-2 pid=7 since=2026-01-02T03:04:05Z' >leased.lease
reap "$server"
is $? 2 'a server whose study was taken over exits'
like "$(cat server.err)" 'taken over by a server on elsewhere: its trials continue' \
    'and says so'
is "$(jobs_left)" 1 'its trial runs on'
is "$(sql local/leased.db 'SELECT state FROM trials')" running 'and is not ended'
like "$(cat leased.lease)" '^host=elsewhere' 'the lease is left alone'
timeout 300 "$HPOTUNE" start leased.json --state "$dir/local" >out 2>err
is $? 2 'while the other machine has it, a start is refused'
like "$(cat err)" 'runs on elsewhere since 2026-01-02T03:04:05Z \(process 7\)' \
    'the error has who, since when'
touch -d '2 minutes ago' leased.lease
touch done
ok 'when that one does not renew it, it is taken' quietly timeout 300 \
    "$HPOTUNE" start leased.json --state "$dir/local"
is "$(sql local/leased.db 'SELECT state, attempts FROM trials')" 'completed|1' \
    'and the trial followed to its end'
ok 'it is gone at the end' [ ! -e leased.lease ]
echo 'host=elsewhere boot=1-2 pid=7 since=2026-01-02T03:04:05Z' >leased.lease
slurm_study leased '"trials": 2' '"grace": 5' ", \"dir\": \"$dir/shared\""
ok '--take-over takes it at once' quietly timeout 300 "$HPOTUNE" start \
    leased.json --state "$dir/local" --take-over

# Two machines that start it at the same time: one of them has it.
machine() { # name
	unshare --uts sh -c 'hostname "machine-$1"
	    exec timeout 300 "$HPOTUNE" start both.json --state "$2"' sh \
	    "$1" "$dir/both-$1" >"$1.out" 2>"$1.err"
	echo $? >"$1.status"
}
ended() {
	[ "$(cat one.status two.status 2>/dev/null | wc -l)" = "$1" ]
}
if unshare --uts true 2>/dev/null; then
	rm -f done
	slurm_study both '"trials": 1' '"grace": 5' \
	    ", \"dir\": \"$dir/shared\""
	mkdir both-one both-two
	machine one &
	machine two &
	ok 'of two machines one is refused' retry ended 1
	touch done
	ok 'and the other has the study' retry ended 2
	wait
	is "$(cat one.status two.status | sort | tr '\n' ' ')" '0 2 ' \
	    'one ends well'
	like "$(cat one.err two.err)" 'runs on machine-(one|two) since' \
	    'the error has the name of that one'
	is "$(for db in both-one/both.db both-two/both.db; do
		[ ! -s $db ] || sql $db 'SELECT count(*) FROM attempts'
	done | awk '{ n += $1 } END { print n }')" 1 'there is one attempt'
fi

slurm_study beside '"trials": 1' '"grace": 5' ''
ok 'a database that everybody can read' quietly "$HPOTUNE" start beside.json
ok 'is not copied' [ ! -e beside.snapshot.db ]

slurm_study moved '"trials": 1' '"grace": 5' ''
ok 'a study without it' quietly "$HPOTUNE" start moved.json
slurm_study moved '"trials": 2' '"grace": 5' ", \"dir\": \"$dir/shared\""
"$HPOTUNE" start moved.json >out 2>err
is $? 1 'cannot get it later'
like "$(cat err)" 'backend\.dir: .*moved.d/trials is there already' 'it says so'
slurm_study wrong '"trials": 1' '"grace": 5' ', "dir": "here"'
"$HPOTUNE" check wrong.json >out 2>err
is $? 2 'a folder of the trials that is no absolute path'
like "$(cat err)" 'backend\.dir: expected an absolute path' 'is an error'

done_testing
