#!/bin/sh
# Two studies on one machine: the cores and the memory that they ask for are taken
# from what both share, by the supervisors of their trials.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3
HPOTUNE_GPU_LOCKS=$dir/locks
export HPOTUNE_GPU_LOCKS

# One that sees another at work says so.
cat >trial <<'END'
#!/bin/sh
mkdir work 2>/dev/null || echo "$HPOTUNE_STUDY" >>overlap
while [ -e "hold.$HPOTUNE_STUDY" ]; do sleep 0.1; done
echo "hpotune: step=1 loss=1"
sleep 0.02
rmdir work 2>/dev/null
exit 0
END
chmod +x trial
share_study() { # name keys-of-trial [parallel]
	cat >"$1.json" <<-END
	{ "study": "$1", "objective": { "metric": "loss", "goal": "minimize" },
	  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
	  "strategy": { "name": "random", "seed": 1 }, "stopping": "none",
	  "trial": { "command": ["./trial"], "gpus": 0, $2 },
	  "limits": { "trials": 6, "parallel": ${3:-2} } }
	END
}
completed() { # study
	sql "$1.db" "SELECT count(*) FROM trials WHERE state = 'completed'"
}
waits() { # study: it says for what
	grep -Eq "it waits: [0-9]+ of the [0-9]+ $2 of this machine are free" \
	    "$1.out" "$1.err"
}
up() { # study
	sql_is "$1.db" "SELECT count(*) FROM trials WHERE state = 'running'" 1
}
second() { # name: a server beside that of $server
	"$HPOTUNE" start "$1.json" >"$1.out" 2>"$1.err" &
	second=$!
	children="$children $second"
}

cores=$(nproc)
kib=$(sed -n 's/^MemTotal: *\([0-9]*\) .*/\1/p' /proc/meminfo)
both() { # key what: studies whose trials take all of it
	share_study "a$2" "$1"
	share_study "b$2" "$1"
	: >"hold.a$2"
	server "a$2.json"
	ok "$2: a trial of the first study runs" retry up "a$2"
	second "b$2"
	ok "$2: the other one says that it waits, and for what" retry waits "b$2" \
	    "${3:-$2}"
	is "$(sql "b$2.db" 'SELECT count(*) FROM attempts')" 0 \
	    "$2: it starts nothing"
	kill -9 "$server"
	reap "$server" 2>/dev/null
	is "$(sql "b$2.db" 'SELECT count(*) FROM attempts')" 0 \
	    "$2: nor when the server of the first is killed: its trial runs"
	server "a$2.json"
	rm "hold.a$2"
	wait "$second"
	is $? 0 "$2: the second study ends"
	reap "$server"
	is $? 0 "$2: and the first"
	is "$(completed "a$2")$(completed "b$2")" 66 "$2: all trials are completed"
	is "$(cat overlap 2>/dev/null)" '' "$2: no two at once"
}
both "\"cpus\": $cores" cores
both "\"memory\": \"$((kib / 1024 * 6 / 10))MiB\"" memory 'MiB of memory'

# Half of the memory each: both run at the same time.
share_study half "\"memory\": \"$((kib / 1024 * 4 / 10))MiB\""
: >hold.half
server half.json
ok 'two that fit run side by side' retry sql_is half.db \
    "SELECT count(*) FROM trials WHERE state = 'running'" 2
rm hold.half overlap
reap "$server"

share_study more "\"cpus\": $((cores + 1))" 1
ok 'a trial that asks for more cores than there are gets all' quietly \
    timeout 300 "$HPOTUNE" start more.json
share_study plain '"retries": 0' $((cores + 2))
: >hold.plain
server plain.json
ok 'who asks for nothing is not limited' retry sql_is plain.db \
    "SELECT count(*) > $cores FROM trials WHERE state = 'running'" 1
rm hold.plain
reap "$server"

HPOTUNE_GPU_LOCKS=$dir/trial
share_study nolock '"cpus": 1'
"$HPOTUNE" start nolock.json >out 2>err
is $? 0 'without locks a study runs'
is "$(cat out err | grep -c 'cores are not shared with other studies: cannot open')" \
    1 'and says once that it shares nothing'
done_testing
