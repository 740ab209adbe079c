#!/bin/sh
# Limits of the machine: inotify watches, file size, descriptors, memory, /dev/shm.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3 prlimit bash

without=$TOP_BUILDDIR/tests/tools/without
study() { # name command
	cat >"$1.json" <<-END
	{ "study": "$1",
	  "objective": { "metric": "score", "goal": "maximize" },
	  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
	  "strategy": "random", "stopping": "none",
	  "trial": { "command": ["sh", "-c", "$2"] },
	  "limits": { "trials": 3, "parallel": 2 } }
	END
}
told() { # database text: so many events say so
	sql "$1" "SELECT count(*) FROM events WHERE text LIKE '%$2%'"
}

# No inotify: output is heard by looking, and the sysctl is named once.
unheard() { # name error call sysctl
	study "$1" 'echo hpotune: score=1'
	ok "$1: the study comes to its end" quietly \
	    "$without" "$2" "$3" "$HPOTUNE" start "$1.json" --quiet
	is "$(sql "$1.db" 'SELECT count(*) FROM trials
	    WHERE state = "completed"')" 3 "$1: all is heard"
	is "$(told "$1.db" "$4")" 1 "$1: the sysctl is named once"
}
if "$without" EMFILE inotify_init1 true 2>err; then
	unheard instances EMFILE inotify_init1 fs.inotify.max_user_instances
	unheard watches ENOSPC inotify_add_watch fs.inotify.max_user_watches
else
	skip 'without inotify: six checks' "$(cat err)"
fi

# A limit on the size of files: the server says so and waits, as on a full
# disk.  The trial has the signal as ever, and here no limit of its own.
cat >flood <<'END'
#!/bin/sh
prlimit --fsize=unlimited --pid $$
# Of grep, which inherits them: a shell that has just forked blocks all.
grep -E '^Sig(Ign|Blk)' /proc/self/status >signals
for i in $(seq 20000); do echo "hpotune: step=$i score=$i"; done
END
chmod +x flood
study size 'exec ./flood'
server size.json
ok 'size: it runs' retry sql_is size.db 'SELECT count(*) > 0 FROM trials' 1
kill -9 $server
reap $server 2>/dev/null
most=$(($(wc -c <size.db) + 200000))
rm -rf size.db* size.d
background server prlimit --fsize=$most:unlimited "$HPOTUNE" start size.json
server=$child
says() { grep -q 'larger than a file may be (ulimit -f)' server.err; }
ok 'size: the limit is told' retry says
ok 'size: the server is there' kill -0 $server
prlimit --fsize=unlimited --pid $server
reap $server
is $? 0 'size: when it is lifted the study ends'
is "$(sql size.db 'SELECT sum(reports) FROM trials')" 60000 \
    'size: no report is lost'
# SIGXFSZ is bit 24 of both masks.
held=0
for mask in $(cut -f 2 signals); do
	held=$((held | 0x$mask >> 24 & 1))
done
is "$held $(wc -l <signals)" '0 2' 'size: the trial has the signal as ever'

# Descriptors: too few for a server are refused in one line, before anything is
# begun; the fewest that it accepts are enough for all trials, one after the other.
study files 'sleep 0.1; echo hpotune: score=1'
sed -i 's/"trials": 3/"trials": 20/' files.json
for few in 8 12 16 20 24 32 48 63; do
	timeout 300 prlimit --nofile=$few "$HPOTUNE" start --quiet files.json \
	    >out 2>err
	is "$? $(wc -l <err) $(ls -d files.d files.db 2>/dev/null)" '1 1 ' \
	    "$few descriptors: nothing is begun"
	like "$(cat err)" "open files is $few .ulimit -n., and [0-9]* are open: a server needs|Too many open files" \
	    "$few descriptors: one reason"
done
timeout 300 prlimit --nofile=64 "$HPOTUNE" start --quiet files.json >out 2>err
is "$? $(sql files.db "SELECT count(*), sum(attempts) FROM trials
    WHERE state = 'completed'")" '0 20|20' '64 descriptors: all trials, once each' ||
    diag "$(cat out err; "$HPOTUNE" trials files.json; find files.d -name log)"
like "$(cat err)" "limit on open files is 64" "64 descriptors: it is said"
# The same where whoever starts it leaves descriptors open.
study inherited 'echo hpotune: score=1'
# shellcheck disable=SC2016
timeout 300 prlimit --nofile=64 bash -c 'for i in $(seq 30); do exec {fd}</dev/null; done
    exec "$@"' bash "$HPOTUNE" start --quiet inherited.json >out 2>err
is "$? $(wc -l <err) $(ls -d inherited.d inherited.db 2>/dev/null)" '1 1 ' \
    '34 left: nothing is begun'
