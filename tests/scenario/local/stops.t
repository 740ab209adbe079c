#!/bin/sh
# Every number of the view stops is computed again, in SQL, from the reports as
# they were at the judgement: several workers, late-blooming curves, gaps and
# NaN, attempts that repeat steps, reports after the stop, and servers killed in
# between.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

need sqlite3 perl

cat >study.json <<'END'
{ "study": "s",
  "objective": { "metric": "score", "goal": "maximize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "random", "seed": 11 },
  "stopping": [ { "rule": "median", "second_look": 0 },
      { "rule": "threshold", "lower": -0.4 } ],
  "trial": { "command": ["perl", "trial.pl", "{x}"], "max_steps": 16 },
  "limits": { "trials": 40, "parallel": 5 } }
END
cat >trial.pl <<'END'
$| = 1;
my ($x, $trial, $attempt) = ($ARGV[0], @ENV{"HPOTUNE_TRIAL", "HPOTUNE_ATTEMPT"});
my $saved = "$ENV{HPOTUNE_CHECKPOINT_DIR}/step";
my ($first, $late) = (0, -1);
if (open F, $saved) { $first = <F> - 3; }
$SIG{TERM} = sub { $late = 0 };
srand($trial);
for my $step (0 .. 15) {
	my $noise = rand() * 0.3;
	next if $step < $first || $trial % 5 == 0 && $step % 2;
	my $score = $x * (1 - exp(-$step / 4)) + $noise + $attempt / 100;
	$score = 0.03 * $step * $step * $x if $trial % 6 == 0;
	$score = "nan" if $trial % 7 == 0 && $step == 9;
	$score = -0.5 if $trial == 13 && $step == 2;
	print "hpotune: step=$step score=$score\n";
	open F, ">$saved"; print F $step; close F;
	# The server may be late, or be killed: this one waits for its stop.
	if ($trial == 13 && $step == 2) {
		select(undef, undef, undef, 0.02) until $late >= 0;
	}
	exit 3 if $trial % 4 == 1 && $attempt == 1 && $step >= 8;
	exit 1 if $late >= 0 && $late++ > 2;
	select(undef, undef, undef, 0.01 + 0.01 * ($trial % 3));
}
END

# Four servers, each found dead by the next.
for want in 6 14 22; do
	server study.json
	retry sql_is s.db "SELECT count(*) >= $want FROM trials
	    WHERE state IN ('completed', 'stopped')" 1
	kill -9 $server
	reap $server 2>/dev/null
done
ok 'the study runs to its end' "$HPOTUNE" start --quiet study.json

is "$(sql s.db "SELECT count(*) FROM trials
    WHERE state NOT IN ('completed', 'stopped')")" 0 'all trials have a result'
is "$(sql s.db 'SELECT max(attempts) > 1 FROM trials')" 1 \
    'some continued from a checkpoint'
is "$(sql s.db "SELECT count(DISTINCT verdict) FROM stops
    WHERE rule = 'median' AND verdict <> 'late'")" 2 \
    'some were stopped, some suspended'

# Of each judgement: the newest report of each step of each other trial that
# was recorded before it, the last of these steps up to the judged one, of
# trials that had come as far; a report that is not finite is in no pool.
cat >check.sql <<'END'
CREATE TEMP TABLE judged AS
SELECT seq, trial, step, value, threshold, pool FROM t_stop
WHERE rule = 'median';
CREATE TEMP TABLE pool AS
SELECT j.seq, m.value, row_number() OVER (PARTITION BY j.seq
    ORDER BY m.value) AS place, count(*) OVER (PARTITION BY j.seq) AS n
FROM judged AS j JOIN t_metric AS m
ON m.name_id = 1 AND m.trial <> j.trial AND m.seq < j.seq AND m.seq = (
    SELECT o.seq FROM t_metric AS o
    WHERE o.name_id = 1 AND o.trial = m.trial AND o.seq < j.seq
    AND o.step <= j.step ORDER BY o.step DESC, o.seq DESC LIMIT 1)
WHERE m.value IS NOT NULL AND j.step <= (SELECT max(o.step)
    FROM t_metric AS o
    WHERE o.name_id = 1 AND o.trial = m.trial AND o.seq < j.seq);
CREATE TEMP TABLE want AS
SELECT seq, avg(value) AS median, max(n) AS n FROM pool
WHERE place IN ((n + 1) / 2, (n + 2) / 2) GROUP BY seq;
END
recomputed() {
	sqlite3 -batch -bail s.db ".read check.sql" "$1"
}
is "$(recomputed "SELECT count(*) FROM judged")" \
    "$(recomputed "SELECT count(*) FROM judged JOIN want USING (seq)
	WHERE pool = n")" 'pool: the trials that had come as far'
is "$(recomputed "SELECT j.* FROM judged AS j JOIN want USING (seq)
    WHERE abs(threshold - median) > 1e-12")" '' 'threshold: their median'
is "$(recomputed "SELECT j.* FROM judged AS j WHERE value IS NOT (
    SELECT m.value FROM t_metric AS m WHERE name_id = 1
    AND m.trial = j.trial AND m.step = j.step AND m.seq < j.seq
    ORDER BY m.seq DESC LIMIT 1)")" '' 'value: what was reported'
is "$(recomputed "SELECT * FROM judged WHERE value >= threshold")" '' \
    'equal is not worse'
is "$(recomputed "SELECT * FROM judged WHERE 6 > (
    SELECT count(DISTINCT step) FROM t_metric AS m WHERE name_id = 1
    AND m.trial = judged.trial AND m.seq < judged.seq)")" '' \
    'no trial is judged before the warm-up'
is "$(sql s.db "SELECT trial, step FROM stops WHERE rule = 'median'
    GROUP BY trial, step HAVING count(*) > 1")" '' 'no step is judged twice'
is "$(sql s.db "SELECT a.trial FROM t_stop AS a JOIN t_stop AS b USING (trial)
    WHERE a.verdict = 'stop' AND b.seq > a.seq")" '' \
    'nothing is judged after the stop'
is "$(sql s.db "SELECT count(*) > 0 FROM t_stop AS s JOIN t_metric AS m
    USING (trial) WHERE verdict = 'stop' AND name_id = 1 AND m.seq > s.seq")" \
    1 'reports after the stop are recorded'
is "$(sql s.db "SELECT rule, verdict, step, value, threshold FROM t_stop
    WHERE trial = 13 AND rule <> 'median'")" 'threshold|stop|2|-0.5|-0.4' \
    'the second rule of the list stops, too'

done_testing
