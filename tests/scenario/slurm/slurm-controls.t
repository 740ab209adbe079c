#!/bin/sh
# What slurm-kills.t looks for is found where it is: without the claim a job
# that Slurm runs twice runs its trial twice, and by its id alone a job is taken
# for another one that was given the same id.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm-ledger.sh"
need sqlite3
cluster_up
PATH=$(cluster wrap):$PATH
HPOTUNE_SHIM=$TOP_BUILDDIR/tests/torture/hpotune-shim-fail
failing=$TOP_BUILDDIR/tests/torture/hpotune-fail

begun() { # n: so many runs at least
	[ "$(grep -c begin ledger)" -ge "$1" ]
}
one_each() { # of six jobs those that are not the first of their trial have ended
	[ "$(squeue --me --noheader --states=all | wc -l)" -ge 6 ] &&
	    [ "$(jobs_left)" -eq 3 ]
}
# Two jobs of each trial, as after a crash of the controller.
twice() { # name well|fault
	: >hold
	ledger_trial 8
	slurm_study "$1" '"trials": 3, "parallel": 3' '"grace": 5, "retries": 0' ''
	printf ... >cluster/twice
	background failing timeout 300 "$failing" start "$1.json" --quiet
	# The second job of a trial begins while the first one runs, or does nothing.
	retry begun 3
	if [ "$2" = fault ]; then
		retry begun 4
	else
		retry one_each
	fi
	rm hold
	reap "$child"
	ledger_faults "$1" 3 >faults
	retry no_job_left || scancel --me
}
# While it runs the ids of its jobs are given to another one, which ends.
reused() { # name well|fault
	: >hold
	ledger_trial 5
	slurm_study "$1" '"trials": 1' '"grace": 5' ''
	"$failing" start "$1.json" --quiet >out 2>err &
	server=$!
	children="$children $server"
	retry grep -q '^report' ledger
	: >cluster/reused
	if [ "$2" = fault ]; then
		RETRY_SECONDS=60 retry sh -c \
		    'grep begin ledger | tail -n +2 | grep -q begin' || :
	else
		# Two queries and the time in which a file is seen elsewhere.
		retry sql_is "$1.db" "SELECT count(*) > 0 FROM events
		    WHERE text LIKE '%Slurm no longer lists its job%'" 1
	fi
	rm cluster/reused hold
	reap "$server"
	ledger_faults "$1" 1 >faults
	retry no_job_left || scancel --me
}

twice claimed well
is "$(cat faults)" '' 'by the claim jobs that Slurm runs twice run once'
HPOTUNE_FAIL=bug.no_claim_check
export HPOTUNE_FAIL
twice unclaimed fault
like "$(cat faults)" 'attempt .* has run twice' \
    'without it that they ran twice is found'

HPOTUNE_FAIL=
reused named well
is "$(cat faults)" '' 'a job of another name with the same id is not ours'
HPOTUNE_FAIL=bug.id_alone
reused unnamed fault
like "$(cat faults)" 'has run twice' 'by the id alone a trial runs twice'

done_testing
