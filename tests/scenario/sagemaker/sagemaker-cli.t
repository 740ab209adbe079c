#!/bin/sh
# SageMaker commands: jobs without an owner, cost limits, this machine and jobs
# in one study.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/standin.sh"

need sqlite3 awk tar gzip
sagemaker_code
standin

# A study whose one trial goes on until it is told to end; its server dies.
deserted() { # name
	sagemaker_study "$1.json" "$1" 1 "$(sagemaker_block)"
	server "$1.json"
	retry sql_is "$1.db" 'SELECT step FROM trials' 3 ||
	    diag "$(cat server.err)"
	kill -9 "$server"
	reap "$server" 2>/dev/null
}
gc_says() { # pattern [option …]
	gc_pattern=$1
	shift
	"$HPOTUNE" sagemaker gc "$@" >gc.out 2>&1 &&
	    grep -Eq -e "$gc_pattern" gc.out
}

: >code/slow

# ---- jobs that nobody owns -----------------------------------------------------------

deserted orphan
# As if its end had been recorded while it ran on.
sqlite3 orphan.db "UPDATE t_attempt SET state = 'ended', end_class = 'lost'"
deserted lost
mkdir elsewhere
mv lost.db* lost.d elsewhere/
ok 'an orphan is found' gc_says '^orphan +hpt-orphan-'
like "$(cat gc.out)" '^elsewhere +hpt-lost-' 'another is of elsewhere'
ok 'the orphan is told to end' gc_says '^orphan .* stopped' --stop
unlike "$(cat gc.out)" '^elsewhere .* stopped' 'the other is let alone'
gone() {
	! gc_says 'hpt-orphan-'
}
ok 'and ends' retry gone
like "$("$HPOTUNE" sagemaker gc --lost lost 2>&1)" 'expected the study as' \
    'its name is not enough'
gc_says '^elsewhere'
id=$(sed -n 's/.* \(lost-[0-9a-f]\{6\}\) .*/\1/p' gc.out | sed 1q)
ok 'a lost study is named' gc_says '^lost +hpt-lost-.* stopped' \
    --stop --lost "$id"
quiet() {
	gc_says '^no job with a name'
}
ok 'and nothing is left' retry quiet
rm code/slow

# ---- dollars -----------------------------------------------------------------------

sagemaker_study cost.json cost 3 "$(sagemaker_block)"
sed -i 's/"parallel": 2/"parallel": 2, "cost": 2.5/' cost.json
like "$("$HPOTUNE" check cost.json)" '^cost +at most \$2.50 \(limits.cost\)' \
    'check prints the maximum cost'
like "$(sed 's/, "cost": 2.5//' cost.json >free.json && "$HPOTUNE" check free.json)" \
    '^ +likely \$4\.50: 3 trials of one attempt with all of max_run on ml\.g5\.xlarge at \$1\.50 an hour' \
    'check prints the likely cost'
sed 's/"trials": 3/"trials": 300, "wall_time": "1h"/; s/, "parallel": 2//' free.json >hour.json
like "$("$HPOTUNE" check hour.json)" \
    '^ +likely \$15\.00: 10 trials of one attempt' \
    'also where limits.parallel is the default'
ok 'a study with a limit of dollars' timeout 300 sh -c \
    '"$HPOTUNE" start cost.json >cost.out'
like "$(cat cost.out)" \
    '^cost: at most \$2\.50 .*; likely \$2\.50: 3 trials of one attempt with all of max_run on .*; limits\.cost ends it$' \
    'whose start prints the greatest and the likely cost'
is "$(sql cost.db 'SELECT count(*) FROM trials WHERE state = "completed"')" \
    3 'has its trials'
is "$(sql cost.db 'SELECT count(*) FROM attempts AS a JOIN attempts AS b
    ON a.trial < b.trial AND b.started < a.ended')" 0 \
    'one after the other: two might have passed it'
is "$(sql cost.db 'SELECT cost > 0 AND abs(cost - committed) < 1e-9 AND cost < 2.5
    FROM costs')" 1 'and has cost less'
like "$("$HPOTUNE" status cost.db)" '^cost \$0\.[0-9]+, of \$2.50' \
    'status reports'
sed 's/"cost": 2.5/"cost": 1/; s/"study": "cost"/"study": "poor"/' cost.json >poor.json
like "$("$HPOTUNE" check poor.json 2>&1)" \
    'limits.cost: no trial could be started: one attempt may cost \$2.05' \
    'a limit below one attempt is refused'

# ---- here and there --------------------------------------------------------------------

: >code/slow
sagemaker_study both.json both 2 \
    "[{\"name\": \"local\", \"gpus\": 0}, $(sagemaker_block)]"
sed -i 's/"max_steps": 5/"max_steps": 5, "cpus": 1000/' both.json
server both.json
retry sql_is both.db "SELECT group_concat(backend, ' ') FROM (SELECT backend
    FROM trials WHERE step = 3 ORDER BY trial)" 'local sagemaker'
is "$(sql both.db "SELECT group_concat(backend, ' ') FROM (SELECT backend
    FROM trials ORDER BY trial)")" 'local sagemaker' \
    'what does not fit here runs there'
kill -INT "$server"
reap "$server"
is $? 3 'both end when the server is told to exit'
rm code/slow
ok 'and go on' timeout 300 "$HPOTUNE" start both.json --quiet
is "$(sql both.db "SELECT group_concat(backend || ' ' || state, ', ') FROM
    (SELECT backend, state FROM trials ORDER BY trial)")" \
    'local completed, sagemaker completed' 'where they were'
proved_clean 'all of it'

done_testing
