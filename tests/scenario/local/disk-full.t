#!/bin/sh
# The disk becomes full while trials run: ends are recorded, no trial is
# started, and the study continues when there is space again.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3
[ "$(id -u)" -eq 0 ] ||
    skip_all 'only root may mount a small disk: the full disk is not tested'

trap 'umount -l "$dir/disk" 2>/dev/null; cleanup' EXIT
mkdir disk

# The study lives on the small disk, its ledger beside it.
cat >trial <<'END'
#!/bin/sh
echo "$HPOTUNE_TRIAL $HPOTUNE_ATTEMPT" >>ledger
step=0 broken= told=
# It may begin long after its go-file was made, and reports something then.
while [ -e trial ] && ! [ -n "$told" -a -e go-$HPOTUNE_TRIAL ]; do
	step=$((step + 1))
	[ -z "$broken" ] || echo || { sleep 0.05; continue; }
	broken=
	# A line that was cut in the middle is ended before the next one.
	if echo "hpotune: step=$step score=$((step + 100))"; then
		echo "$HPOTUNE_TRIAL|$step|$((step + 100)).0" >>said
		told=yes
	else
		broken=yes
	fi 2>/dev/null
	sleep 0.05
done
exit 0
END
chmod +x trial
cat >study.json <<END
{ "study": "full",
  "objective": { "metric": "score", "goal": "maximize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": "random", "stopping": "none",
  "trial": { "command": ["./trial"], "grace": 10 },
  "backend": { "name": "local" },
  "limits": { "trials": 4, "parallel": 2 } }
END
db=disk/full.db

mount_tmpfs() {
	mount -t tmpfs -o size=64m tmpfs disk 2>mount.err
}
mount_ext4() {
	truncate -s 64m image && mkfs.ext4 -q image 2>mount.err &&
	    mount -o loop image disk 2>mount.err
}
reports() {
	sql $db "SELECT count(*) FROM metrics WHERE trial = $1" 2>/dev/null
}
reported() { # trial
	[ "$(reports "$1" || echo 0)" -gt 5 ]
}
# The server looks away meanwhile: the ballast that it gives back is its own.
fill() {
	kill -STOP $server 2>/dev/null
	head -c 1G /dev/zero >disk/fill 2>/dev/null
	# The last blocks, which a large write does not get, or which were kept
	# for it until it was on the disk.
	for i in 1 2 3; do
		head -c 4096 /dev/zero >>disk/fill 2>/dev/null
		sync -f disk
	done
	kill -CONT $server 2>/dev/null
	true
}
said() { # text times: so often has this server said it
	[ "$(grep -c "$1" server.err)" -eq "$2" ]
}
full='no trial is started until there is space'
space='there is space on the disk again'
# What became of every attempt, and what was said on the way.
tell() {
	diag "$(sql $db 'SELECT trial, state, attempts, reports, why
	    FROM trials')"
	diag "$(sql $db 'SELECT trial, attempt, state, started, ended,
	    exit_code, signal, end_class, resumed_step FROM attempts')"
	diag "$(sql $db 'SELECT time, level, area, trial, attempt, text
	    FROM events')"
	diag "$(cat server.err)"
}
all_there() { # what
	is "$(sql $db 'SELECT trial, step, value FROM metrics
	    ORDER BY trial, step')" "$(sort -t '|' -k 1n -k 2n said)" "$1"
}

scenario() { # kind of disk
	rm -f go-* ledger said
	server study.json --state disk
	ok "$1: two trials report" retry reported 1
	ok "$1: both of them" retry reported 2
	ok "$1: there is a ballast" test -s disk/full.d/ballast
	fill
	ok "$1: the server says that the disk is full" retry said "$full" 1
	: >go-1
	ok "$1: it gives back its ballast" retry test ! -e disk/full.d/ballast
	ok "$1: what ends is recorded" retry sql_is $db \
	    'SELECT state FROM trials WHERE trial = 1' completed || tell
	is "$(sql $db 'SELECT count(*) FROM attempts')" 2 \
	    "$1: nothing new is placed"
	is "$(sql $db "SELECT exit_code, end_class FROM attempts
	    WHERE trial = 1")" '0|ok' "$1: its exit status was kept"
	ok "$1: the server is well" kill -0 $server

	kill -9 $server
	reap $server 2>/dev/null
	server=
	fill
	: >go-2
	server study.json --state disk
	ok "$1: a start on a full disk says so" \
	    retry grep -q 'no space left on the disk' server.err
	rm disk/fill
	ok "$1: with space it goes on" retry said "$space" 1 || tell
	is "$(sed "/$space/q" server.err | grep -c starting)" 0 \
	    "$1: and not before"
	ok "$1: a third trial reports" retry reported 3
	ok "$1: and a fourth" retry reported 4
	is "$(sql $db "SELECT exit_code, end_class FROM attempts
	    WHERE trial = 2")" '0|ok' "$1: an end on a full disk was kept"
	fill
	ok "$1: it fills once more" retry said "$full" 2
	rm disk/fill
	ok "$1: and is free once more" retry said "$space" 2
	ok "$1: there is a ballast again" retry test -s disk/full.d/ballast
	: >go-3
	: >go-4
	reap $server
	is $? 0 "$1: the study comes to its end"
	is "$(sql $db 'SELECT trial, state, attempts FROM trials')" \
	    '1|completed|1
2|completed|1
3|completed|1
4|completed|1' "$1: every trial ran once" || tell
	is "$(sort ledger)" '1 1
2 1
3 1
4 1' "$1: and only once"
	all_there "$1: every report that could be written is there, once"
	is "$(sql $db 'PRAGMA integrity_check')" ok "$1: the database is sound"
}

for kind in tmpfs ext4; do
	if mount_$kind; then
		scenario $kind
		umount disk
	else
		skip "a full disk, $kind" \
		    "cannot mount: $(tail -n 1 mount.err)"
	fi
done

done_testing
