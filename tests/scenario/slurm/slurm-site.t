#!/bin/sh
# A cluster that is somebody else's: the study is that of an ordinary user, beside an
# administrator who hides partitions, closes them, refuses jobs with words of their own,
# reserves nodes and limits the queue, and beside a controller that forgets.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm-ledger.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm-site.sh"
need sqlite3
site_up
site_add 'PartitionName=secret Nodes=ALL Hidden=YES MaxTime=INFINITE State=UP PriorityTier=1' \
    "PartitionName=staff Nodes=ALL AllowGroups=$site_admin MaxTime=INFINITE State=UP"

ledger_trial 2
site_give
study() { # name trials keys-of-backend
	: >ledger
	slurm_study "$1" "\"trials\": $2, \"parallel\": $2" \
	    '"cpus": 1, "grace": 5, "retries": 0' ", $3"
}
refused() { # name keys-of-backend pattern what
	study "$1" 1 "$2"
	fails "$4: check" 2 quietly "$HPOTUNE" check "$1.json"
	like "$(cat err)" "$3" 'says it in the words of the site'
	is "$(wc -l <err)" 1 'in one line'
}
completes() { # name trials what
	reap "$server"
	is $? 0 "$3"
	is "$(ledger_faults "$1" "$2")" '' 'each trial has run once'
	is "$(sql "$1.db" 'SELECT count(*) FROM attempts')" "$2" 'in one attempt'
	ok 'no job is left' retry no_job_left
}
nodes() { # state: of all
	for node in n1 n2 n3 n4; do
		scontrol update nodename=$node state="$1" reason=test 2>err || :
	done
}

# The answers to the server are counted, as is what the administrator sees then.
real=$(command -v squeue)
mkdir "$dir/bin"
cat >"$dir/bin/squeue" <<END
#!/bin/sh
case "\$*" in
*--me*) $real --me --all --noheader --states=PENDING | wc -l >>"$site_home/waiting" ;;
esac
exec $real "\$@"
END
chmod 755 "$dir/bin/squeue"
PATH=$dir/bin:$PATH
waits() { # jobs: the server has asked six times, and so many wait, never more
	: >waiting
	chmod 666 waiting
	ok 'squeue is asked many times' retry asked
	is "$(sort -n waiting | tail -n 1)" "$1" "and $1 jobs wait, never more"
}
asked() {
	[ "$(wc -l <waiting)" -ge 6 ]
}

nodes drain
study hidden 3 '"partition": "secret"'
server hidden.json
two_see() {
	[ "$(jobs_left)" -eq 3 ]
}
ok 'three jobs are in a hidden partition' retry two_see
waits 3
like "$("$HPOTUNE" status hidden.json)" 'pending: ' 'status says that they wait'
is "$("$HPOTUNE" slurm gc hidden.json | grep -c owned)" 3 'slurm gc lists them'
# The group of the user is taken out of the partition: they wait on.
scontrol update partitionname=secret allowgroups=$site_admin
waits 3
scontrol update partitionname=secret allowgroups=ALL
nodes resume
completes hidden 3 'the study ends'

if site_as sbatch --test-only --partition=staff --wrap=true >out 2>&1; then
	# Since 23.02, without EnforcePartLimits.
	study staff 1 '"partition": "staff"'
	like "$("$HPOTUNE" check staff.json)" \
	    '^warning +partition: staff \(games\): you are in none of these groups' \
	    'a partition of others: check says that jobs wait for ever'
	server staff.json
	ok 'so does the server' retry grep -q 'not in group permitted' \
	    "$dir/server.err"
	ok 'it is stopped' quietly "$HPOTUNE" stop staff.json
	reap "$server"
	ok 'no job is left' retry no_job_left
else
	refused staff '"partition": "staff"' \
	    'Slurm does not accept such jobs: .*group not permitted' \
	    'a partition of others'
fi

scontrol create reservation reservationname=later starttime=now+60minutes \
    duration=60 nodes=n1 users=$site_user >/dev/null
study later 1 '"partition": "main", "time": "5m", "extra": ["--reservation=later"]'
ok 'a reservation that begins later is right' quietly "$HPOTUNE" check later.json
scontrol delete reservationname=later

