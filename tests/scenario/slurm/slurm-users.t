#!/bin/sh
# Two users: in a group's scratch folder without the sticky bit one can put another
# folder in the place of that of a study.  Nothing of his is read or executed: not
# by the server, not by a job that was submitted before, and it is said.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm.sh"
need sqlite3 setpriv
[ "$(id -u)" -eq 0 ] ||
    skip_all 'NOTHING OF OTHER USERS IS TESTED: it needs root to be two users'
other() { # command …: as a user without a name
	setpriv --reuid 12345 --regid 12345 --clear-groups "$@"
}
other true 2>/dev/null ||
    skip_all 'NOTHING OF OTHER USERS IS TESTED: this machine has one user'
cluster_up

cat >trial <<'END1'
#!/bin/sh
echo "hpotune: loss=$1"
END1
chmod +x trial
chmod 755 .
mkdir scratch theirs
chmod 777 scratch theirs
users_study() { # name limits [keys-of-backend]
	slurm_study "$1" "$2" '"retries": 2' ", \"dir\": \"$dir/scratch\"${3-}"
}

users_study seen '"trials": 1, "parallel": 1'
"$HPOTUNE" check seen.json >out 2>err
like "$(cat out)" "scratch can be written by all users and has no sticky bit" \
    'check says that others can change the folder'
timeout 300 "$HPOTUNE" doctor --timeout 300 seen.json >out 2>err
like "$(cat out)" "backend.dir .*scratch can be written by all users" \
    'doctor says it'
chmod +t scratch
"$HPOTUNE" check seen.json >out 2>err
unlike "$(cat out)" 'sticky' 'with the sticky bit they cannot'
chmod -t scratch

ok 'a study runs there' quietly timeout 600 "$HPOTUNE" start seen.json
root=$(echo "$dir"/scratch/seen-*)
is "$(stat -c %a "$root")" 700 'its folder is closed to others'

# ---- a folder of somebody else ----------------------------------------------------
# It has what the study expects: a program of the right name, and the trials.
evil() { # root: that of another user takes its place
	mv "$1" "$dir/mine"
	program=$(basename "$(ls "$dir"/mine/bin/hpotune-shim-*)")
	attempt=$(cd "$dir/mine" && echo trials/*/attempt-*)
	other mkdir -p "$1/bin" "$1/trials/1/attempt-1" "$1/trials/2/attempt-1"
	printf '#!/bin/sh\ntouch "%s/theirs/shim"\n' "$dir" |
	    other tee "$1/bin/$program" >/dev/null
	for one in "$1"/trials/*/attempt-1; do
		echo "touch '$dir/theirs/env'" | other tee "$one/env.sh" >/dev/null
		other cp "$one/env.sh" "$one/job.sh"
	done
	other chmod -R a+rwx "$1"
}
undo() { # root
	rm -rf "$1"
	mv "$dir/mine" "$1"
}
unharmed() {
	[ -z "$(ls theirs)" ]
}

users_study seen '"trials": 2, "parallel": 1'
evil "$root"
timeout 600 "$HPOTUNE" start seen.json >out 2>err
is $? 1 'a start finds the folder of another user'
like "$(cat err)" "backend.dir: $root: belongs to another user" 'it says so'

ok 'nothing of his was executed' unharmed
undo "$root"
chmod 770 "$root"
timeout 600 "$HPOTUNE" start seen.json >out 2>err
is $? 1 'a folder that the group may enter'
like "$(cat err)" "$root: is accessible to other users: run chmod 700" \
    'the remedy is said'
chmod 700 "$root"

# ---- a program that is not what its name says ---------------------------------------
shim=$(ls "$root"/bin/hpotune-shim-*)
printf '#!/bin/sh\ntouch "%s/theirs/shim"\n' "$dir" >"$shim"
ok 'the next start goes on' quietly timeout 600 "$HPOTUNE" start seen.json
ok 'with a new copy of the program' unharmed
like "$(sql seen.db 'SELECT text FROM events')" \
    'hpotune-shim-[0-9a-f]* is not what its name says: it is replaced' 'it is said'
is "$(sql seen.db "SELECT count(*) FROM trials WHERE state = 'completed'")" 2 \
    'its trial is completed'

# ---- while a job waits --------------------------------------------------------------
drain() {
	for n in n1 n2 n3 n4; do
		scontrol update nodename=$n state="$1" reason=test
	done
}
one_waits() {
	[ "$(squeue --me --noheader --states=PENDING | wc -l)" -eq 1 ]
}
said() { # study words
	[ "$(sql "$1.db" "SELECT count(*) FROM events
	    WHERE text LIKE '%$2%'")" -gt 0 ]
}
for per_job in 1 2; do
	name=waits$per_job
	rm -rf theirs/*
	users_study $name '"trials": 1, "parallel": 1' \
	    ", \"trials_per_job\": $per_job"
	drain drain
	server $name.json
	ok "$per_job trials a job: one waits" retry one_waits
	root=$(echo "$dir"/scratch/$name-*)
	evil "$root"
	ok 'the server sees the folder of another user' \
	    retry said $name 'belongs to another user: until it is as it was'
	drain resume
	ok 'the job begins, and ends' retry no_job_left
	ok 'nothing of his was executed' unharmed
	undo "$root"
	reap "$server"
	is $? 0 'as the folder is back, the study goes on'
	is "$(sql $name.db 'SELECT state FROM trials')" completed \
	    'its trial is completed'
done

# The copy of a program that was changed after its job was submitted.
drain drain
users_study changed '"trials": 1, "parallel": 1'
sed -i 's/"retries": 2/"retries": 0/' changed.json
server changed.json
ok 'a job waits' retry one_waits
shim=$(ls "$dir"/scratch/changed-*/bin/hpotune-shim-*)
cp "$shim" whole
printf '#!/bin/sh\ntouch "%s/theirs/shim"\n' "$dir" >"$shim"
drain resume
ended() {
	[ "$(sql changed.db "SELECT count(*) FROM attempts
	    WHERE why LIKE '%bin is another one: nothing is started'")" -gt 0 ]
}
ok 'it begins, and its attempt ends with the reason' retry ended
ok 'it was not executed' unharmed
cp whole "$shim"
kill "$server"
reap "$server"

