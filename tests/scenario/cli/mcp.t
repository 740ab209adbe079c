#!/bin/sh
# hpotune mcp by lines of JSON-RPC: the protocol, old and new; its tools with and
# without a server; caps that no caller raises; SQL that reads the views alone;
# malformed, huge and abandoned requests, each of which has one answer, or none.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3 pgrep

unset HPOTUNE_CALLER
me=$$

meta='"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
"io.modelcontextprotocol/clientCapabilities":{},
"io.modelcontextprotocol/clientInfo":{"name":"robot","version":"2"}}'
meta=$(echo "$meta" | tr -d '\n')

request() { # id method [params]: a line
	printf '{"jsonrpc":"2.0","id":%s,"method":"%s"%s}\n' "$1" "$2" \
	    "${3:+,\"params\":$3}"
}
call() { # id tool [arguments]
	request "$1" tools/call \
	    "{\"name\":\"$2\",\"arguments\":${3:-{\}},$meta}"
}
# What a request with this id got: the text of a tool, with quotes as they were.
got() { # id
	sed -n "s/^.*\"id\":$1,\"/\"/p" answers |
	    sed 's/^"result":.*"type":"text","text":"//; s/"}\],"isError":/ isError=/
		s/\\"/"/g; s/\\n/ /g'
}
door() { # option …: answers to the lines of the file lines
	"$HPOTUNE" mcp "$@" <lines >answers 2>errors
	is "$?,$(cat errors)" 0, "hpotune mcp $*: ends with its input, silently"
}

# The protocol alone: no study is needed.
{
	request 1 initialize '{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"old","version":"1"}}'
	echo '{"jsonrpc":"2.0","method":"notifications/initialized"}'
	request 2 initialize '{"protocolVersion":"1999-01-01"}'
	request '"three"' ping
	request 4 server/discover "{$meta}"
	request 5 tools/list "{$meta}"
	request 6 tools/list
	request 7 resources/list
	request 8 tools/list "$(echo "{$meta}" | sed s/2026-07-28/2031-01-01/)"
	request 9 tools/list "$(echo "{$meta}" | sed s/clientCapabilities/x/)"
	echo 'garbage'
	echo '{"jsonrpc":"2.0","id":10'
	printf '\n   \r\n'
	echo '[{"jsonrpc":"2.0","id":11,"method":"ping"}]'
	echo '{"jsonrpc":"2.0","id":1.5,"method":"ping"}'
	echo '{"jsonrpc":"2.0","id":null,"method":"ping"}'
	echo '{"jsonrpc":"1.0","id":12,"method":"ping"}'
	echo '{"jsonrpc":"2.0","id":13,"method":7}'
	echo '{"jsonrpc":"2.0","id":14,"method":"ping","params":[1]}'
	echo '{"jsonrpc":"2.0","id":15,"result":{}}'
	echo '{"jsonrpc":"2.0","method":"no/such/notification"}'
	printf '\377\376\n'
	printf '{"jsonrpc":"2.0","id":"'
	head -c 3000000 /dev/zero | tr '\0' x
	printf '","method":"ping"}\n'
	request 16 ping
	request 17 tools/call '{"name":"rm","arguments":{}}'
	request 18 tools/call '{}'
	printf '{"jsonrpc":"2.0","id":19,"method":"ping"}'
} >lines
door
like "$(got 1)" '"protocolVersion":"2025-03-26".*"instructions":"' \
    'initialize: the version that is offered'
like "$(got 2)" '"protocolVersion":"2025-11-25"' 'or the newest of its kind'
is "$(got '"three"')" '"result":{}}' 'ping'
like "$(got 4)" '"resultType":"complete".*"supportedVersions":\["2026-07-28",.*"ttlMs":' \
    'server/discover'
