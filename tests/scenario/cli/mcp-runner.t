#!/bin/sh
# The process beside hpotune mcp that runs short commands: while a server runs, it
# keeps the database open, without a lock that holds the server up; what it answers
# is what is at the path of the study at that moment.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3 pgrep

unset HPOTUNE_CALLER
mkfifo in
exec 9<>in
background door sh -c 'exec "$HPOTUNE" mcp s.json <in 9>&-'
door=$child
: >asked
# One request, and the text of its answer, with quotes as they were.
ask() { # tool [arguments]
	echo >>asked
	n=$(wc -l <asked)
	printf '{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"%s","arguments":%s}}\n' \
	    "$n" "$1" "${2:-{\}}" >&9
	retry grep -q "\"id\":$n," door.out || echo "no answer to $1"
	sed -n "s/^.*\"id\":$n,\"result\":.*\"type\":\"text\",\"text\":\"//p" door.out |
	    sed 's/\\"/"/g'
}
query() { # select
	ask sql "{\"query\":\"$1\"}"
}
runner() {
	pgrep -P "$door" -f 'mcp --runner'
}
holds() { # file: the runner has it open
	readlink "/proc/$(runner)/fd/"* | grep -qxF "$dir/$1"
}
holds_none() {
	! holds s.db
}
study() { # name parameter
	cat >"$1.json" <<-END
	{ "study": "$1", "objective": { "metric": "loss", "goal": "minimize" },
	  "parameters": { "$2": { "type": "float", "min": 0, "max": 1 } },
	  "strategy": "random", "stopping": "none",
	  "trial": { "command": ["sh", "trial.sh"] },
	  "limits": { "trials": 4, "parallel": 1 } }
	END
}
serve() { # name
	background "server-$1" "$HPOTUNE" start --quiet "$1.json"
	server=$child
	ok "$1: a trial runs" retry sql_is "$1.db" \
	    'SELECT count(*) FROM curves' 1
}
cat >trial.sh <<'END'
echo "hpotune: step=1 loss=0.5"
until [ -e go ]; do sleep 0.05; done
END

like "$(ask status)" 's.json: No such file' 'no study yet'
study s first
serve s
like "$(ask status)" '"name":"s","state":"running"' 'a study that was made since'
like "$(query 'SELECT * FROM results LIMIT 0')" '"first"' 'its columns'
first=$(runner)
ok 'the database is kept open' holds s.db
# Page faults of the children of the door that have ended: proc(5), cminflt.
ended() {
	cut -d ' ' -f 11 "/proc/$door/stat"
}
before=$(ended)

# What was compiled is used again, and what was written since is read.
for i in 1 2 3; do
	like "$(ask enqueue "{\"params\":{\"first\":0.$i}}")" '"ok":true' "setting $i"
	like "$(query 'SELECT count(*) FROM queue')" "\\[\\[$i\\]\\]" 'is read'
	like "$(ask why '{"trial":1}')" '"trial":1,"state":"running"' "why, $i"
	like "$(ask verdict)" '^{"result":\[\]' "verdict, $i"
	like "$(ask log '{"trial":1}')" '^hpotune: step=1' "log, $i"
	trial=$(ask ask | sed -n 's/^{"trial":\([0-9]*\),.*/\1/p')
	like "$(ask tell "{\"trial\":$trial,\"values\":{\"loss\":0.$i}}")" \
	    '"verdict":"keep"' "ask and tell, $i"
	like "$(ask tell "{\"trial\":$trial,\"end\":\"done\"}")" \
	    '"state":"completed"' "its end, $i"
done
is "$(runner)" "$first" 'by one process'
is "$(ended)" "$before" 'and no request has had one of its own'
is "$(sqlite3 -cmd '.timeout 300000' s.db 'PRAGMA wal_checkpoint(TRUNCATE)' |
    cut -d '|' -f 1)" 0 \
    'no transaction is open between requests'

# What a query of the caller sets, and how one ends, is no matter of the next.
like "$(query "SELECT 1 FROM trials WHERE params LIKE '$(printf %0200d 0)'")" \
    'pattern too complex' 'a limit of queries'
like "$(query 'SELECT * FROM t_trial')" 'only the views' 'their views'
like "$(query 'SELECT abs(-9223372036854775808)')" 'overflow' 'a query that fails'
like "$(ask status)" '"name":"s","state":"running"' 'status after them'
like "$(ask why '{"trial":7}')" 'no trial 7' 'an error'
like "$(ask why '{"trial":1}')" '"metric"|"trial":1' 'why after them'
is "$(runner)" "$first" 'still by that process'
is "$(sql s.db "SELECT count(*) FROM requests")" $(($(wc -l <asked) - 1)) \
    'each request since the study is there is a row'

# The process is killed, between two requests.
kill -9 "$first"
is_gone() { # process
	[ ! -e "/proc/$1" ]
}
ok 'which is seen' retry is_gone "$first"
like "$(ask status)" '"state":"running"' 'another takes its place'
ok 'a new one' test "$(runner)" != "$first"

# The server ends; the study is made anew, under the same name.
"$HPOTUNE" stop s.json >stopped 2>&1
ok 'without a server the database is let go' retry holds_none
rm -rf s.db s.db-* s.d
like "$(ask status)" 'does not exist yet' 'the study is deleted'
study s third
serve s
like "$(query 'SELECT * FROM results LIMIT 0')" '"third"' 'and made anew'
like "$(query 'SELECT count(*) FROM queue')" '\[\[0\]\]' 'from nothing'
ok 'the new one is kept open' holds s.db

touch go
reap "$server"
ok 'the server has ended: it is let go' retry holds_none
like "$(ask status)" '"state":"finished"' 'its end'
last=$(runner)
exec 9>&-
reap "$door"
is $? 0 'the door ends with its input'
ok 'and its process too' retry is_gone "${last:-none}"

done_testing
