#!/bin/sh
# hpotune export: CSV that reads back as recorded, one JSON document, from a
# running or ended study, and files that appear complete or not at all.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

cat >study.json <<'END'
{
  "study": "odd",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": {
    "lr": { "type": "float", "min": 1e-4, "max": 1, "scale": "log" },
    "word": { "type": "choice",
	"values": ["plain", "=1+1", "-x", "@y", "+z", "a,b", "say \"so\"",
	"two\nlines", "", "\ttab"] },
    "momentum": { "type": "float", "min": -1, "max": -0.5,
	"when": { "word": ["plain", "a,b"] } }
  },
  "strategy": { "name": "random", "seed": 3 },
  "trial": { "command": ["true", "{params}"], "max_steps": 10 },
  "backend": { "name": "pretend", "seconds_per_step": 0.001 },
  "limits": { "trials": 60 }
}
END
: >before >after
quietly "$HPOTUNE" start --quiet study.json
is $? 0 'a study is run'

export_() { # file option …
	export_file=$1
	shift
	"$HPOTUNE" export "$@" >"$export_file" 2>err
}

# Nothing is written, one line says why, nothing is left behind.
refused() { # status pattern option …
	refused_status=$1
	refused_pattern=$2
	shift 2
	ls >before
	"$HPOTUNE" export "$@" >out 2>err
	is $? "$refused_status" "$*: exit status"
	is "$(wc -l <err)" 1 "$*: one line"
	like "$(cat err)" "^hpotune: .*$refused_pattern" "$*: says why"
	is "$(wc -c <out)" 0 "$*: nothing on stdout"
	ls >after
	ok "$*: nothing is left" cmp -s before after
}

json() { # file path …: of a document
	json_file=$1
	shift
	for json_path; do
		sqlite3 :memory: \
		    "SELECT json_extract(readfile('$json_file'), '$json_path')"
	done
}

# CSV reads back as it was recorded: NULL is empty, the empty text is not, and
# no digit of a number is lost.
export_ results.csv
is $? 0 'csv: exit status'
is "$(head -n 1 results.csv)" 'trial,state,objective,lr,word,momentum' \
    'csv: the names first'
is "$(sqlite3 -batch :memory: '.mode csv' '.import results.csv found' \
    '.mode list' "ATTACH 'odd.db' AS study" "SELECT count(*)
	FROM study.results AS w JOIN found AS f ON w.trial = f.trial + 0
	WHERE w.state = f.state AND w.objective = f.objective + 0.0
	AND w.lr = f.lr + 0.0 AND w.word = f.word AND
	iif(w.momentum IS NULL, f.momentum = '', w.momentum = f.momentum + 0.0)")" \
    60 'csv: all rows read back the same'
like "$(cat results.csv)" ',"say ""so""",$' 'csv: quotes are doubled'
like "$(cat results.csv)" ',"a,b",-0\.[0-9]+$' 'csv: a comma stands in quotes'
like "$(cat results.csv)" ',"two$' 'csv: so does a line break'
like "$(cat results.csv)" ',"",$' 'csv: the empty text is not NULL'
like "$(cat results.csv)" ',=1\+1,$' 'csv: text is written as it is'
unlike "$(cat results.csv)" "$(printf '\r')" 'csv: lines end with a newline'

