#!/bin/sh
# A cluster with an accounting: accounts, limits of users and of qualities of service,
# a grace of one of these, and what the accounting knows of jobs that Slurm no longer
# lists.  It is somebody else's cluster; the study is that of an ordinary user.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm-ledger.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm-site.sh"
need sqlite3
for program in slurmdbd mariadbd mariadb; do
	command -v $program >/dev/null ||
	    skip_all "NOTHING OF ACCOUNTS IS TESTED: $program is missing, install slurmdbd, mariadb-server-core and mariadb-client-core"
done
site_up AccountingStorageType=accounting_storage/slurmdbd \
    AccountingStorageEnforce=associations,limits,qos PreemptType=preempt/qos \
    PreemptMode=CANCEL EnforcePartLimits=ALL MinJobAge=2
account() { # words of sacctmgr
	sacctmgr --immediate "$@" >"$dir/sacctmgr.out" 2>&1 || {
		diag "$(cat "$dir/sacctmgr.out")"
		exit 99
	}
}
limit() { # limits of the user
	account modify user $site_user set "$@"
}
study() { # name trials keys-of-backend [parallel]
	: >ledger
	slurm_study "$1" "\"trials\": $2, \"parallel\": ${4:-$2}" \
	    '"cpus": 1, "grace": 60, "retries": 0' ", \"partition\": \"main\"$3"
	rm -f hold
	site_give
}
refused() { # name keys-of-backend pattern what
	study "$1" 1 "$2"
	fails "$4: check" 2 quietly "$HPOTUNE" check "$1.json"
	like "$(cat err)" "Slurm does not accept such jobs: .*$3" \
	    'says it in the words of Slurm'
	is "$(wc -l <err)" 1 'in one line'
}
completes() { # name trials what
	reap "$server"
	is $? 0 "$3"
	is "$(ledger_faults "$1" "$2")" '' 'each trial has run once'
	ok 'no job is left' retry no_job_left
}
runs() { # study number
	sql_is "$1.db" "SELECT count(*) FROM trials WHERE state = 'running'" "$2"
}

# Calls of sbatch for a job are counted, and of squeue.
real=$(command -v sbatch)
look=$(command -v squeue)
mkdir "$dir/bin"
cat >"$dir/bin/sbatch" <<END
#!/bin/sh
[ "\$1" != --parsable ] || echo >>"$site_home/submits"
exec $real "\$@"
END
cat >"$dir/bin/squeue" <<END
#!/bin/sh
case "\$*" in
*--states=all*) echo >>"$site_home/looks" ;;
esac
exec $look "\$@"
END
chmod 755 "$dir/bin/sbatch" "$dir/bin/squeue"
PATH=$dir/bin:$PATH
ledger_trial 2
: >submits
: >looks

# ---- accounts ---------------------------------------------------------------------

refused nobody '' 'Invalid account' 'a user of no account'
account add account lab,staff
account add user $site_user account=lab
site_add 'PartitionName=owned Nodes=ALL AllowAccounts=staff MaxTime=INFINITE State=UP'
refused staff ', "account": "staff"' 'Invalid account' 'an account of others'
refused owned ', "extra": ["--partition=owned"]' \
    'account' 'a partition of another account'
study member 2 ''
server member.json
completes member 2 'in an account of the user a study ends'


# A partition that is closed to the account while a study runs.
study closed 3 '' 1
: >hold
server closed.json
ok 'one trial runs' retry runs closed 1
scontrol update partitionname=main allowaccounts=staff
rm hold
reap "$server"
is $? 1 'a partition that is closed to the account while a study runs ends it'
like "$(tail -n 1 "$dir/server.err")" 'does not accept such jobs: .*account' \
    'in the words of Slurm'
is "$(sql closed.db "SELECT count(*) FROM trials WHERE state = 'failed'")" 0 \
    'no trial fails for it'
scontrol update partitionname=main allowaccounts=ALL

# ---- limits -----------------------------------------------------------------------

asked() {
	[ "$(wc -l <looks)" -ge 4 ]
}
said() { # pattern: lines of the server with it
	cat "$dir/server.err" "$dir/server.out" | grep -cE "$1"
}
limits() { # name keys submits pattern what
	study "$1" 6 "$2"
	: >hold
	: >submits
	: >looks
	chmod 666 looks
	began=$(date +%s)
	server "$1.json"
	ok "$5: two trials run" retry runs "$1" 2 ||
	    diag "$(cat "$dir/server.err")"
	ok 'squeue is asked many times' retry asked
	# Another one may be tried each minute.
	submitted=$(wc -l <submits)
	tries=$((($(date +%s) - began) / 60))
	[ "$submitted" -ge "$3" ] && [ "$submitted" -le $(($3 + tries)) ]
	verdict $? "$3 jobs are submitted meanwhile" ||
	    diag "$submitted in $tries minutes"
	is "$(said "warning: .*($4)")" 1 'one sentence says why others wait'
	rm hold
	completes "$1" 6 'as jobs end others begin'
	is "$(said "warning: .*($4)")" 1 'and nothing is said again'
}
limit maxsubmitjobs=2
limits submit '' 3 'takes no more jobs .*AssocMaxSubmitJobLimit' \
    'MaxSubmitJobs of the association'
limit maxsubmitjobs=-1 maxjobs=2
limits jobs '' 6 'waits in the queue of Slurm, .*AssocMaxJobsLimit' \
    'MaxJobs of the association'
limit maxjobs=-1
account add qos few maxsubmitjobsperuser=2
account add qos two maxjobsperuser=2
account add qos low gracetime=50 preemptmode=cancel
account add qos high preempt=low
limit qos=normal,few,two,low,high
limits few ', "qos": "few"' 3 'takes no more jobs .*QOSMaxSubmitJobPerUserLimit' \
    'MaxSubmitJobs of a QOS'
