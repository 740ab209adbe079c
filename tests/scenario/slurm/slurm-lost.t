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
ok 'three answers of sbatch are lost' quietly timeout 120 "$HPOTUNE" start \
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

done_testing
