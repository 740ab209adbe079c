#!/bin/sh
# logs, status and watch while trials run: output is sanitised, and followed
# until the trial ends.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

cat >trial.sh <<'END'
#!/bin/sh
printf 'tab\there\n\033[31mred\033[0m \302\205 \342\200\256 \377 h\303\251\r\n'
printf 'half \342\226\n'
echo "hpotune: step=1 loss=0.5"
echo "hpotune: step=2 loss=0.25"
until [ -e go ]; do sleep 0.1; done
[ -e once ] || { : >once; echo 'first attempt'; exit 1; }
printf 'the end \303'
END
chmod +x trial.sh
cat >study.json <<'END'
{
  "study": "talk",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "random", "seed": 1 },
  "trial": { "command": ["./trial.sh"], "gpus": 0, "retries": 1 },
  "limits": { "trials": 1, "parallel": 1 }
}
END

has() { # file pattern
	grep -q -e "$2" "$1"
}

server study.json
retry sql_is talk.db 'SELECT count(*) FROM curves' 2
retry sql_is talk.db "SELECT state FROM trials" running

out=$("$HPOTUNE" status)
like "$out" '^talk +running +minimize loss' 'status: the title'
like "$out" '^trials 1 of 1: 1 running; slots: 1 of 1 busy$' 'status: counts'
like "$out" '^ +1 +2 +0.25 +[▁▂▃▄▅▆▇█]{2} +x=' 'status: a curve'
like "$("$HPOTUNE" status --json)" '"state":"running"' 'status --json'
unlike "$out" 'no server' 'status: there is a server'

out=$("$HPOTUNE" logs 1)
like "$out" "$(printf '^tab\there$')" 'logs: tab and newline pass'
like "$out" '^\\x1b\[31mred\\x1b\[0m \\xc2\\x85 \\xe2\\x80\\xae \\xff hé\\x0d$' \
    'logs: controls and bytes that are not UTF-8 are escaped, text is not'
like "$out" '^half \\xe2\\x96$' 'logs: half a character'

background follow "$HPOTUNE" logs 1 -f
follow=$child
ok 'logs -f: prints what is there' retry has follow.out 'step=2'
background watch "$HPOTUNE" watch
watch=$child
ok 'watch: a first screen' retry has watch.out '1 running'
: >go
reap "$server"
is $? 0 'the study ends'
reap "$follow"
is $? 0 'logs -f: ends with the trial'
like "$(cat follow.out)" '^first attempt$' 'logs -f: to the end of one attempt'
like "$(cat follow.out)" 'the end \\xc3$' 'logs -f: and on to the next'
reap "$watch"
is $? 0 'watch: ends with the study'
like "$(cat watch.out)" '1 completed' 'watch: a last screen'

unlike "$("$HPOTUNE" logs 1)" 'first attempt' 'logs: of the newest attempt'

# An attempt that is recorded and has not begun, so there is no log yet.
cat >slow-shim <<END
#!/bin/sh
until [ -e begin ]; do sleep 0.1; done
exec "$HPOTUNE_SHIM" "\$@"
END
chmod +x slow-shim
sed 's/"talk"/"slow"/' study.json >slow.json
background server env HPOTUNE_SHIM="$dir/slow-shim" "$HPOTUNE" start slow.json
server=$child
retry sql_is slow.db 'SELECT attempts FROM trials' 1
background follow "$HPOTUNE" logs slow.json 1 -f
follow=$child
"$HPOTUNE" logs slow.json 1 2>err
is $? 1 'logs: of one that has not begun there is none'
: >begin
reap "$follow"
is $? 0 'logs -f: waits for it'
like "$(cat follow.out)" 'the end \\xc3$' 'logs -f: and prints it'
reap "$server"
rm -r slow.*
like "$("$HPOTUNE" logs 1 --attempt 1)" 'first attempt' 'logs --attempt'
"$HPOTUNE" logs 1 --attempt 3 2>err
is "$?: $(cat err)" '2: hpotune: logs: trial 1 has 2 attempts' \
    'logs --attempt: one there is not'
"$HPOTUNE" logs 2 2>err
is $? 1 'logs: a trial there is not'

# A server that died, seen from a copy of the database without its folder.
sqlite3 talk.db "UPDATE t_study SET state = 'running'"
mkdir elsewhere
sqlite3 talk.db "VACUUM INTO 'elsewhere/talk.db'"
like "$("$HPOTUNE" status elsewhere/talk.db)" '^no server runs this study' \
    'status: the server died'
like "$("$HPOTUNE" status elsewhere/talk.db --json)" '"server":false' \
    'status --json: the server died'
"$HPOTUNE" watch elsewhere/talk.db >out
is $? 0 'watch: does not wait for a server that died'

# Old output is dropped by a hole in the file.
log=$(sql talk.db 'SELECT log FROM attempts WHERE attempt = 2')
i=0
while [ $i -lt 3000 ]; do
	echo "line $i is 64 bytes long, so that the log has about 192 kilobytes"
	i=$((i + 1))
done >"$log"
if fallocate -p -o 0 -l 131072 "$log" 2>/dev/null; then
	out=$("$HPOTUNE" logs 1)
	like "$out" '^\[131072 bytes of output were dropped here\]$' \
	    'logs: a hole is marked'
	like "$out" '^line 2999 ' 'logs: what is kept is printed'
	unlike "$out" '\\x00' 'logs: and nothing of the hole'
else
	skip 'a log with a hole' 'no holes here'
fi
rm "$log"
ln -s /etc/passwd "$log"
"$HPOTUNE" logs 1 >out 2>err
is "$?:$(wc -c <out)" 1:0 'logs: does not follow a link'

done_testing
