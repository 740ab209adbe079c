#!/bin/sh
# Limits of the machine: inotify watches, file size.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3 prlimit

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

done_testing