scontrol create reservation reservationname=class starttime=now duration=60 \
    nodes=ALL users=root flags=ignore_jobs >/dev/null
study reserved 2 '"partition": "main", "time": "5m"'
server reserved.json
says() { # pattern
	"$HPOTUNE" status reserved.json 2>/dev/null | grep -q "$1"
}
ok 'nodes are reserved for others: status says it' retry says 'pending: .*[Rr]eserv'
waits 2
scontrol delete reservationname=class
completes reserved 2 'it begins when they are free'

# Plug-ins that decide about jobs: one of Slurm, and rules that the site has written.
if [ -e "$(scontrol show config |
    sed -n 's/^PluginDir *= *//p')/job_submit_lua.so" ]; then
	cat >"$dir/cluster/etc/job_submit.lua" <<-END
	function slurm_job_submit(job, partitions, uid)
		if uid ~= 0 and job.partition == "secret" then
			slurm.log_user("no project: use --account")
			slurm.log_user("ask desk@site.example")
			return slurm.ERROR
		end
		return slurm.SUCCESS
	end
	function slurm_job_modify(job, record, partitions, uid)
		return slurm.SUCCESS
	end
	return slurm.SUCCESS
	END
	site_add 'JobSubmitPlugins=lua,require_timelimit'
	refused lua '"partition": "secret", "time": "5m"' \
	    'accept such jobs: no project: use --account; ask desk@site.example; ' \
	    'rules of the site'
	refused untimed '"partition": "main"' \
	    'accept such jobs: .*[Tt]ime limit specification required' \
	    'a plug-in that wants a time'
	study timed 2 '"partition": "main", "time": "5m"'
	server timed.json
	completes timed 2 'with a time in another partition the study ends'
	study closed 5 '"partition": "main", "time": "5m"'
	sed -i 's/"parallel": 5/"parallel": 1/' closed.json
	: >hold
	server closed.json
	ok 'one trial runs' retry sql_is closed.db \
	    "SELECT count(*) FROM trials WHERE state = 'running'" 1
	sed -i 's/job.partition == "secret"/job.partition == "main"/' \
	    "$dir/cluster/etc/job_submit.lua"
	rm hold
	reap "$server"
	is $? 1 'rules that begin to refuse while a study runs end it'
	like "$(tail -n 1 "$dir/server.err")" 'accept such jobs: no project: use --account' \
	    'in the words of the site'
	is "$(sql closed.db "SELECT count(*) FROM trials WHERE state = 'failed'")" 0 \
	    'no trial fails for it'
	sed -i '/^JobSubmitPlugins=/d' "$SLURM_CONF"
	scontrol reconfigure
else
	skip 'rules of the site' 'NOT RUN: Slurm has no job_submit_lua.so'
fi

# A controller that was killed as it had started a job may start it again, and cancels
# what runs when the node refuses that: so does root here.
study again 1 '"partition": "main"'
sed -i "s/^.*sleep 0.2/&; until [ -e go ]; do sleep 0.1 || exit; done/" trial
server again.json
ok 'a trial runs' retry sql_is again.db \
    "SELECT count(*) FROM trials WHERE state = 'running'" 1
is_saved() {
	grep -qF "$(squeue --all --user=$site_user --noheader --format=%j)" \
	    "$dir/cluster/state/job_state"
}
ok 'Slurm has saved its job' retry is_saved
cluster crash
cluster controller
scancel --user=$site_user
ok 'it is cancelled, and tried again' retry sql_is again.db \
    "SELECT count(*) FROM attempts WHERE attempt = 2 AND started IS NOT NULL" 1
is "$(sql again.db "SELECT end_class FROM attempts WHERE attempt = 1")" lost \
    'nobody is said to have cancelled it'
like "$(cat "$dir"/server.*)" 'when the controller of Slurm was restarted' \
    'the reason says so'
# What was submitted after that is cancelled by who does so.
scancel --user=$site_user
reap "$server"
is "$(sql again.db "SELECT trials.state, end_class FROM trials JOIN attempts
    USING (trial) WHERE attempt = 2")" 'cancelled|user' 'the second one is not'
done_testing
