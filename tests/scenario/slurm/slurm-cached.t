#!/bin/sh
# A shared folder with attribute caches: the server's machine and the nodes each
# remember for half a minute which files there are and for five seconds how large
# they are, opened anew or not.  Only time is lost by it.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm-ledger.sh"
need sqlite3

mkdir shared probe local
cached() { # command …: sees the folder shared by a cache of its own
	unshare --mount sh -c '
		bindfs -o attr_timeout=5,entry_timeout=30,negative_timeout=30,auto_cache \
		    "$0" "$0" || exit 98
		exec "$@"' "$dir/shared" "$@"
}
if ! cached sh -c ': >"$0/probe"' "$dir/shared" 2>cached.err ||
    [ ! -e shared/probe ]; then
	skip 'a shared folder with caches' \
	    'no FUSE file system can be mounted (bindfs, unshare, /dev/fuse)'
	done_testing
fi

# The nodes see it by their cache: the daemons are started there.
cluster_tool_as_it_is=$cluster_tool
cluster_tool=$dir/cluster-tool
cat >cluster-tool <<END
exec unshare --mount sh -c '
	[ "\$2" != up ] || bindfs -o \
	    attr_timeout=5,entry_timeout=30,negative_timeout=30,auto_cache \
	    "\$0" "\$0" || exit 98
	exec sh "\$@"' "$dir/shared" "$cluster_tool_as_it_is" "\$@"
END
cluster_up
ledger_trial 20
mv trial shared/
: >shared/ledger

# As in a cluster: the trials are on the shared folder, the state is not.
run() { # study keys-of-backend
	slurm_study "$1" '"trials": 6, "parallel": 4' '"cpus": 1, "grace": 5' \
	    ", \"dir\": \"$dir/shared\"$2" \
	    '{ "rule": "median", "min_trials": 2, "warmup_steps": 4 }'
	sed -i "s|\./trial|$dir/shared/trial|" "$1.json"
	began=$(date +%s)
	cached "$HPOTUNE" start "$1.json" --state "$dir/local" --quiet \
	    >"$1.out" 2>"$1.err"
	is $? 0 "$1: a study runs" || diag "$(cat "$1.err")"
	diag "$1: $(($(date +%s) - began)) s"
	ln -s "local/$1.db" "$1.db"
	cp shared/ledger .
	: >shared/ledger
}
run alone ''
is "$(ledger_faults alone 6 | grep -v ' is stopped')" '' \
    'alone: nothing ran twice, no report is lost'
is "$(sql alone.db "SELECT count(*) FROM trials
    WHERE state NOT IN ('completed', 'stopped')")" 0 'alone: all ended well'
is "$(sql alone.db 'SELECT count(*) FROM attempts')" 6 'alone: one attempt each'
run together ', "trials_per_job": 2'
is "$(ledger_faults together 6 | grep -v ' is stopped')" '' \
    'in jobs of two: nothing ran twice, no report is lost'
is "$(sql together.db "SELECT count(*) FROM trials
    WHERE state NOT IN ('completed', 'stopped')")" 0 \
    'in jobs of two: all ended well'
is "$(sql together.db 'SELECT count(*) FROM attempts')" 6 \
    'in jobs of two: one attempt each'
ok 'no job is left' retry no_job_left
done_testing
