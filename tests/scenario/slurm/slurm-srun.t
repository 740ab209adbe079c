#!/bin/sh
# A program that srun has started from the command of the study: srun ends what it has
# started by SIGKILL, but a stop reaches the program, once on each node, with its grace.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm.sh"
need sqlite3
cluster_up

cat >trial <<'END'
#!/bin/sh
saved() {
	sleep 0.5
	echo "$SLURM_PROCID" >>"$HPOTUNE_CHECKPOINT_DIR/saved"
	echo bye
	[ "$DO" = stay ] || exit 0
}
trap saved TERM
up=$HPOTUNE_OUTPUT_DIR/up
: >"$up-$SLURM_PROCID"
until [ "$(ls "$up"-* | wc -l)" = "$SLURM_NTASKS" ]; do sleep 0.05; done
[ "$SLURM_PROCID" != 0 ] || echo "hpotune: step=1 loss=$HPOTUNE_TRIAL"
until [ "$DO$HPOTUNE_TRIAL" = both1 ] &&
    [ -e "$HPOTUNE_OUTPUT_DIR/../../2/checkpoint/saved" ]; do
	sleep 0.1
done
END
chmod +x trial

stops() { # study command keys-of-trial keys-of-backend [trials upper]
	slurm_study "$1" "\"trials\": ${5:-1}, \"parallel\": 2" \
	    "\"retries\": 0, \"grace\": $3" "$4" \
	    "{ \"rule\": \"threshold\", \"upper\": ${6:-0} }"
	sed -i "s|\"command\": .*{x}\"\]|\"command\": [$2]|" "$1.json"
	timeout 600 "$HPOTUNE" start "$1.json" --quiet >out 2>err || diag "$(cat err)"
}
saved() { # study
	sort "$1.d/trials/1/checkpoint/saved" | tr '\n' ' '
}
is_stopped() { # study
	is "$(sql "$1.db" 'SELECT trials.state, end_class FROM trials
	    JOIN attempts USING (trial) WHERE trial = 1')" 'stopped|stopped' 'it is stopped'
	unlike "$(cat "$1.d/trials/1/attempt-1/log")" 'forcing job termination' \
	    'srun heard nothing'
}

stops one '"srun", "./trial"' 60 ''
is "$(saved one)" '0 ' 'srun: the program saves, once'
is_stopped one
stops shell '"sh", "-c", "srun ./trial; exit 3"' 60 ''
is "$(saved shell)" '0 ' 'srun below a shell: the program saves, once'
is_stopped shell
stops inner '"srun", "sh", "-c", "./trial; exit 3"' 60 ''
is "$(saved inner)" '0 ' 'a shell below srun: the program saves, once'
is_stopped inner
printf '#!/bin/sh\n./trial | cat\n' >reads
chmod +x reads
stops reads '"srun", "./reads"' 60 ''
is "$(saved reads)" '0 ' 'a pipe below srun: the program saves, once'
like "$(cat reads.d/trials/1/attempt-1/log)" bye 'and who reads it reads all'
is_stopped reads
stops ranks '"srun", "--ntasks=2", "./trial"' 60 ', "extra": ["--cpus-per-task=1", "--ntasks-per-core=1", "--mincpus=2"]'
is "$(saved ranks)" '0 1 ' 'two tasks on one node: both save'
is_stopped ranks
# A variable with a name of Slurm's, but too long for one.
long=$(printf '%070d' 0)
stops nodes '"srun", "./trial"' "60, \"env\": { \"SCANCEL_$long\": \"1\" }" \
    ', "nodes": 2'
is "$(saved nodes)" '0 1 ' 'on two nodes: both save'
is_stopped nodes

# Two trials of one job: only one of them is stopped.
stops both '"srun", "--ntasks=1", "--overlap", "./trial"' \
    '60, "env": { "DO": "both" }' ', "trials_per_job": 2' 2 1.5
is "$(sql both.db 'SELECT state FROM trials ORDER BY trial' | tr '\n' ' ')" \
    'completed stopped ' 'of two trials of one job one is stopped'
is "$(cat both.d/trials/?/checkpoint/saved)" 0 'and is the only one that was told'

# The job goes on after it.
none_left() { # study
	! grep -lz "^HPOTUNE_CHECKPOINT_DIR=$dir/$1\.d/" /proc/[0-9]*/environ \
	    >/dev/null 2>&1
}
stops stay '"srun", "--ntasks=1", "./trial"' '2, "env": { "DO": "stay" }' \
    ', "trials_per_job": 2'
is "$(saved stay)" '0 ' 'one that does not end is told once'
ok 'and killed after its grace' retry none_left stay
done_testing