like "$(cat err)" 'open files is 64 .*, and 3[0-9] are open' '34 left: it is said'
study soft 'ulimit -n'
sed -i 's/ulimit -n/echo hpotune: score=$(ulimit -Sn)/' soft.json
timeout 300 prlimit --nofile=20:4096 "$HPOTUNE" start --quiet soft.json >out 2>err
is "$? $(sql soft.db "SELECT count(*) FROM trials WHERE state = 'completed'")" \
    '0 3' 'a soft limit is raised'

# Memory: less and less of it, until nothing can run.  Each server ends well, or says
# why not; what one has begun the next one goes on with, and no trial runs twice.
# Below what the loader needs, libc ends the program before main, in some limits without
# a word, and how much that is depends on the size of the environment: the limits count
# from the least in which main is reached.  The sanitizers reserve more than there is.
cat >counted <<END
#!/bin/sh
ulimit -v unlimited
echo "\$HPOTUNE_TRIAL.\$HPOTUNE_ATTEMPT" >>"$dir/ledger"
echo "hpotune: score=1"
END
chmod +x counted
# A server that can start no trial says so and waits for memory: then it is ended.
no_memory='out of memory|Cannot allocate memory'
settled() { ! kill -0 "$server" 2>/dev/null || grep -Eq "$no_memory" err; }
limited() { # kB
	# Emptied before there is a process: what the last one said is not this one's.
	: >err
	prlimit --as=$(($1 * 1024)):unlimited "$HPOTUNE" start --quiet little.json \
	    >out 2>>err &
	server=$!
	retry settled && kill "$server" 2>/dev/null
	wait "$server"
}
study little "$dir/counted"
if prlimit --as=2000000000 "$HPOTUNE" version >out 2>err; then
	wrong=
	least=4000
	while [ $least -lt 64000 ] &&
	    ! prlimit --as=$((least * 1024)) "$HPOTUNE" version >out 2>err; do
		least=$((least + 50))
	done
	for more in 50 100 200 500 1000 1500 2000 2500 3000 4000 5000; do
		limited $((least + more))
		status=$?
		[ $status -eq 0 ] || grep -Eq "$no_memory" err ||
		    wrong="$wrong $least+$more:$status:$(cat err)"
	done
	is "$wrong" '' 'memory: the reason is said'
	fails 'memory: with enough of it the study ends' 0 quietly timeout 300 \
	    "$HPOTUNE" start --quiet little.json || {
		cat out err
		"$HPOTUNE" events little.json
		"$HPOTUNE" trials little.json
	} 2>&1 | sed 's/^/# /'
	is "$(sql little.db "SELECT count(*) FROM trials
	    WHERE state = 'completed'") $(sort ledger | uniq -d)" '3 ' \
	    'memory: all trials, no attempt twice'
else
	skip 'little memory' 'this build reserves more'
fi

# A supervisor for which there is no memory: nothing of the trial has run, so that no
# retry is used up, and the first time it is told.
shim=${HPOTUNE_SHIM:-$(dirname "$HPOTUNE")/hpotune-shim}
cat >little-shim <<END
#!/bin/sh
[ -e "$dir/enough" ] || ulimit -Sv 900
exec "$shim" "\$@"
END
chmod +x little-shim
study supervisor 'echo hpotune: score=1'
background server env HPOTUNE_SHIM="$dir/little-shim" "$HPOTUNE" start supervisor.json
server=$child
unbegun='was killed before it began: it is tried again, without using up retries'
told_all() { [ "$(told supervisor.db "$unbegun")" -gt 1 ]; }
ok 'supervisors without memory: it is told' retry told_all
: >enough
reap $server
is "$? $(sql supervisor.db "SELECT count(*) FROM trials WHERE state = 'completed'") $(
	sql supervisor.db "SELECT count(*) = count(DISTINCT trial) FROM events
	    WHERE text LIKE '%$unbegun'")" '0 3 1' \
    'supervisors with memory: all trials, each told at most once'

# /dev/shm is away, and cannot be written.
no_shm() { # command …
	unshare --mount --propagation private sh -c "$1 && shift 1 &&
	    exec \"\$@\"" sh "$@"
}
if [ "$(id -u)" -eq 0 ] && unshare --mount true 2>err; then
	mkdir empty
	for how in 'mount -t tmpfs -o ro tmpfs /dev/shm' \
	    "umount -l /dev/shm; mount --bind $dir/empty /dev && rmdir /dev/shm 2>/dev/null;
	    [ ! -e /dev/shm ]"; do
		rm -rf shm.d shm.db
		study shm 'echo hpotune: score=1'
		sed -i 's/"limits"/"backend": { "name": "local" }, "limits"/
		    s/"command"/"cpus": 1, "command"/' shm.json
		no_shm "$how" timeout 300 "$HPOTUNE" start --quiet shm.json \
		    >out 2>err
		is "$? $(sql shm.db "SELECT count(*) FROM trials
		    WHERE state = 'completed'")" '0 3' \
		    "without /dev/shm the study ends: $(echo "$how" | head -c 20)" ||
		    diag "$(cat out err)"
	done
else
	skip 'without /dev/shm' 'it needs root and a mount namespace'
fi

done_testing
