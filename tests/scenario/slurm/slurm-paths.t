#!/bin/sh
# Paths are data: Slurm's patterns, quotes, blanks, backslashes and ends of lines in
# the folder of the study and in that of the trials.  And nodes on which no job can
# begin end the study, with the reason.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm.sh"
need sqlite3
cluster_up

cat >"$dir/trial" <<'END1'
#!/bin/sh
pwd >"$HPOTUNE_OUTPUT_DIR/where"
echo "hpotune: loss=$1"
END1
chmod +x trial
runs_in() { # folder what [keys-of-backend]
	mkdir -p "$dir/$1"
	cp "$dir/trial" "$dir/$1"
	cd "$dir/$1" || exit 99
	slurm_study p '"trials": 2, "parallel": 2' '"retries": 0' "${3-}"
	timeout 600 "$HPOTUNE" start p.json >out 2>err
	is "$? $(sql p.db "SELECT count(*) FROM trials
	    WHERE state = 'completed'")" '0 2' "$2"
	is "$(cat p.d/trials/1/output/where)" "$PWD" "$2: and the trial in it"
	ok "$2: slurm.out is in the folder of the attempt" \
	    [ -e p.d/trials/1/attempt-1/slurm.out ]
	cd "$dir" || exit 99
}
runs_in '50%j' 'a field of a pattern'
runs_in 'a\b %% %5j' 'a backslash, and a field'
runs_in "-e \"it's\" \$HOME \`id\` ; #" 'quotes and a dash'
runs_in 'two
lines' 'the end of a line' ', "trials_per_job": 2'
runs_in shared 'folders of trials with a field' \
    ", \"dir\": \"$dir/it's %x\", \"trials_per_job\": 2"

# ---- no job can begin ---------------------------------------------------------------
# Their programs are damaged while they wait.
drain() {
	for n in n1 n2 n3 n4; do
		scontrol update nodename=$n state="$1" reason=test
	done
}
wait_all() {
	[ "$(squeue --me --noheader --states=PENDING | wc -l)" -eq 12 ]
}
drain drain
slurm_study never '"trials": 12, "parallel": 12' '"retries": 0' ''
server never.json
ok 'twelve jobs wait' retry wait_all
echo x >>"$(ls never.d/bin/hpotune-shim-*)"
drain resume
reap "$server"
is $? 1 'where no job begins the study ends'
like "$(cat server.err server.out)" \
    '[0-9]* jobs in a row have not begun, on several nodes: .*bin is another one' \
    'with the reason'
is "$(sql never.db "SELECT count(*) FROM trials WHERE state = 'failed'")" 0 \
    'no trial has failed for it'
jobs=$(sql never.db 'SELECT count(*) FROM attempts')
ok "and $jobs jobs have been enough" [ "$jobs" -le 24 ]
ok 'none is left' retry no_job_left

done_testing
