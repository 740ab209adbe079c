#!/bin/sh
# A supervisor that dies between its claim and the record of it, or before its first
# beat, in a job of its own and in one that goes on: the trial is started again, or
# ends when it is stopped.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm.sh"
need sqlite3
cluster_up
HPOTUNE_SHIM=$TOP_BUILDDIR/tests/torture/hpotune-shim-fail
export HPOTUNE_SHIM

# The job of others goes on until the end of the one that died was seen.
cat >trial <<END
#!/bin/sh
echo "hpotune: step=1 loss=1"
while [ ! -e "$dir/go" ]; do sleep 0.1; done
END
chmod +x trial
dies() { # study point keys
	slurm_study "$1" '"trials": 2, "parallel": 2' '"cpus": 1, "retries": 0' \
	    "$3, \"setup\": \"export HPOTUNE_FAIL=shim.$2=kill#1 HPOTUNE_FAIL_LOG=$dir/$1.log\""
	server "$1.json"
	eval "server_$1=$server"
}
dies own after_link ''
dies guest after_link ', "trials_per_job": 2'
dies beatless after_claim ', "trials_per_job": 2'
for study in own guest beatless; do
	ok "$study: it is seen while others run" retry sql_is $study.db \
	    "SELECT count(*) FROM attempts WHERE end_class = 'lost'" 1
done
touch go
for study in own guest beatless; do
	eval "reap \$server_$study"
	is "$(sql $study.db "SELECT count(*), min(state), max(attempts) FROM trials")" \
	    '2|completed|2' "$study: it has run then"
done
rm go

slurm_study stopped '"trials": 1' '"cpus": 1' \
    ", \"setup\": \"export HPOTUNE_FAIL=shim.after_link=kill HPOTUNE_FAIL_LOG=$dir/log\""
server stopped.json
ok 'one has died' retry [ -s log ]
ok 'it is stopped' quietly "$HPOTUNE" stop stopped.db 1
reap "$server"
is "$(sql stopped.db 'SELECT state FROM trials')" cancelled 'that is its end'
ok 'no job is left' retry no_job_left

done_testing
