#!/bin/sh
# Databases that are damaged or foreign: every command prints one line, and
# exits.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

# Three studies: one that is over, one whose server was killed with trials that
# ran, one with several aims that others run.
study() { # name trials seconds sed-expression
	sed "$4" >"$1.json" <<END
{ "study": "$1", "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 },
    "n": { "type": "int", "min": 1, "max": 8 },
    "opt": { "type": "choice", "values": ["a", "b", true] } },
  "strategy": { "name": "tpe", "seed": 3, "n_startup_trials": 4 },
  "stopping": { "rule": "median", "min_trials": 3, "warmup_steps": 2 },
  "trial": { "command": ["true"], "max_steps": 10, "retries": 1 },
  "backend": { "name": "pretend", "seconds_per_step": $3 },
  "limits": { "trials": $2, "parallel": 3 } }
END
}
as_it_is='s/nothing/nothing/'
mkdir -p good/over good/cut good/aims damaged
cd good/over
study d 12 0.001 "$as_it_is"
"$HPOTUNE" start -q d.json
is $? 0 'a study that is over'

cd ../cut
# More trials than it starts before it is killed, however late that is.
study d 1000 0.05 "$as_it_is"
server d.json -q
cut_runs() {
	[ "$(sql d.db 'SELECT completed > 1 AND running > 1 FROM study' \
	    2>/dev/null)" = 1 ]
}
ok 'a server is there to be killed' retry cut_runs
kill -9 "$server"
reap "$server"
ok 'and has left its log' test -s d.db-wal

cd ../aims
goals='{ "metric": "loss", "goal": "minimize" },'
goals="$goals { \"metric\": \"size\", \"goal\": \"maximize\" }"
study d 12 0.001 "/\"stopping\"/d; s/\"objective\".*/\"objectives\": [$goals], \"constraints\": [{ \"metric\": \"ms\", \"max\": 20 }],/"
for i in 1 2 3 4 5; do
	"$HPOTUNE" ask d.json >/dev/null
done
for i in 1 2 3; do
	"$HPOTUNE" tell d.json $i step=1 loss=$i size=$((i * i % 5)) \
	    ms=$((i * 10)) --done >/dev/null
done
"$HPOTUNE" tell d.json 4 step=1 loss=4 >/dev/null
"$HPOTUNE" enqueue d.json x=0.25 >/dev/null
is "$(sql d.db 'SELECT trials, running, completed FROM study')" '5|2|3' \
    'one of several aims, with trials that others run'

# What is said, and where.
cd ../../damaged
says() { # sql what-it-says command ...: of the study that is over
	says_sql=$1
	says_want=$2
	shift 2
	rm -rf d.db* d.d
	cp -r ../good/over/d.* .
	sql_schema d.db "UPDATE sqlite_schema
	    SET sql = replace(replace(sql, ') STRICT', ')'), ' NOT NULL', '')
	    WHERE type = 'table'; DELETE FROM sqlite_schema
	    WHERE type = 'trigger'" || return 1
	# How long a query may take depends on the size of the file.
	sqlite3 d.db 'PRAGMA journal_mode = DELETE; PRAGMA page_size = 512;
	    VACUUM' >vacuum
	sqlite3 d.db "PRAGMA ignore_check_constraints = ON; $says_sql"
	"$HPOTUNE" "$@" >out 2>err
	says_status=$?
	is "$says_status $(wc -l <err)" '1 1' "$* after $says_sql: one line"
	like "$(cat err)" "d.db: the database is damaged: $says_want" \
	    'gives the position'
}
for command in ask 'start -q' 'tell 3 loss=1' 'judge 3'; do
	set -- $command
	name=$1
	shift
	says 'UPDATE t_trial SET params = NULL WHERE trial = 3' \
	    't_trial, row 3, column params: is NULL' "$name" d.json "$@"
done
says 'UPDATE t_trial SET trial = 0 WHERE trial = 3' \
    't_trial, row 0, column trial: 0 cannot be' start -q d.json
says 'UPDATE t_counter SET seq = 9223372036854775807' \
    't_counter, column seq: 9223372036854775807 cannot be' enqueue d.json x=1
says "UPDATE t_trial SET state = 'ill' WHERE trial = 1" \
    't_trial, row 1, column state: not a state of a trial' replay d.db
says "UPDATE t_study SET json = x'00'" \
    't_study, column json: not a text' export --format optuna \
    --force -o d.opt d.db
says "DROP VIEW stops; CREATE VIEW stops AS WITH RECURSIVE c(n) AS
    (SELECT 1 UNION ALL SELECT n FROM c) SELECT n AS trial, n AS step,
    'stop' AS verdict FROM c" 'a query does not end' replay d.db
says "DROP VIEW trials; CREATE VIEW trials AS WITH RECURSIVE c(n) AS
    (SELECT 1 UNION ALL SELECT n FROM c) SELECT max(n) AS trial,
    'x' AS state, n AS objective, n AS step, '{}' AS params FROM c" \
    'a query does not end' export --table trials d.db

# The log of a server that was killed: what SQLite would not read any more.
log_says() { # how, what-is-wanted (nothing: no word)
	rm -rf d.db* d.d
	cp -r ../good/cut/d.db* ../good/cut/d.d .
	eval "$1"
	cp d.db-wal was
	"$HPOTUNE" ask d.json >out 2>err
	is "$? $(grep -c 'is damaged' err)" "0 $2" "the log after $1" ||
	    diag "$(cat err)"
}
byte() { # at
	printf '\377\376' | dd of=d.db-wal bs=1 seek="$1" conv=notrunc 2>/dev/null
}
size=$(stat -c %s ../good/cut/d.db-wal)
log_says : 0
log_says 'byte $((size - 50))' 0
log_says 'truncate -s $((size - 50)) d.db-wal' 0
for at in 0 4 17 30; do
	log_says "byte $at" 1
done
for at in 32 36 44 50 100 4100; do
	log_says "byte $((32 + 4120 * 3 + at - 32))" 1
	like "$(cat err)" "d.db-wal is damaged at byte 12392 of $size: what was" \
	    'gives the position'
done
ok 'and it is kept' cmp was d.db-wal.damaged
"$HPOTUNE" ask d.json >out 2>err
is "$? $(cat err)" '0 ' 'it is reported once'

# What is done by chance.
study warm 4 0.001 's/"strategy"/"warm_start": ["d.db"], "strategy"/'
first=${DAMAGE_FIRST:-0}
last=$((first + ${DAMAGE_COUNT:-$(often 90 240)}))
while [ "$first" -lt "$last" ]; do
	most=$((last - first < 30 ? last - first : 30))
	"$TOP_BUILDDIR/tests/tools/damage" "${DAMAGE_SEED:-1}" "$first" "$most" \
	    ../good over cut aims >wrong 2>&1
	is "$? $(head -c 4000 wrong)" '0 ' \
	    "no command dies of a damaged database, or hangs on one: from $first on"
	first=$((first + most))
done

done_testing
