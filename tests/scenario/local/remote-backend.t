#!/bin/sh
# A remote backend as seen by users: cost limits, waiting for capacity, exiting
# while jobs end, jobs without an owner.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

need sqlite3
HPOTUNE=$TOP_BUILDDIR/tests/support/fake-backend/hpotune-far
FAR_DIR=$dir/far
export FAR_DIR
mkdir "$FAR_DIR"

study() { # name limits backend-options
	cat >"$1.json" <<END
{
  "study": "$1",
  "objective": { "metric": "m", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "random", "seed": 1 },
  "trial": { "command": ["true"], "retries": 1 },
  "backend": { "name": "far", "slots": 2, "worst": "1h" $3 },
  "limits": { $2 }
}
END
}
calls() {
	[ ! -e "$FAR_DIR/calls" ] || cat "$FAR_DIR/calls"
}
states() { # of the trials, in order
	sql "$1" "SELECT group_concat(state, ' ') FROM
	    (SELECT state FROM trials ORDER BY trial)" 2>/dev/null
}
waits() { # db states: until the trials are in these
	retry sql_is "$1" "SELECT group_concat(state, ' ') FROM
	    (SELECT state FROM trials ORDER BY trial)" "$2" ||
	    { diag "the trials are: $(states "$1")"; return 1; }
}
wait_server() { # status what
	reap "$server"
	is $? "$1" "$2"
}
leave() {
	kill -INT "$server"
}

# What it may cost, before anything runs.
study dear '"trials": 10' ', "price": 2.5'
out=$("$HPOTUNE" check dear.json)
like "$out" '^slots +as many as the backend has$' 'check: slots'
like "$out" '^time +at most 20h \(every attempt takes all its time\)$' \
    'check: time'
like "$out" \
    '^cost +at most \$50.00 \(10 trials of 2 attempts, each at most \$2.50\)$' \
    'check: cost'
study dear '"trials": 10, "cost": 8' ', "price": 2.5'
like "$("$HPOTUNE" check dear.json)" '^cost +at most \$8.00 \(limits.cost\)$' \
    'check: a limit of dollars'
like "$("$HPOTUNE" check --json dear.json)" \
    '"attempt_cost":2.5,"worst_cost":8,' 'check: the same as JSON'
study dear '"wall_time": "1h"' ', "price": 2.5'
like "$("$HPOTUNE" check dear.json)" '^cost +unlimited: limits.cost' \
    'check: without a bound'
study dear '"trials": 1' ', "price": -1'
like "$("$HPOTUNE" check dear.json)" '^cost +unknown: a price is missing' \
    'check: without a price'
study free '"trials": 1' ''
unlike "$("$HPOTUNE" check free.json)" '^cost' 'check: free of cost'

# A whole study, with its dollars.
study dear '"trials": 2' ', "price": 2.5'
echo 1.25 >"$FAR_DIR/done-1"
server dear.json
waits dear.db 'completed running'
out=$("$HPOTUNE" status dear.db)
like "$out" '^cost \$1.25, at most \$3.75 including running' 'status: the cost'
like "$out" '^likely \$2\.50: 1 ended trial cost \$1\.25.*, and 1 is to come$' \
    'status: what it is likely to cost'
like "$("$HPOTUNE" status --json dear.db)" \
    '"likely":"likely \$2\.50: 1 ended' 'status: the same as JSON'
like "$("$HPOTUNE" check dear.json)" '^ +likely \$2\.50: 1 ended trial' \
    'check: by the trials that have ended'
like "$("$HPOTUNE" report dear.db -o -)" '<dd>likely \$2\.50' \
    'report: what it is likely to cost'
sed -i 's/"trials": 2/"trials": 9, "cost": 6/' dear.json
like "$("$HPOTUNE" check dear.json)" \
    '^ +likely \$6\.00: .* and about 4 are to come until limits\.cost$' \
    'check: a limit that ends it before'
echo 0.5 >"$FAR_DIR/done-2"
waits dear.db 'completed completed'
wait_server 0 'the study ends'
like "$(cat server.out)" '^cost: at most \$10.00 ' \
    'start first prints the maximum cost'
# What spot capacity saved depends on how long the machine took for it.
like "$(cat server.out)" '^cost \$1\.75(; spot saved .*)?$' \
    'and at the end what it has cost'
like "$("$HPOTUNE" trials dear.db)" ' cost ' 'trials: the column'
rm "$FAR_DIR"/done-* "$FAR_DIR/calls"

