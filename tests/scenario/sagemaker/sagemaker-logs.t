#!/bin/sh
# Logs of training jobs that arrive late, twice, in empty pages and with tokens
# that expire: every report arrives unchanged, once; and where lines are split
# in two, no part of a number is reported.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/standin.sh"

need sqlite3 awk tar gzip
mkdir code said
# What is said is written down in a place of the test's own.
cat >code/train.sh <<END
x=\$SM_HP_X
said=$dir/said/\$HPOTUNE_TRIAL
for step in 1 2 3 4 5; do
	v=\$(awk "BEGIN { printf \"%.6f\", (\$x - 0.3) ^ 2 + 1 / \$step }")
	echo "step \$step begins"
	printf '10%%\\r50%%\\rhpotune: step=%d loss=%s\\n' \$step \$v
	echo "hpotune: note=\$step"
	echo "hpotune: note=\$step"
	echo "{\"step\": \$step, \"extra\": \$v}" >>\$HPOTUNE_METRICS
	echo "loss|\$step|\$v" >>\$said
	echo "extra|\$step|\$v" >>\$said
	sleep 0.1
done
printf 'hpotune: step=6 loss=0.5'
echo "loss|6|0.500000" >>\$said
END

standin --keep "$dir" --faults '{
  "log_delay": { "p": 0.1, "seconds": [0.05, 0.5] }, "log_duplicate": 0.3,
  "log_empty_page": 0.2, "log_token_expired": 0.05 }'

# ---- a few jobs: their streams ----------------------------------------------------

sagemaker_study few.json few 6 "$(sagemaker_block)"
ok 'a study whose logs go wrong' timeout 300 "$HPOTUNE" start few.json --quiet
for trial in 1 2 3 4 5 6; do
	sort said/$trial >want
	sql few.db "SELECT name, step, printf('%.6f', value) FROM metrics
	    WHERE trial = $trial AND name <> 'note'" | sort >got
	ok "trial $trial: every report, once, as it was said" cmp -s want got ||
	    diag "$(diff want got)"
	is "$(sql few.db "SELECT value FROM metrics WHERE trial = $trial AND
	    name = 'note' ORDER BY value")" "$(printf '%.1f\n' 1 1 2 2 3 3 4 4 5 5)" \
	    "trial $trial: equal ones without a step, too"
	is "$("$HPOTUNE" logs few.json $trial | grep -c 'hpotune: step=')" 6 \
	    "trial $trial: its log"
done
unlike "$("$HPOTUNE" logs few.json 1)" 'hpotune-end' \
    'in which our last line is not'

# ---- many: the sweep ----------------------------------------------------------------

kill $standin
reap $standin
standin --virtual '{ "steps": 12, "seconds": 0.6, "term": 0.05, "noise": 0.1,
    "line": "hpotune: step=%STEP% loss=%VALUE%\nchatter" }' --faults '{
  "log_delay": { "p": 0.05, "seconds": [0.05, 0.5] }, "log_duplicate": 0.3,
  "log_empty_page": 0.2, "log_token_expired": 0.02 }'
sagemaker_study many.json many 30 "$(sagemaker_block)"
sed -i 's/"parallel": 2/"parallel": 26/; s/"max_steps": 5/"max_steps": 12/' \
    many.json
server many.json --quiet
reap $server
is $? 0 'thirty jobs, most of them at once'
is "$(sql many.db 'SELECT count(*), count(DISTINCT trial * 100 + step)
    FROM metrics')" '360|360' 'every report once'
ok 'they were swept' grep -q FilterLogEvents aws/requests.jsonl

# ---- to follow one ---------------------------------------------------------------------

sagemaker_study tail.json tail 1 "$(sagemaker_block)"
server tail.json --quiet
logged() {
	timeout 300 "$HPOTUNE" logs tail.json 1 -f >followed 2>/dev/null
}
ok 'a log is followed while the job runs' retry logged
reap $server
is "$(grep -c '^hpotune: step=' followed)" 12 'to its last line'

# ---- the toolkit's halves -----------------------------------------------------------------

kill $standin
reap $standin
cat >toolkit.sh <<'END'
for step in 1 2 3 4 5 6 7 8 9; do
	echo "hpotune: step=$step loss=0.$step$step$step$step$step"
	echo "epoch is over"
done
echo Reporting training SUCCESS
END
standin --keep "$dir" --image-command "sh $dir/toolkit.sh" \
    --faults '{ "log_split": 0.5 }'
sagemaker_study cut.json cut 6 "$(sagemaker_block \
    '"distribution": {"launcher": "toolkit"}')"
sed -i 's/"sh", "train.sh"/"python", "train.py"/' cut.json
: >code/train.py
ok 'a study of the toolkit, which cuts lines in two' \
    timeout 300 "$HPOTUNE" start cut.json --quiet
is "$(sql cut.db "SELECT count(*) FROM metrics WHERE
    printf('%.5f', value) <> '0.' || step || step || step || step || step")" 0 \
    'no half of a number is a report'
n=$(sql cut.db 'SELECT count(*) FROM metrics')
ok "most reports count ($n of 54)" test "$n" -ge 20

done_testing
