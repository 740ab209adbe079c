#!/bin/sh
# Servers that hang, drip, or never end an answer: neither a study that sends a notice
# nor an export waits for them for ever, and SIGTERM ends a server that waits.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3 python3

python3 "$TOP_SRCDIR/tests/support/sh/slow_server.py" >port &
children="$children $!"
ok 'a server' retry [ -s port ]
address=http://127.0.0.1:$(cat port)
unset http_proxy HTTP_PROXY AWS_PROFILE
export AWS_ACCESS_KEY_ID=AKIAEXAMPLE AWS_SECRET_ACCESS_KEY=secret \
    AWS_CONFIG_FILE=/dev/null AWS_SHARED_CREDENTIALS_FILE=/dev/null \
    AWS_EC2_METADATA_DISABLED=true

study() { # name command more
	cat >"$1.json" <<END
{ "study": "$1", "objective": { "metric": "v", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "random", "seed": 1 }, "stopping": "none",
  "trial": { "command": ["sh", "-c", "$2"], "grace": "1s" },
  "limits": { "trials": 1 } $3 }
END
}
sns=", \"notify\": { \"on\": [\"finished\", \"interrupted\"],
    \"sns\": \"arn:aws:sns:eu-west-1:123456789012:news\" }"
asked() { # name
	grep -q "^/$1" asked
}

study st 'echo hpotune: v={x}' ''
ok 'a study' quietly "$HPOTUNE" start st.json
for way in hang drip half endless; do
	background "export-$way" "$HPOTUNE" export --format mlflow \
	    --url "$address/$way/mlflow" st.json
	eval "export_$way=$child"
done

# Its trials have ended: it waits for the notice alone.
for way in hang drip half endless; do
	study "done-$way" 'echo hpotune: v={x}' "$sns"
	background "done-$way" env AWS_ENDPOINT_URL="$address/$way/done" \
	    "$HPOTUNE" start --quiet "done-$way.json"
	eval "done_$way=$child"
done
for way in hang drip half endless; do
	ok "$way: the notice of a study that ends" retry asked "$way/done"
	eval "child=\$done_$way"
	kill -TERM "$child" 2>/dev/null
	reap "$child"
	status=$?
	ok "$way: its server ends by SIGTERM: $status" [ $status = 0 ] || [ $status = 3 ]
	is "$(sql "done-$way.db" 'SELECT state, sent IS NULL FROM study, notices')" \
	    'finished|1' "$way: the notice is due"
done

# A trial runs: the study is interrupted, of which it would tell.
for way in hang endless; do
	study "runs-$way" ': >begun-$HPOTUNE_STUDY; exec sleep 1000' "$sns"
	sed -i "s/begun-.HPOTUNE_STUDY/begun-$way/" "runs-$way.json"
	background "runs-$way" env AWS_ENDPOINT_URL="$address/$way/runs" \
	    "$HPOTUNE" start --quiet "runs-$way.json"
	runs=$child
	ok "$way: a trial runs" retry [ -e "begun-$way" ]
	kill -TERM "$runs"
	reap "$runs"
	is $? 3 "$way: its server ends by SIGTERM"
	is "$(sql "runs-$way.db" 'SELECT state, sent IS NULL FROM study, notices')" \
	    'interrupted|1' "$way: the notice of that is due"
done
# Of four tries, for which it would have waited.
is "$(grep -c ^/hang/runs asked)" 1 'it has not waited for a second try'

for way in hang drip half endless; do
	eval "child=\$export_$way"
	reap "$child"
	is $? 1 "$way: an export ends"
	diag "$(cat "export-$way.err")"
	like "$(cat "export-$way.err")" "$address/$way/mlflow: " "$way: and says why"
done

done_testing
