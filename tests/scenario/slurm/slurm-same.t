#!/bin/sh
# Preemption and failed nodes change nothing of what a study learns: trials that
# continue from their checkpoints have the same curves, and the same one is the
# best, as without.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm.sh"
need sqlite3
cluster_up

# Gradient descent with momentum; weight and speed are its checkpoint.
cat >trial <<'END'
#!/bin/sh
saved=$HPOTUNE_CHECKPOINT_DIR/state
[ ! -e "$saved" ] || read -r step w v <"$saved"
: "${step:=0}" "${w:=4}" "${v:=0}"
while [ "$step" -lt 30 ]; do
	step=$((step + 1))
	now=$(awk -v w="$w" -v v="$v" -v lr="$1" 'BEGIN {
	    v = 0.8 * v - lr * (2 * (w - 1) + 0.5 * cos(5 * w))
	    w += v
	    printf "%.17g %.17g %.17g", w, v, (w - 1) ^ 2 + 0.1 * sin(5 * w) }')
	w=${now%% *} v=${now#* }
	loss=${v#* } v=${v% *}
	echo "hpotune: step=$step loss=$loss"
	echo "$step $w $v" >"$saved.new"
	mv "$saved.new" "$saved"
	sleep 0.15
	[ "$step" != 20 ] || while [ -e "${0%/*}/hold" ]; do sleep 0.1; done
done
END
chmod +x trial
curves() { # study
	sql "$1.db" 'SELECT trial, step, value FROM curves ORDER BY 1, 2'
}

slurm_study quiet '"trials": 10, "parallel": 8' '"grace": 5, "retries": 0' ''
ok 'a study without faults' quietly timeout 300 "$HPOTUNE" start quiet.json
is "$(curves quiet | wc -l)" 300 'its curves are whole'

slurm_study rough '"trials": 10, "parallel": 8' '"grace": 5, "retries": 0' ''
# No trial ends before a node has failed under it.
touch hold
server rough.json
ok 'the same one runs' retry sql_is rough.db \
    "SELECT count(*) = 8 FROM trials WHERE state = 'running' AND reports > 3" 1
for node in n1 n3; do
	sbatch --partition=urgent --nodelist=$node --cpus-per-task=2 \
	    --output=/dev/null --wrap='sleep 1' >>urgent
done
ok 'jobs are preempted' retry sql_is rough.db \
    "SELECT count(*) > 0 FROM attempts WHERE end_class = 'spot'" 1
cluster fail n2
ok 'a node fails under others' retry sql_is rough.db \
    "SELECT count(*) > 0 FROM attempts WHERE end_class = 'lost'" 1
rm hold
cluster heal n2
reap "$server"
is $? 0 'the study ends'
is "$(sql rough.db "SELECT count(*) FROM attempts
    WHERE end_class IN ('spot', 'lost')")" "$(sql rough.db 'SELECT count(*) - 10 FROM attempts')" \
    'every further attempt is one of these'
curves quiet >quiet.curves
curves rough >rough.curves
is "$(diff quiet.curves rough.curves)" '' 'the curves are the same'
is "$("$HPOTUNE" best rough.json --json | grep -o '"trial": *[0-9]*' | head -1)" \
    "$("$HPOTUNE" best quiet.json --json | grep -o '"trial": *[0-9]*' | head -1)" \
    'the best trial is the same'
ok 'no job is left' retry no_job_left
done_testing