like "$(got 5)" '"resultType":"complete".*"name":"sql".*"ttlMs":' 'tools, new'
unlike "$(got 6)" resultType 'tools, old'
like "$(got 7)" '"code":-32601,' 'a method that is not there'
like "$(got 8)" '"code":-32022,.*"requested":"2031-01-01"' 'a later version'
like "$(got 9)" '"code":-32602,' 'a request without capabilities'
is "$(got null | grep -c -- -32700)" 3 'what is no JSON'
is "$(got null | grep -c -- -32600)" 4 \
    'a list, two wrong ids, a line of 3 MB: one error each'
for id in 12 13 14; do
	like "$(got $id)" '"code":-32600,' "request $id is none"
done
is "$(got 15)" '' 'an answer is not answered'
like "$(got 17)" 'no such tool: rm' 'a tool that is not there'
like "$(got 18)" 'no such tool' 'a call of none'
is "$(got 16)$(got 19)" '"result":{}}"result":{}}' \
    'what comes after them is answered, also without an end of line'
is "$(wc -l <answers)" 23 'and nothing else is said'

: >lines
door
is "$(cat answers)" '' 'no input, no output'
call 1 status >lines
door
like "$(got 1)" 'no study given.* isError=true' 'no study: one error'
call 1 check >lines
door new.json
like "$(got 1)" 'new.json: No such file.* isError=true' 'a study to come'
fails 'what is no study' 2 "$HPOTUNE" mcp x.txt 2>err
fails 'a cap that is none' 2 "$HPOTUNE" mcp --hours=-1 2>err

# Without a server, trials that the caller runs.
cat >a.json <<'END'
{ "study": "a", "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 },
    "kind": { "type": "choice", "values": ["a b", "c=d"] } },
  "strategy": "random", "stopping": "none", "limits": { "trials": 50 } }
END
{
	call 1 check
	call 2 start
	call 3 ask
	call 4 ask
	call 5 ask
	call 6 tell '{"trial":1,"step":1,"values":{"loss":0.5,"acc":0.25}}'
	call 7 tell '{"trial":1,"step":2,"values":{"loss":"nan"}}'
	call 8 tell '{"trial":1,"end":"done"}'
	call 9 enqueue '{"params":{"kind":"c=d"}}'
	call 10 enqueue '{"params":{"kind":"a b"}}'
	call 11 tell '{"trial":2,"end":"failed","why":"it fell"}'
	call 12 ask
	call 13 ask
	call 14 why '{"trial":2}'
	call 15 tell '{"trial":1,"step":3,"values":{"loss 1":1}}'
	call 16 tell '{"trial":"1"}'
	call 17 enqueue '{"params":{"--list":1}}'
	call 18 status '{"more":1}'
	call 19 log '{"trial":1}'
	call 20 stop '{"trial":3}'
	call 21 sql '{"query":"SELECT request, trial, good, caller FROM requests","rows":3}'
} >lines
door --trials 3 --parallel 2 a.json
like "$(got 1)" '"next":"ask gives you' 'check says the next step'
like "$(got 2)" 'trial.command is missing.* isError=true' 'nothing to start'
like "$(got 3)" '^{"trial":1,"params":{"x":0\..*"next":' ask
like "$(got 4)" '^{"trial":2,' 'the second'
is "$(got 5)" 'the cap of this caller, 2 trials at a time, is reached isError=true}}' \
    'no third beside them'
like "$(got 6)" '"verdict":"keep"' tell
like "$(got 7)" '"step":2' 'nan is a value'
like "$(got 8)" '"state":"completed"' 'its end'
like "$(got 9)" '"ok":true' 'a setting of the caller'
like "$(got 10)" 'leaves room for 1, and 1 settings wait isError=true' \
    'not more of them than trials'
like "$(got 12)" '"kind":"c=d"' 'is the next trial'
is "$(got 13)" 'the cap of this caller, 3 trials, is reached: the study has 3 isError=true}}' \
    'then the cap is reached'
