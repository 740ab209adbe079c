#!/bin/sh
# kill -9 of the server and of the controller of Slurm at random moments over a
# study, with answers of sbatch that are lost: nothing runs twice, nothing is
# lost, no job and no open row is left.  SLURM_KILLS=200 kills more often.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm.sh"
need sqlite3
cluster_up
PATH=$(cluster wrap):$PATH
kills=${SLURM_KILLS:-30}
trials=$((kills + 10))

# A ledger of its own: when each run began and ended.
cat >trial <<'END'
#!/bin/sh
ledger=${0%/*}/ledger
echo "begin $HPOTUNE_TRIAL $HPOTUNE_ATTEMPT_UUID $$" >>"$ledger"
for step in 1 2 3 4 5; do
	echo "hpotune: step=$step loss=$1"
	echo "report $HPOTUNE_TRIAL $HPOTUNE_ATTEMPT_UUID $step" >>"$ledger"
	sleep 0.2
done
echo "end $HPOTUNE_TRIAL $HPOTUNE_ATTEMPT_UUID $$" >>"$ledger"
END
chmod +x trial
: >ledger
seed=${SLURM_SEED:-$$}
diag "SLURM_SEED=$seed"
# The next number below $1 in $random.
next() {
	seed=$(((seed * 1103515245 + 12345) % 2147483648))
	random=$((seed / 65536 % $1))
}

slurm_study kills "\"trials\": $trials, \"parallel\": 8" '"grace": 5' ''
server kills.json
n=0
while [ $n -lt "$kills" ]; do
	n=$((n + 1))
	next 20
	sleep "$((random / 10)).$((random % 10))"
	next 5
	if [ "$random" -lt 2 ]; then
		printf . >>cluster/lose
		cluster crash
		next 10
		sleep "0.$random"
		cluster controller
	elif kill -0 "$server" 2>/dev/null; then
		kill -9 "$server"
		reap "$server"
		server kills.json
	else
		break
	fi
done
diag "$n kills"
reap "$server" || "$HPOTUNE" start kills.json --quiet >out 2>err ||
    diag "$(cat err)"

diag "$(sql kills.db "SELECT trial, state, why FROM trials
    WHERE state <> 'completed'")"
is "$(sql kills.db "SELECT count(*) FROM trials WHERE state = 'completed'")" \
    $trials 'all trials complete'
is "$(sql kills.db 'SELECT count(*) FROM attempts WHERE ended IS NULL')" 0 \
    'no row is open'
is "$(awk '$1 == "begin" { print $3 }' ledger | sort | uniq -d)" '' \
    'no attempt has run twice'
is "$(awk '$1 == "begin" { if (open[$2]++) print $2 }
    $1 == "end" { open[$2]-- }' ledger)" '' 'no trial has run twice at once'
is "$(awk '$1 == "end" { print $2 }' ledger | sort -n | uniq | wc -l)" \
    $trials 'the ledger has all of them'
is "$(sql kills.db 'SELECT count(*) FROM (SELECT DISTINCT trial, step
    FROM metrics)')" $((5 * trials)) 'no report is lost'
ok 'no job is left' retry no_job_left

done_testing