limits two ', "qos": "two"' 6 'waits in the queue of Slurm, .*QOSMaxJobsPerUserLimit' \
    'MaxJobs of a QOS'
refused nosuch ', "qos": "none"' 'qos' 'a QOS that does not exist'

# Of an allocation of several trials the job is what counts.
limit maxsubmitjobs=1
study several 6 ', "trials_per_job": 2'
: >submits
server several.json
completes several 6 'jobs of two trials, one at a time'
limit maxsubmitjobs=-1

# ---- the grace of a quality of service ----------------------------------------------

# Counts on from its checkpoint, which it only saves when it is told to end.
cat >saves <<'END'
#!/bin/sh
at=$HPOTUNE_CHECKPOINT_DIR/step
step=$(cat "$at" 2>/dev/null || echo 0)
# Not between two lines: what it saves is what it has reported.
trap told=yes TERM
told=
while :; do
	step=$((step + 1))
	echo "hpotune: step=$step loss=0.5"
	[ ! -e "$at" ] || exit 0
	sleep 0.2
	[ -z "$told" ] || { echo $step >"$at"; exit 0; }
done
END
chmod +x saves
study grace 1 ', "qos": "low", "extra": ["--nodelist=n1"]'
sed -i 's|\./trial|./saves|' grace.json
server grace.json
ok 'a trial is up' retry sql_is grace.db 'SELECT reports > 2 FROM trials' 1
other=$(cd / && site_as "$real" --parsable --qos=high --nodelist=n1 --exclusive \
    --partition=main --output=/dev/null --wrap=true)
ok 'it is told of the preemption and continues in another attempt' retry \
    sql_is grace.db 'SELECT count(*) FROM attempts WHERE started IS NOT NULL' 2
reap "$server"
is "$(sql grace.db "SELECT group_concat(end_class) FROM
    (SELECT end_class FROM attempts ORDER BY attempt)")" spot,ok \
    'one is preempted, the next one completes'
is "$(sql grace.db 'SELECT count(*) = max(step) FROM metrics')" 1 \
    'from the step that was saved in the grace'
ran() {
	[ "$(sacct --allocations --noheader --parsable2 --format=State \
	    --jobs="$other")" = COMPLETED ]
}
ok 'the other job has run' retry ran

# ---- what the accounting knows of jobs that are no longer listed --------------------

# Three trials, a node each: one ends when it is told to, one never, and one has a
# node that fails.
cat >three <<'END'
#!/bin/sh
[ "$HPOTUNE_TRIAL" != 2 ] || trap '' TERM
echo "hpotune: step=$HPOTUNE_ATTEMPT loss=1"
[ "$HPOTUNE_ATTEMPT" != 1 ] || while :; do sleep 0.1; done
END
chmod +x three
study three 3 ', "cpus": 2'
sed -i 's|\./trial|./three|' three.json
server three.json
up_are() { # trials
	sql_is three.db 'SELECT count(*) FROM attempts
	    WHERE started IS NOT NULL' "$1"
}
ok 'three trials run' retry up_are 3
id() { # study trial
	squeue --all --noheader --user=$site_user --format='%A %j' |
	    grep -e "-$2\.1-" | cut -d' ' -f1
}
node=$(sql three.db "SELECT substr(place, 1, 2) FROM attempts WHERE trial = 3")
kill -9 "$server"
reap "$server"
ids="$(id three 1) $(id three 2)"
# shellcheck disable=SC2086 # words of a list
(cd / && site_as scancel $ids)
cluster fail "$node"
unlisted() {
	[ -z "$(squeue --all --noheader --states=all --user=$site_user)" ]
}
ok 'without a server they end, and Slurm forgets them' retry unlisted
cluster heal "$node"
server three.json
reap "$server"
is "$(sql three.db "SELECT trials.state, end_class FROM trials JOIN attempts USING (trial)
    WHERE attempt = 1 ORDER BY trial" | tr '\n' ' ')" \
    'cancelled|user cancelled|user completed|lost ' \
    'the next server hears from the accounting how they have ended'
is "$(sql three.db "SELECT count(*) FROM attempts
    WHERE why LIKE '%was cancelled in Slurm (scancel) by $site_user:%'")" 2 \
    'and who has cancelled two of them'
like "$(sql three.db 'SELECT why FROM attempts WHERE trial = 3')" \
    "its node $node failed" 'and what was the end of the third'

# One that had not begun.
for node in n1 n2 n3 n4; do
	scontrol update nodename=$node state=drain reason=test
done
study waits 1 ''
server waits.json
one_waits() {
	[ "$(jobs_left)" -eq 1 ]
}
ok 'a job waits' retry one_waits
kill -9 "$server"
reap "$server"
(cd / && site_as scancel --user=$site_user)
ok 'it is cancelled without a server' retry unlisted
: >submits
server waits.json
reap "$server"
is "$(sql waits.db "SELECT state FROM trials")" cancelled \
    'the next server hears that its user has cancelled it'
is "$(wc -l <submits)" 0 'and does not submit it again'
for node in n1 n2 n3 n4; do
	scontrol update nodename=$node state=resume
done

# The accounting is down: jobs run, and who has cancelled one is not known.
cluster unaccounted
study down 2 '' 1
: >hold
server down.json
ok 'without the accounting a trial runs' retry runs down 1
(cd / && site_as scancel --user=$site_user)
ok 'its job is cancelled' retry sql_is down.db \
    "SELECT count(*) FROM trials WHERE state = 'cancelled'" 1
rm hold
reap "$server"
is "$(sql down.db 'SELECT state FROM trials ORDER BY trial' | tr '\n' ' ')" \
    'cancelled completed ' 'and the other trial completes'
cluster accounting
done_testing
