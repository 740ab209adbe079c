#!/bin/sh
# Nodes that an administrator or Slurm keeps from running jobs: drained, planned for
# another job, powered down; and a controller that holds few jobs.  Nothing floods the
# queue, nothing is lost, and status says why it waits.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm-ledger.sh"
need sqlite3

# A node that is powered down has no slurmd; one that is powered up gets it when there
# is the file "power".
for what in off boot; do
	cat >$what <<-END
	#!/bin/sh
	until [ $what = off ] || [ -e "$dir/power" ]; do sleep 0.1; done
	SLURM_PREFIX="${SLURM_PREFIX-}"; export SLURM_PREFIX
	exec sh "$cluster_tool" $what "$dir/cluster" \
	    \$($(command -v scontrol) show hostnames "\$1")
	END
	chmod +x $what
done
cluster_up "SuspendProgram=$dir/off" "ResumeProgram=$dir/boot" \
    SuspendTime=1000000 SuspendTimeout=3 ResumeTimeout=300 MinJobAge=2
real=$(command -v sbatch)
look=$(command -v squeue)
mkdir bin
cat >bin/sbatch <<END
#!/bin/sh
[ "\$1" != --parsable ] || echo >>"$dir/submits"
exec $real "\$@"
END
cat >bin/squeue <<END
#!/bin/sh
case "\$*" in
*--states=all*) echo >>"$dir/looks" ;;
esac
exec $look "\$@"
END
chmod +x bin/sbatch bin/squeue
PATH=$dir/bin:$PATH
ledger_trial 2

study() { # name trials keys-of-backend
	: >ledger
	: >submits
	: >looks
	slurm_study "$1" "\"trials\": $2, \"parallel\": $2" \
	    '"cpus": 1, "grace": 5, "retries": 0' ", \"partition\": \"main\"$3"
}
asked() {
	[ "$(wc -l <looks)" -ge 4 ]
}
says() { # study pattern
	"$HPOTUNE" status "$1.json" 2>/dev/null | grep -qE "$2"
}
waits() { # study trials pattern what
	server "$1.json"
	ok "$4: status says it" retry says "$1" "$3"
	ok 'squeue is asked many times' retry asked
	is "$(wc -l <submits)" "$2" 'each job is submitted once'
}
completes() { # study trials what
	reap "$server"
	is $? 0 "$3"
	is "$(ledger_faults "$1" "$2")" '' 'each trial has run once'
	ok 'no job is left' retry no_job_left
}
nodes() { # state
	for node in n1 n2 n3 n4; do
		scontrol update nodename=$node state="$1" reason=test
	done
}

# ---- drained ----------------------------------------------------------------------

study drained 3 ''
ok 'check accepts the study while nodes are in order' quietly "$HPOTUNE" check drained.json
nodes drain
ok 'and while they are drained' quietly "$HPOTUNE" check drained.json ||
    diag "$(cat err)"
waits drained 3 'pending: .*(DRAINED|NotAvail|Resources)' 'drained nodes'
nodes resume
completes drained 3 'they run when the nodes are back'

# ---- planned for another job ----------------------------------------------------------

# One node is busy for an hour; then another job has all four.
busy=$("$real" --parsable --nodelist=n1 --exclusive --time=60 --output=/dev/null \
    --wrap='sleep 10000')
big=$("$real" --parsable --nodes=4 --exclusive --time=60 --output=/dev/null \
    --wrap='sleep 10000')
planned() {
	sinfo --noheader --partition=main --format=%T | grep -qx planned
}
ok 'nodes are planned for another job' retry planned
study planned 3 ', "time": "5h"'
ok 'check accepts a study' quietly "$HPOTUNE" check planned.json ||
    diag "$(cat err)"
waits planned 3 'pending: (Priority|Resources)' 'planned nodes'
scancel "$busy" "$big"
completes planned 3 'they run when the other job is gone'

# ---- powered down -------------------------------------------------------------------

nodes power_down_force
powered_down() {
	[ "$(sinfo --noheader --Node --partition=main --format=%T |
	    grep -c '^idle~$')" -eq 4 ]
}
ok 'all nodes are powered down' retry powered_down
study powered 3 ''
ok 'check accepts a study' quietly "$HPOTUNE" check powered.json ||
    diag "$(cat err)"
waits powered 3 'CONFIGURING' 'nodes that are powered up'
: >power
completes powered 3 'they run when nodes are up'

# ---- a controller that holds few jobs -----------------------------------------------

# sbatch itself waits for a place, and says so; the server ends it after a minute.
echo 'MaxJobCount=3' >>"$SLURM_CONF"
ok 'the controller is ended' cluster leave
cluster controller
forgotten() {
	[ -z "$(squeue --all --noheader --states=all 2>&1)" ]
}
ok 'the next one holds no job' retry forgotten ||
    diag "$(squeue --all --states=all 2>&1)"
study few 6 ''
: >hold
server few.json
some_run() {
	sql_is few.db "SELECT count(*) BETWEEN 1 AND 3 FROM trials WHERE
	    state = 'running'" 1
}
ok 'of six trials at most three run' retry some_run
said() {
	cat server.err server.out | grep -q 'takes no more jobs for now (.*retrying'
}
ok 'it is said why the others do not' retry said
is "$(cat server.err server.out | grep -c 'warning:')" 1 'one sentence is said'
rm hold
completes few 6 'as jobs end others begin'
is "$(grep -c 'Name=hp-few-' cluster/log/jobcomp.txt)" 6 'the controller has had six jobs'
done_testing
