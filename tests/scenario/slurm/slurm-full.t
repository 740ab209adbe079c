#!/bin/sh
# The shared folder of a cluster is full for a while: what runs goes on, nothing new
# is started, it is said, and when there is room again the study ends with all trials.

# The folder is a small file system that the server and the nodes see.
if [ -z "${HPOTUNE_TEST_MOUNTS-}" ] && unshare --mount true 2>/dev/null; then
	HPOTUNE_TEST_MOUNTS=1 exec unshare --mount --propagation private sh "$0"
fi
. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm-ledger.sh"
need sqlite3
mkdir shared
if ! mount -t tmpfs -o size=6m tmpfs shared 2>mount.err; then
	skip 'a full shared folder' 'no file system can be mounted'
	done_testing
fi
cluster_up
shared_end() {
	umount -l "$dir/shared"
	cluster_end
}
trap shared_end EXIT
ledger_trial 10
slurm_study full '"trials": 6, "parallel": 2' '"cpus": 1, "grace": 5' \
    ", \"dir\": \"$dir/shared\""
: >hold
server full.json
ok 'two trials run' retry sql_is full.db \
    "SELECT count(*) FROM trials WHERE state = 'running'" 2
cat /dev/zero >shared/fill 2>/dev/null
rm hold
ended() { # number
	[ "$(grep -c '^end' ledger)" -ge "$1" ]
}
ok 'the trials go on' retry ended 2
said() {
	grep -q 'No space left on device' server.out server.err
}
ok 'it is said that there is no room' retry said
is "$(grep -c '^begin' ledger)" 2 'nothing else was started'
rm shared/fill
reap "$server"
is $? 0 'when there is room the study ends'
is "$(sql full.db "SELECT count(*) FROM trials WHERE state = 'completed'")" 6 \
    'with all trials'
is "$(ledger_faults full 6 | grep -v 'has ended twice\|is lost')" '' \
    'none ran twice at once'
ok 'no job is left' retry no_job_left
done_testing