like "$(got 14)" '"state":"failed".*"why":"it fell"' why
like "$(got 15)" 'loss 1=1.* isError=true' 'a name cannot be two words'
like "$(got 16)" 'trial: expected a whole number, not a string isError=true' \
    'the type of an argument'
like "$(got 17)" 'has no such parameter isError=true' 'a name is no option'
like "$(got 18)" 'more: unknown key isError=true' 'an argument that is not there'
like "$(got 19)" 'has no log isError=true' 'no log'
like "$(got 20)" '"ok":true' stop
like "$(got 21)" '"rows":\[\["ask",null,1,"robot 2 \(pid [0-9]+\)"\],.*"more":true' \
    'what was asked for, by whom, and that there is more'
is "$(sql a.db "SELECT group_concat(request || coalesce(good, '-'), ' ')
    FROM requests")" 'ask1 ask1 ask0 tell1 tell1 tell1 enqueue1 enqueue0 tell1 ask1 ask0 why- log- stop1 sql-' \
    'each request that reached the study is a row'
is "$(sql a.db "SELECT DISTINCT caller FROM requests")" "robot 2 (pid $me)" \
    'with its caller'
is "$(sql a.db "SELECT DISTINCT asker_pid FROM attempts")" $me \
    'whose process asks for trials'

# Only views can be read, whatever a query calls them, and nothing is written.
refused() { # query reason
	"$HPOTUNE" sql a.db "$1" >out 2>err
	is "$?,$(grep -cE "$2" err)" 2,1 "refused: $1"
}
only='only the views can be read'
refused 'SELECT * FROM t_trial' "$only"
refused 'SELECT count(*) FROM "T_Trial"' "$only"
refused "SELECT * FROM 't_trial'" "$only"
refused 'WITH trials AS (SELECT * FROM t_trial) SELECT * FROM trials' "$only"
refused 'SELECT 1 FROM trials WHERE trial IN (SELECT trial FROM main.t_trial)' \
    "$only"
refused 'SELECT * FROM sqlite_schema' "$only"
# Other functions that make rows: older SQLite makes none at all for others.
for function in "pragma_table_info('t_trial')" pragma_table_list dbstat \
    sqlite_stmt fts3tokenize; do
	refused "SELECT * FROM $function" \
	    "not authorized|constructor failed|$only"
	refused "SELECT count(*) FROM trials, $function" \
	    "not authorized|constructor failed|$only"
done
for function in json_each json_tree; do
	is "$("$HPOTUNE" sql a.db "SELECT value FROM trials, $function(params)
	    WHERE trial = 1 AND key = 'kind'")" "value
$(sql a.db "SELECT params ->> 'kind' FROM trials WHERE trial = 1")" \
	    "$function can be used"
done
refused "ATTACH 'b.db' AS b" 'may only read'
refused "VACUUM INTO 'b.db'" 'may only read'
refused 'DELETE FROM t_trial' 'may only read'
refused 'CREATE TEMP TABLE b (x)' 'may only read'
refused 'PRAGMA user_version = 1' 'may only read'
refused "SELECT load_extension('b')" authorized
refused 'SELECT 1; SELECT 2' 'one query at a time'
refused '' 'empty'
refused 'SELECT y FROM trials' 'no such column'
is "$(ls b.db 2>&1 | grep -c 'No such')" 1 'and no file is made'
is "$("$HPOTUNE" sql --json a.db "SELECT p.value, t.trial, 1e999, 'input_name'
    FROM best, json_each(best.params) AS p JOIN trials AS t USING (trial)
    WHERE key = 'kind' -- the end")" \
    "{\"columns\":[\"value\",\"trial\",\"1e999\",\"'input_name'\"],\"rows\":[[\"$(sql a.db \
    'SELECT kind FROM best')\",1,null,\"input_name\"]],\"more\":false}" \
    'views can be joined'
is "$("$HPOTUNE" sql --rows 2 a.db 'SELECT trial FROM trials ORDER BY 1')" \
    'trial