# For a spreadsheet, what it would compute is marked; numbers never are.
export_ sheet.csv --spreadsheet
is "$(grep -Ec ",\"'([=+@-]|	)" sheet.csv)" "$(sql odd.db "SELECT count(*)
    FROM results WHERE word GLOB '[=+@-]*' OR word GLOB char(9) || '*'")" \
    '--spreadsheet: each such text is marked'
unlike "$(cat sheet.csv)" ',([=@+]|-x|	)' '--spreadsheet: none is left'
like "$(cat sheet.csv)" ',-0\.[0-9]+$' '--spreadsheet: numbers are not'

# Every view, in both formats, has as many rows as in the database.
for view in $(sql odd.db "SELECT name FROM sqlite_schema WHERE type = 'view'
    AND name NOT GLOB 't_*' ORDER BY name"); do
	rows=$(sql odd.db "SELECT count(*) FROM $view")
	export_ out.json --table "$view" --json
	is "$(sqlite3 :memory: \
	    "SELECT json_array_length(readfile('out.json'))")" "$rows" \
	    "--table $view --json"
	export_ out.csv --table "$view"
	is "$(sqlite3 -batch :memory: '.mode csv' '.import out.csv found' \
	    'SELECT count(*) FROM found' 2>/dev/null)" "$rows" \
	    "--table $view"
done

# The whole study as one document.
export_ all.json --format json
is "$(json all.json '$.study.name' '$.study.settings.parameters.lr.max' \
    '$.trials[59].trial')" 'odd
1
60' 'json: the study, its settings, and the trials'
# The lists of each trial, as of the views, in this order.
lists() { # key columns
	sqlite3 :memory: "SELECT t.value ->> 'trial', $2 FROM
	    json_each(readfile('all.json'), '\$.trials') AS t,
	    json_each(t.value, '\$.$1') AS l ORDER BY 1, l.key"
}
is "$(lists curve "l.value ->> 'step', l.value ->> 'value'")" \
    "$(sql odd.db 'SELECT * FROM curves ORDER BY trial, step')" 'json: curves'
is "$(lists attempts "l.value ->> 'attempt', l.value ->> 'end_class'")" \
    "$(sql odd.db 'SELECT trial, attempt, end_class FROM attempts
    ORDER BY trial, attempt')" 'json: attempts'
is "$(lists stops "l.value ->> 'step', l.value ->> 'threshold'")" \
    "$(sql odd.db 'SELECT trial, step, threshold FROM stops ORDER BY 1, 2')" \
    'json: stops'
is "$(sqlite3 :memory: "SELECT value ->> 'trial', value ->> '$.params.lr',
    value ->> 'objective' FROM json_each(readfile('all.json'), '\$.trials')")" \
    "$(sql odd.db 'SELECT trial, lr, objective FROM results')" \
    'json: parameters and values'

# Numbers that are not finite, and a study of several objectives.
cat >wide.json <<'END'
{
  "study": "wide",
  "objectives": [ { "metric": "loss", "goal": "minimize" },
	{ "metric": "size", "goal": "maximize" } ],
  "constraints": [ { "metric": "ms", "max": 5 } ],
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": "random",
  "limits": { "trials": 9 }
}
END
mkdir wide
mv wide.json wide/study.json
quietly "$HPOTUNE" ask wide/study.json
quietly "$HPOTUNE" tell wide/study.json 1 step=1 loss=0.5 size=3 ms=7 --done
quietly "$HPOTUNE" ask wide/study.json
quietly "$HPOTUNE" tell wide/study.json 2 step=1 loss=inf
"$HPOTUNE" export wide/study.json --json >all.json
is "$(json all.json '$.trials[0].outcomes' '$.trials[1].state' \
    '$.trials[1].curve')" \
    '[{"metric":"loss","goal":"minimize","min":null,"max":null,"value":0.5,"violation":null},{"metric":"size","goal":"maximize","min":null,"max":null,"value":3,"violation":null},{"metric":"ms","goal":"keep","min":null,"max":5,"value":7,"violation":2}]
running
[{"step":1,"value":null}]' \
    'json: outcomes, a running trial, and what is infinite is null'
is "$("$HPOTUNE" export wide/wide.db --table curves | tail -n 1)" 2,1,inf \
    'csv: what is infinite is inf'

# Every metric goes along: its last value as a column, its curve in JSON, and as
# an attribute of Optuna's trials.  One whose name is taken is metrics.NAME; a
# step that comes again has its newest value.
mkdir many
cat >many/study.json <<'END'
{
  "study": "many",
  "objective": { "metric": "acc", "goal": "maximize" },
  "parameters": { "loss": { "type": "int", "min": 1, "max": 9 } },
  "strategy": "random",
  "limits": { "trials": 9 }
}
END
quietly "$HPOTUNE" ask many/study.json
is "$(sql many/many.db 'SELECT * FROM results' | cut -d '|' -f 1-3)" \
    '1|running|' 'results: before any metric'
quietly "$HPOTUNE" tell many/study.json 1 step=1 acc=0.5 loss=3
quietly "$HPOTUNE" tell many/study.json 1 step=2 acc=0.6 loss=2 Acc=1
quietly "$HPOTUNE" tell many/study.json 1 step=2 acc=0.7 loss=1.5 --done
quietly "$HPOTUNE" ask many/study.json
"$HPOTUNE" export many/many.db >all.csv
is "$(sed -n 1p all.csv)" \
    'trial,state,objective,loss,metrics.loss,metrics.Acc' \
    'csv: a column for each metric'
like "$(sed -n 2p all.csv)" '^1,completed,0\.7,[1-9],1\.5,1(\.0)?$' \
    'csv: their last values'
like "$(sed -n 3p all.csv)" '^2,running,,[1-9],,$' 'csv: none yet'
is "$(sql many/many.db 'SELECT "metrics.loss", acc FROM results WHERE
    trial = 1')" '1.5|0.7' 'view results: the same, the objective last'
is "$(sql many/many.db 'SELECT * FROM last_reports')" '1|acc|2|0.7
1|loss|2|1.5
1|Acc|2|1.0' 'view last_reports'
"$HPOTUNE" export many/many.db --json >all.json
is "$(json all.json '$.trials[0].metrics' '$.trials[1].metrics')" \
    '[{"name":"loss","step":1,"value":3},{"name":"loss","step":2,"value":1.5},{"name":"Acc","step":2,"value":1}]
[]' 'json: metrics by step'
ok 'optuna: a storage' \
    "$HPOTUNE" export many/many.db --format optuna --output many/optuna.db
is "$(sql many/optuna.db "SELECT key, value_json FROM trial_user_attributes
    WHERE key NOT LIKE 'hpotune%' ORDER BY key")" 'Acc|1
loss|1.5' 'optuna: metrics are attributes'
# A study that an older program wrote last has the columns, too.
sqlite3 many/many.db 'PRAGMA user_version = 24; DROP VIEW results;
    DROP VIEW t_results; DROP VIEW t_last; DROP VIEW last_reports;
    CREATE VIEW t_results AS SELECT 1; CREATE VIEW results AS SELECT 1'
ok 'csv: of an older file, too' \
    sh -c '"$HPOTUNE" export many/many.db | cmp - all.csv'
"$HPOTUNE" export wide/wide.db >out
is "$(head -n 2 out | cut -d , -f 5-)" 'loss,size,ms
0.5,3,7' 'csv: several objectives have columns'

# A file, whole or not at all, and nothing in the place of another one.
ok '--output: a new file' "$HPOTUNE" export --output new.csv
ok '--output: the same text' cmp results.csv new.csv
refused 1 'new.csv exists already: --force replaces it' -o new.csv
ok '--force: the file is replaced' \
    "$HPOTUNE" export -o new.csv --force --table trials
is "$(head -n 1 new.csv | cut -d , -f 1-2),$(wc -l <new.csv)" trial,state,61 \
    '--force: by the new one'
ok '--output -: standard output' \
    sh -c '"$HPOTUNE" export --output - | cmp - results.csv'
refused 2 'is the study itself' -o odd.db --force
refused 2 'is the study itself' -o study.json
refused 1 'not a regular file' -o odd.d --force
refused 1 'No such file' -o nowhere/x.csv
refused 2 '--force requires --output' --force
refused 2 'did you mean json' --format jsn
refused 2 'json is --format json, not csv' --format csv --json
refused 2 '--spreadsheet requires --format csv' --spreadsheet --json
refused 2 'no such view: did you mean results' --table resuls
refused 2 'no such view' --table t_trial
refused 2 'requires --output FILE.db' --format optuna
refused 2 '--table requires --format csv or json' -f optuna -o o.db --table trials

# A storage of Optuna is written whole, and only where no other one is in use.
ok '--format optuna: a new file' "$HPOTUNE" export --format optuna -o optuna.db
is "$(sql optuna.db "SELECT (SELECT version_num FROM alembic_version),
    schema_version, (SELECT count(*) FROM trials) FROM version_info")" \
    'v3.2.0.a|12|60' '--format optuna: its schema and its trials'
is "$(sql optuna.db 'PRAGMA integrity_check; PRAGMA foreign_key_check;
    PRAGMA journal_mode')" 'ok
delete' '--format optuna: is sound'
refused 1 'exists already' study.json -f optuna -o optuna.db
mkdir million
cat >million/study.json <<'END'
{ "study": "million", "objective": { "metric": "m", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "limits": { "trials": 1 } }
END
quietly "$HPOTUNE" ask million/study.json
quietly "$HPOTUNE" tell million/million.db 1 step=1 m=1
quietly "$HPOTUNE" tell --done million/million.db 1
sqlite3 million/million.db "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL
    SELECT i + 1 FROM n WHERE i < 900000) INSERT INTO t_block
    (name_id, trial, seq, attempt, reports, step,
	last_step, old, time_us, last_us, steps, seqs, times, v0)
    SELECT 1, 1, i + 100, 1, 1, i, i, 0, 1, 1, 0, 0, 0, 0.5 FROM n;
    UPDATE t_trial SET last_step = 900000, reports = 900000"
quietly "$HPOTUNE" export -f optuna -o million.db million/million.db
is "$(sql million.db 'SELECT count(*) FROM trial_intermediate_values')" 900000 \
    '--format optuna: a study of many reports'
rm -r million million.db
: >optuna.db-wal
refused 1 'optuna.db-wal exists: another program uses optuna.db' \
    study.json -f optuna -o optuna.db --force
rm optuna.db-wal
ok '--format optuna --force' \
    "$HPOTUNE" export study.json -f optuna -o optuna.db --force
(
	ulimit -f 140
	trap '' XFSZ
	"$HPOTUNE" export study.json -f optuna -o big.db
) >out 2>err
is $? 1 '--format optuna: a file that cannot be whole'
like "$(cat err)" '^hpotune: big.db: ' '--format optuna: names it'
is "$(ls | grep big)" '' '--format optuna: and is not left behind'
if [ -c /dev/full ]; then
	"$HPOTUNE" export >/dev/full 2>err
	is "$?,$(cat err)" \
	    '1,hpotune: standard output: No space left on device' \
	    'a full disk is an error'
fi
# A file that may not become as large, in blocks of 512 bytes: those of a
# reader of the study may.
(
	ulimit -f 70
	trap '' XFSZ
	"$HPOTUNE" export --json -o big.json
) >out 2>err
is "$?,$(cat err)" '1,hpotune: big.json: File too large' \
    'a file that cannot be whole'
is "$(ls | grep big)" '' 'is not left behind'

# A study that runs, and whose server goes on.
mkdir runs
sed -e 's/"odd"/"runs"/' -e 's/0.001/0.02/' study.json >runs/study.json
server runs/study.json --quiet
retry sql_is runs/runs.db \
    "SELECT count(*) > 0 FROM trials WHERE state = 'completed'" 1
ok 'a study that runs is exported' "$HPOTUNE" export runs/study.json --json \
    -o runs.json
is "$(sqlite3 :memory: "SELECT json_array_length(x, '\$.trials') =
    x ->> '\$.study.trials' FROM (SELECT readfile('runs.json') AS x)")" 1 \
    'with all its trials'
reap "$server"
is $? 0 'its server has not minded'

# A long study does not stand in memory.
if (ulimit -v 65536 && "$HPOTUNE" version) >/dev/null 2>&1; then
	cp odd.db long.db
	sqlite3 long.db <<'END'
PRAGMA journal_mode = DELETE;
BEGIN;
INSERT INTO t_trial (trial, state, cause, objective, last_step, reports,
    steps_run, steps_skipped, seconds, attempts, failures, free_retries, alone,
    not_before_us, begin_seq, source, params)
WITH RECURSIVE n (i) AS
    (SELECT 61 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
SELECT i, 'waiting', 'none', i / 7.0, 1, 2, 2, 0, 1, 1, 0, 0, 0, 0, 0,
    'strategy', '{"lr":0.5,"word":"plain"}' FROM n;
INSERT INTO t_block (name_id, trial, seq, attempt, reports, step,
    last_step, old, time_us, last_us, steps, seqs, times, v0)
SELECT 1, trial, 10 * trial + s, 1, 1, s, s, 0, 0, 0, 0, 0, 0, trial / 7.0
    FROM t_trial,
    (SELECT 0 AS s UNION ALL SELECT 1) WHERE trial > 60;
INSERT INTO t_attempt (trial, attempt, uuid, state, backend, slot, log_offset,
    metrics_offset, log_skip, metrics_skip, max_rss, cpu_us)
SELECT trial, 1, 'x', 'ended', 'pretend', 0, 0, 0, 0, 0, 0, 0 FROM t_trial
    WHERE trial > 60;
COMMIT;
END
	(ulimit -v 65536 && "$HPOTUNE" export long.db --json -o long.json)
	is $? 0 'a document larger than the memory is written'
	ok 'it is' test "$(wc -c <long.json)" -gt 67108864
	like "$(tail -c 2000 long.json)" '\{"trial":100000,"state":"waiting"' \
	    'and is whole'
else
	skip 'a long study does not stand in memory' 'memory cannot be limited'
fi

done_testing
