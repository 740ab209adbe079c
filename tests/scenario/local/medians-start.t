#!/bin/sh
# View medians after a start: rows that the last server could not write any more are
# written, those that are right are not read from all reports again.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

cat >trial.sh <<'END'
n=$HPOTUNE_TRIAL
if [ "$n" != 3 ] || [ ! -e failed ]; then
	for i in 1 2 3 4 5; do echo "hpotune: step=$i v=$n$i"; done
	[ "$n" = 3 ] || exit 0
	: >failed
	exit 1
fi
# Another attempt from the start, which reports what is greater.
for i in 1 2 3; do echo "hpotune: step=$i v=9$i"; done
until [ -e go ]; do sleep 0.05; done
END
study() { # trials
	cat >st.json <<END
{ "study": "st", "objective": { "metric": "v", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "random", "seed": 1 }, "stopping": "none",
  "trial": { "command": ["sh", "trial.sh"], "retries": 1 },
  "limits": { "trials": $1, "parallel": 1 } }
END
}
# Each odd number of trials has one in the middle: the last value up to the step.
right() {
	sql st.db 'WITH at AS (SELECT s.step, c.trial, (SELECT value FROM curves AS k
	        WHERE k.trial = c.trial AND k.step <= s.step
	        ORDER BY k.step DESC LIMIT 1) AS v
	    FROM (SELECT DISTINCT step FROM curves) AS s
	    JOIN (SELECT trial, max(step) AS last FROM curves GROUP BY trial) AS c
	    ON c.last >= s.step),
	  ranks AS (SELECT step, v, row_number() OVER (PARTITION BY step ORDER BY v)
	    AS rank, count(*) OVER (PARTITION BY step) AS n FROM at)
	  SELECT step, n, v FROM ranks WHERE rank = n / 2 + 1 ORDER BY step'
}
rows() {
	sql st.db 'SELECT step, trials, median FROM medians ORDER BY step'
}

study 3
server st.json
ok 'the last trial reports from the start again' retry sql_is st.db \
    "SELECT count(*) FROM metrics WHERE trial = 3 AND attempt = 2" 3
kill -9 "$server"
reap "$server" 2>/dev/null
# As the server would have left them, had it been killed before they were written.
sqlite3 st.db "UPDATE t_median SET median = 31 WHERE step <= 3"
touch go
ok 'the next server' quietly "$HPOTUNE" start --quiet st.json
is "$(rows)" "$(right)" 'has written what the second attempt has changed'
like "$(rows)" '^3[|]3[|]23' 'of three trials'

sqlite3 st.db 'DELETE FROM t_median WHERE step = 2;
    UPDATE t_median SET trials = 2, median = 7 WHERE step = 4;
    UPDATE t_median SET median = 8 WHERE step = 5'
study 5
ok 'two more trials' quietly "$HPOTUNE" start --quiet st.json
is "$(rows)" "$(right)" 'all rows are right, of which some were missing or old'

sqlite3 st.db 'UPDATE t_median SET median = 8 WHERE step = 5;
    UPDATE t_median SET trials = 4 WHERE step = 4'
ok 'nothing to do' quietly "$HPOTUNE" start --quiet st.json
is "$(sql st.db 'SELECT median FROM medians WHERE step = 5')" 8.0 \
    'what has all its trials is not written again'
is "$(rows | grep -v ^5)" "$(right | grep -v ^5)" 'and what has not is'

done_testing
