#!/bin/sh
# Answers of sbatch that are lost, and a controller that is down: no trial runs
# twice, none is lost.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm.sh"
need sqlite3
cluster_up
PATH=$(cluster wrap):$PATH

cat >trial <<'END'
#!/bin/sh
echo "$HPOTUNE_ATTEMPT_UUID" >>"${0%/*}/ledger"
echo "hpotune: step=1 loss=$1"
[ ! -e "${0%/*}/wait" ] || until [ -e "${0%/*}/go" ]; do sleep 0.1; done
END
chmod +x trial
once() { # all that have run have run once
	[ -z "$(sort ledger | uniq -d)" ]
}

slurm_study lost '"trials": 6, "parallel": 3' '"grace": 5' ''
printf '...' >cluster/lose
ok 'three answers of sbatch are lost' quietly timeout 300 "$HPOTUNE" start \
    lost.json || diag "$(cat err)"
is "$(sql lost.db "SELECT count(*), max(attempts) FROM trials
    WHERE state = 'completed'")" '6|1' 'all trials complete in one attempt'
is "$(wc -l <ledger)" 6 'each has run'
ok 'once' once
is "$(sql lost.db "SELECT count(*) FROM events
    WHERE text LIKE '%looked for by its name%'")" 3 'each is an event'

: >ledger
touch wait
slurm_study down '"trials": 4, "parallel": 2' '"grace": 5' ''
server down.json
ok 'two trials run' retry sql_is down.db \
    "SELECT count(*) FROM trials WHERE state = 'running'" 2
# Slurm writes its state some seconds later: a controller that is killed before
# forgets these jobs, and gives their numbers to others.
saved() {
	for saved_job in $(squeue -h -o %j); do
		grep -qF "$saved_job" cluster/state/job_state || return 1
	done
}
ok 'Slurm has saved both jobs' retry saved
cluster crash
touch go
ok 'they end without the controller' retry sql_is down.db \
    "SELECT count(*) FROM trials WHERE state = 'completed'" 2
ok 'the others wait for it' retry sql_is down.db \
    "SELECT count(*) > 0 FROM events
    WHERE text LIKE 'Slurm does not answer (Unable to contact%'" 1
cluster controller
reap "$server"
is $? 0 'and complete when it is back'
is "$(sql down.db "SELECT count(*), max(attempts) FROM trials
    WHERE state = 'completed'")" '4|1' 'in one attempt each'
is "$(wc -l <ledger)" 4 'each has run'
ok 'once' once
ok 'no job is left' retry no_job_left

# Two jobs of one attempt: the claim lets one of them run.
: >ledger
slurm_study twice '"trials": 1' '"grace": 5' ''
rm go
server twice.json
ok 'a trial runs' retry sql_is twice.db \
    "SELECT count(*) FROM trials WHERE state = 'running'" 1
sbatch --parsable --output=second.out --wait \
    twice.d/trials/1/attempt-1/job.sh >/dev/null
is "$(wc -l <ledger)" 1 'a second job of it runs nothing'
like "$(cat second.out)" 'this run of the job does nothing' 'and reports it'
touch go
reap "$server"
is $? 0 'the first one continues'

# What this cluster cannot say: too many jobs of this user, and jobs that are
# not accepted any more although they were when the study began.
mkdir fake
cat >fake/sbatch <<END
#!/bin/sh
# Read as it is looked for: it may be removed at this moment.
if [ "\$1" = --parsable ] && says=\$(cat "$dir/says" 2>/dev/null); then
	printf '%s\n' "\$says" >&2
	exit 1
fi
exec $(command -v sbatch) "\$@"
END
chmod +x fake/sbatch
PATH=$PWD/fake:$PATH
cat >trial <<'END'
#!/bin/sh
echo "hpotune: step=1 loss=$1"
END
cat >says <<'END'
sbatch: error: QOSMaxSubmitJobPerUserLimit
sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)
END
slurm_study full '"trials": 2, "parallel": 2' '"grace": 5' ''
server full.json
ok 'a limit on submitted jobs is said' retry sql_is full.db \
    "SELECT count(*) > 0 FROM events WHERE text LIKE
    'slurm: no trial can be started: %job submit limit%'" 1
rm says
reap "$server"
is $? 0 'and waited for'
is "$(sql full.db "SELECT count(*) FROM trials WHERE state = 'completed'")" 2 \
    'all complete'

echo 'sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified' >says
slurm_study gone '"trials": 3, "parallel": 1' '"grace": 5' ''
timeout 300 "$HPOTUNE" start gone.json >out 2>err
is $? 1 'no job is accepted any more: the study has failed'
like "$(tail -n 1 err)" 'slurm: Slurm does not accept such jobs: Invalid account' \
    'it says so'
is "$(sql gone.db "SELECT group_concat(state) FROM trials")" waiting \
    'and no trial fails for it'
rm says
ok 'the next start goes on' quietly timeout 300 "$HPOTUNE" start gone.json ||
    diag "$(cat err)"
is "$(sql gone.db "SELECT count(*) FROM trials WHERE state = 'completed'")" 3 \
    'and completes all'


# What a plugin of the site says before the last line, and an answer that nobody
# has foreseen: both are final.
cat >says <<'END'
sbatch: error: no project: use --account
sbatch: error: Batch job submission failed: Unspecified error
END
slurm_study plugin '"trials": 3, "parallel": 1' '"grace": 5' ''
timeout 300 "$HPOTUNE" start plugin.json >out 2>err
is $? 1 'a refusal without known words: the study has failed'
like "$(tail -n 1 err)" \
    'Slurm does not accept such jobs: no project: use --account; Unspecified error' \
    'with all that Slurm has said'
rm says

done_testing