1
2
… there are more rows: --rows N' 'rows are limited'

# With a server: trials wait for a file, and are two at a time at most.
cat >s.json <<'END'
{ "study": "s", "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": "random", "stopping": "none",
  "trial": { "command": ["sh", "trial.sh"] },
  "limits": { "trials": 50, "parallel": 9 } }
END
cat >trial.sh <<'END'
echo "hpotune: step=1 loss=0.5"
echo "caller <${HPOTUNE_CALLER-}>"
until [ -e go ]; do sleep 0.05; done
END
{
	call 1 start '{"trials":9}'
	call 2 start '{"trials":8,"parallel":3}'
	call 3 start '{"trials":4}'
	call 4 start
} >lines
door --trials 8 --parallel 2 --hours 5 s.json
like "$(got 1)" 'start: 9 trials: the cap of this caller is 8 isError=true' \
    'more trials than the cap'
like "$(got 2)" 'start: 3 trials at a time: the cap of this caller is 2 isError' \
    'more at a time'
like "$(got 3)" '"pid":[0-9]+.*"next":"status' start
like "$(got 4)" 'isError=true' 'it runs already'
server=$(got 3 | sed 's/.*"pid":\([0-9]*\),.*/\1/')
children="$children $server"
ok 'two trials run' retry sql_is s.db 'SELECT count(*) FROM curves' 2
call 1 log '{"trial":1,"lines":1}' >lines
door s.json
is "$(got 1)" 'caller <> next: why explains the state of the trial isError=false}}' \
    'the log of a trial, which knows no caller'
is "$(sql s.db 'SELECT trials FROM study')" 2 'and no third'
call 1 ask >lines
door --parallel 2 s.json
is "$(got 1)" 'the cap of this caller, 2 trials at a time, is reached isError=true}}' \
    'the trials of the server count for the cap'

# Proposals: with their caller, and the cap counts all runs that may follow.
sed -e 's/"study": "a"/"study": "p"/' -e 's/"max": 1 }/"max": 1, "default": 0.5 }/' \
    -e 's/"strategy"/"confirm": { "parameter": "seed", "replicates": 13 }, &/' \
    a.json >p.json
{
	call 1 ask
	call 2 propose '{"params":{"x":0.25}}'
	call 4 propose '{"params":{"x":0.75}}'
	call 5 verdict '{"proposal":1}'
	call 6 verdict '{"proposal":7}'
	call 7 propose '{"params":{"--file":"study.json"}}'
	call 8 verdict
	call 9 propose '{"commit":"HEAD"}'
	call 10 propose '{"patch":"none"}'
	call 11 propose '{"commit":7}'
} >lines
door --trials 20 p.json
like "$(got 2)" '"data":{"proposal":1,.*"next":"start' 'a proposal'
like "$(got 4)" 'the cap of this caller, 20 trials, .* isError=true' \
    'not beyond the cap, if all runs of the first are needed'
like "$(got 5)" '^{"proposal":1,"verdict":"open",.*"next":"wait' 'its verdict'
like "$(got 6)" 'there is no proposal 7 isError=true' 'of one that is not there'
like "$(got 7)" 'no such parameter.* isError=true' 'a name is no option'
like "$(got 9)" 'has no trial.source, .* isError=true' 'a commit needs a source'
like "$(got 10)" 'has no trial.source, .* isError=true' 'so does a patch'
like "$(got 11)" 'commit: expected a string.* isError=true' 'which is a text'
like "$(got 8)" '^{"result":\[{"proposal":1,' 'all of them'
call 3 propose '{"params":{"x":0.25}}' >lines
door p.json
like "$(got 3)" 'is proposal 1, which is open isError=true' 'once'
like "$(sql p.db 'SELECT caller FROM proposals')" "^robot 2 \\(pid" \
    'the row has the caller'