# No machine.
study idle '"trials": 1' ''
: >"$FAR_DIR/none"
server idle.json
waits idle.db waiting
# Between two tries it waits; while the backend is asked it is starting.
status_has() { # pattern option ...
	status_like=$1
	shift
	"$HPOTUNE" status "$@" idle.db | grep -qE "$status_like"
}
ok 'status: who waits' retry status_has \
    '^1 trial is waiting for capacity: tried again'
ok 'status: the same as JSON' retry status_has '"waiting_for_capacity":1' --json
show_waits() { "$HPOTUNE" show idle.db 1 | grep -q 'it waits for a machine'; }
ok 'show: why' retry show_waits
rm "$FAR_DIR/none"
ok 'when there is one it runs' waits idle.db running

# Leaving.
: >"$FAR_DIR/slow"
leave
retry grep -q 'stop 1' "$FAR_DIR/calls"
leave
waits idle.db stopping
ok 'a stop that was not heard is waited for' kill -0 "$server"
rm "$FAR_DIR/slow"
wait_server 3 'not after it: a second signal exits'
is "$(states idle.db)" stopping 'the job continues ending'
: >"$FAR_DIR/end"
server idle.json
ok 'the next server finds its end and goes on' waits idle.db running
rm "$FAR_DIR/end"

# Without a server.
kill -9 "$server"
reap "$server" 2>/dev/null
: >"$FAR_DIR/calls"
out=$("$HPOTUNE" stop idle.db 1)
is $? 0 'stop without a server'
is "$out" 'trial 1 is being stopped' 'states what it did'
is "$(calls)" 'stop 1' 'after the stop request of the job'
is "$(states idle.db)" stopping 'and left it to end'
: >"$FAR_DIR/end"
server idle.json
wait_server 0 'the next server sees it end'
is "$(states idle.db)" cancelled 'as the user wanted'
rm "$FAR_DIR/end" "$FAR_DIR/calls"

quietly() { # command …
	"$HPOTUNE" "$@" >out 2>&1
}

# Jobs that nobody owns.
study keeps '"trials": 1' ''
server keeps.json
waits keeps.db running
uuid=$(sql keeps.db 'SELECT uuid FROM t_attempt')
old=$(sql dear.db 'SELECT uuid FROM t_attempt LIMIT 1')
id() { # of a study, as the far side has it in its tags
	cat "$FAR_DIR/id-$1"
}
cat >"$FAR_DIR/jobs" <<END
job-owned keeps $(id keeps) $uuid InProgress
job-orphan dear $(id dear) $old InProgress
job-copy dear 000000 $old InProgress
job-else other 123456 $old InProgress
job-gone gone 123456 $old InProgress
job-alive gone 654321 $old InProgress
job-bare - - - InProgress
END
rm "$FAR_DIR/calls"
out=$("$HPOTUNE" sagemaker gc)
is $? 0 'gc lists'
for row in 'owned +job-owned +keeps' 'orphan +job-orphan +dear' \
    'elsewhere +job-copy' 'elsewhere +job-else +other' 'elsewhere +job-bare'
do
	like "$out" "^$row" "gc: $row"
done
is "$(calls)" '' 'and touches nothing'
out=$("$HPOTUNE" sagemaker gc --stop --json)
is "$(calls)" 'end job-orphan0' 'gc --stop stops orphans, and only these'
like "$out" '"job":"job-orphan","owner":"orphan".*"ended":true' 'and reports it'
rm "$FAR_DIR/calls"
fails 'gc --lost without an id' 2 quietly sagemaker gc keeps.db --stop \
    --lost gone
"$HPOTUNE" sagemaker gc keeps.db --stop --lost gone-123456 >out
is "$(calls)" 'end job-gone0' \
    'gc --lost ends those of a study that is lost; others may be anywhere'
like "$(cat out)" '^elsewhere +job-orphan' 'only the named studies are known'
rm "$FAR_DIR/jobs"
fails 'gc where nobody answers' 1 "$HPOTUNE" sagemaker gc
fails 'gc of nothing' 2 sh -c 'mkdir -p none && cd none && "$0" sagemaker gc' \
    "$HPOTUNE"
fails 'there is nothing but gc' 2 "$HPOTUNE" sagemaker cg

# Doctor.
out=$("$HPOTUNE" doctor keeps.json)
like "$out" '^ok +far credentials +known to keeps' 'doctor asks the backend'
like "$out" '^warning +far machines +few +ask for more' 'and shows the mend'
: >"$FAR_DIR/none"
fails 'doctor fails when a study could not run' 1 \
    sh -c '"$0" doctor keeps.json >/dev/null' "$HPOTUNE"

done_testing