# ---- between the look of a job and what it starts later -----------------------------
# The folder is exchanged as the job looks the last time, and as srun is called: what
# the supervisor and srun start then is what was looked at, or nothing.
mkdir fake
real_ls=$(command -v ls)
real_srun=$(command -v srun)
cat >fake/swap <<END1
#!/bin/sh
# Of the scripts of a job, those of an attempt have this variable.
[ -n "\${HPOTUNE_TRIAL-}" ] && mv "$dir/armed" "$dir/swapped" 2>/dev/null ||
	exit 0
root=\$(echo "$dir"/scratch/\$(cat "$dir/swapped")-*)
# All of it is his when it is there: he cannot make files that are ours.
mkdir -p "$dir/his/bin"
for program in "\$root"/bin/*; do
	program=$dir/his/bin/\${program##*/}
	printf '#!/bin/sh\\ntouch "$dir/theirs/program"\\n' >"\$program"
	chmod 755 "\$program"
done
chown -R 12345:12345 "$dir/his"
mv "\$root" "$dir/mine"
mv "$dir/his" "\$root"
END1
printf '#!/bin/sh\n"%s" "$@"\n"%s/fake/swap"\n' "$real_ls" "$dir" >fake/ls
printf '#!/bin/sh\n"%s/fake/swap"\nexec "%s" "$@"\n' "$dir" "$real_srun" \
    >fake/srun
chmod +x fake/*
exchanged() { # study program: the first attempt meets the other folder
	rm -rf theirs/* swapped
	echo "$1" >armed
	server "$1.json"
	ok "$1: the folder is exchanged" retry test -e "$dir/mine/bin"
	# Or before it is the other user's: it is another one by then.
	ok "$1: the server sees that it was" \
	    retry said "$1" ': until it is as it was'
	ok "$1: no process of the job is left" retry no_job_left
	ok "$1: nothing of his was executed" unharmed
	undo "$(echo "$dir/scratch/$1"-*)"
	reap "$server"
	is $? 0 "$1: as the folder is back, the study goes on"
	is "$(sql "$1.db" 'SELECT state, attempts FROM trials')" 'completed|2' \
	    "$1: its trial is completed"
	like "$(sql "$1.db" 'SELECT why FROM attempts WHERE attempt = 1')
$(cat "$dir/scratch/$1"-*/trials/1/attempt-1/log)" \
	    'scratch/.*: belongs to another user: nothing is started' \
	    "$1: the reason is said"
}
fake=", \"setup\": \"PATH=$dir/fake:\$PATH\""
users_study ranks '"trials": 1, "parallel": 1' "$fake"
sed -i 's/"retries"/"launcher": "ranks", "processes": 2, "retries"/' ranks.json
exchanged ranks
rm fake/ls
users_study far '"trials": 1, "parallel": 1' "$fake, \"nodes\": 2"
sed -i 's/"retries"/"launcher": "ranks", "processes": 2, "retries"/' far.json
exchanged far
printf '#!/bin/sh\n"%s" "$@"\n"%s/fake/swap"\n' "$real_ls" "$dir" >fake/ls
chmod +x fake/ls
users_study packs '"trials": 1, "parallel": 1' "$fake"
cat >program <<END1
#!/bin/sh
exec $TOP_BUILDDIR/tests/tools/packed-program
END1
chmod +x program
sed -i 's|"retries"|"pack": 2, "max_steps": 3, "retries"|
    s|"\./trial", "{x}"|"./program"|' packs.json
exchanged packs

done_testing