# Two doors at once: each request is answered and recorded once.
i=0
while [ $i -lt 20 ]; do
	i=$((i + 1))
	call $i enqueue '{"params":{"x":0.25}}'
done >many
timeout 200 "$HPOTUNE" mcp s.json <many >first 2>&1 &
timeout 200 "$HPOTUNE" mcp s.json <many >second 2>&1
wait $!
is "$(cat first second | grep -c '\\"ok\\":true')" 40 \
    'two doors: all requests are answered'
is "$(sql s.db "SELECT count(*), sum(good) FROM requests
    WHERE request = 'enqueue'")" '40|40' 'and recorded'
is "$(sql s.db "SELECT count(*) FROM queue")" 40 'each once'
call 1 enqueue '{"params":{"x":0.25}}' >lines
door --trials 30 s.json
like "$(got 1)" 'the cap of this caller, 30 trials.* isError=true' \
    'the queue counts for the cap'
{
	call 1 ask
	call 2 stop
	call 3 sql '{"query":"SELECT trials FROM study"}'
} >lines
door --read-only s.json
like "$(got 1)$(got 2)" 'no such tool: ask.*no such tool: stop' \
    'read-only: no tool that changes anything'
like "$(got 3)" '"rows":\[\[' 'the others'

# A server that dies while a request waits for it: one error.
kill -STOP "$server"
mkfifo in
exec 9<>in
background held sh -c 'exec "$HPOTUNE" mcp s.json <in 9>&-'
held=$child
call 1 enqueue '{"params":{"x":0.75}}' >&9
# The command of the door sleeps in the answer of the socket.
asks() {
	asker=$(pgrep -P "$held") && grep -q '^State:.S' "/proc/$asker/status" &&
	    readlink "/proc/$asker/fd/"* | grep -q '^socket:'
}
ok 'a request waits for a server that is held' retry asks
request 2 ping >&9
ok 'other messages are answered beside it' retry grep -q '"id":2,' held.out
kill -9 "$server"
ok 'the server dies' retry grep -q '"id":1,' held.out
cp held.out answers
like "$(got 1)" 'the server closed the connection without an answer.*isError=true' \
    'one clear error'

# A call that only reads is cancelled; the next one is answered.
slow='WITH RECURSIVE a(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM a) SELECT max(x) FROM a'
call 3 sql "{\"query\":\"$slow\"}" >&9
# One child runs the short commands, and this is its only one that computes.
runs() {
	runner=$(pgrep -P "$held") && grep -q '^State:.R' "/proc/$runner/status"
}
ok 'a query runs' retry runs
echo '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}' >&9
call 4 sql '{"query":"SELECT state FROM study"}' >&9
ok 'without a server' retry grep -q '"id":4,' held.out
cp held.out answers
is "$(got 3)" '' 'what is cancelled has no answer'
like "$(got 4)" '"rows":\[\["running"\]\]' 'what comes after it has one'
exec 9>&-
reap "$held"
is $? 0 'the door ends with its input'
is "$(sql s.db 'SELECT count(*) FROM queue WHERE json_extract(params, '"'\$.x'"') = 0.75')" \
    0 'what was not answered was not done'

# A client that is gone: the door ends, and no process is left.
call 1 sql "{\"query\":\"$slow\"}" | "$HPOTUNE" mcp s.json | true
unread() {
	! pgrep -f "mcp --runner $dir/s.json" >/dev/null
}
ok 'what it asked for ends' retry unread

touch go
"$HPOTUNE" start --quiet --trials 4 s.json 2>err
is "$?,$(sql s.db 'SELECT trials, completed FROM study')" '0,4|4' \
    'the study goes on'
{
	call 1 status
	call 2 stop
} >lines
door s.json
like "$(got 1)" '"state":"finished".*"next":"it is over' 'status of the end'
like "$(got 2)" 'isError=' 'a stop of nothing is answered'

done_testing
