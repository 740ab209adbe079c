#!/bin/sh
# Training jobs without a server: a stop reaches them, jobs without an owner are
# found and stopped, doctor checks the requirements, an exiting server does not
# wait for minutes.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/standin.sh"

need sqlite3 awk tar gzip
sagemaker_code
: >code/slow
standin

running() { # study: both of its trials train
	sql_is "$1.db" "SELECT count(*) FROM trials WHERE state = 'running'" 2
}

killed() { # study: its server is killed while both train
	server "$1.json" --quiet
	retry running "$1" || { diag "$(cat server.err)"; return 1; }
	kill -9 "$server"
	reap "$server" 2>/dev/null
	[ $? -eq 137 ]
}

# ---- doctor -------------------------------------------------------------------

sagemaker_study a.json a 2 "$(sagemaker_block)"
doctor=$("$HPOTUNE" doctor --timeout 300 a.json)
for line in 'region +eu-west-1' 'credentials +arn:aws:iam::123456789012' \
    'clock +[0-9]+ s' 'role +arn:aws' 'bucket .*is there' \
    'bucket .*can be written' 'training jobs' 'logs'; do
	like "$doctor" "^ok +$line" "doctor: $line"
done
unlike "$doctor" canary-secret 'no secret in it'
sed 's/"region": "[^"]*", *//' a.json >c.json
doctor=$(AWS_REGION=eu-west-1 AWS_DEFAULT_REGION=us-east-1 \
    "$HPOTUNE" doctor --timeout 300 c.json)
like "$doctor" '^warning +region +eu-west-1, but .*us-east-1' \
    'two variables that name different regions'
sagemaker_study b.json b 2 "$(sagemaker_block |
    sed 's|s3://bucket|s3://nobody|; s/role".*Trials"/role": "arn:aws:iam::210987654321:role\/T"/')"
doctor=$("$HPOTUNE" doctor --timeout 300 b.json)
like "$doctor" '^bad +bucket +s3://nobody' 'a bucket that is not there'
is "$(printf '%s\n' "$doctor" | grep -c s3://nobody)" 1 'which is reported once'
like "$doctor" '^bad +role .*another account' 'a role of another account'

# A service that takes the question and never answers.
cat >silent.py <<'END'
import os, socket, time
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen()
with open("silent.new", "w") as f:
    f.write(str(s.getsockname()[1]))
os.rename("silent.new", "silent")
time.sleep(600)
END
background deaf python3 silent.py
retry test -e silent
doctor=$(AWS_ENDPOINT_URL=http://127.0.0.1:$(cat silent) \
    "$HPOTUNE" doctor --timeout 1 a.json)
is $? 1 'a service that does not answer: not well'
like "$doctor" '^bad +credentials +no answer within 1 s' \
    'the service is named'

# Where no answer comes the mend is about the way, and not about keys.
away() { # name pattern variable=value …
	away_name=$1
	away_like=$2
	shift 2
	doctor=$(env "$@" "$HPOTUNE" doctor --timeout 300 a.json)
	is $? 1 "$away_name: not well"
	like "$(printf '%s\n' "$doctor" | tr -s ' \n' ' ')" \
	    "bad credentials .*$away_like" "$away_name: the mend"
	unlike "$doctor" 'set AWS_PROFILE' "$away_name: not about keys"
}
plain=${AWS_ENDPOINT_URL#http://}
sed 's/^time.*/while True:\n    c = s.accept()[0]\n    c.recv(1)\n    c.sendall(b"HTTP\/1.1 400 Bad\\r\\n\\r\\n")\n    c.close()/
    s/silent/rude/g' silent.py >rude.py
background rude python3 rude.py
retry test -e rude
away 'no TLS there' AWS_CA_BUNDLE \
    AWS_ENDPOINT_URL="https://127.0.0.1:$(cat rude)"
away 'a proxy that refuses' 'see https_proxy and no_proxy' \
    AWS_ENDPOINT_URL=https://aws.invalid https_proxy="http://$plain"
away 'a proxy that is not there' 'network, https_proxy' \
    AWS_ENDPOINT_URL=https://aws.invalid https_proxy=http://127.0.0.1:1
away 'a name that nobody knows' 'name service' \
    AWS_ENDPOINT_URL=https://aws.invalid

# The keys of the environment go before a profile of the environment, as in
# botocore, and after one that the block names.
cat >config <<'END'
[profile other]
aws_access_key_id = another
aws_secret_access_key = another
END
doctor=$(AWS_CONFIG_FILE=$PWD/config AWS_PROFILE=other "$HPOTUNE" doctor --timeout 300 a.json)
like "$doctor" '^ok +credentials .*environment' 'keys go before AWS_PROFILE'
sed 's/"region"/"profile": "other", &/' a.json >d.json
doctor=$(AWS_CONFIG_FILE=$PWD/config "$HPOTUNE" doctor --timeout 300 d.json)
like "$doctor" '^bad +credentials' 'the key profile goes before the keys of the environment'

# ---- no credentials -------------------------------------------------------------

# Without keys, in the environment or a profile, and without an instance's.
unkeyed() { # command …
	env -u AWS_ACCESS_KEY_ID -u AWS_SECRET_ACCESS_KEY -u AWS_PROFILE \
	    AWS_EC2_METADATA_DISABLED=true AWS_CONFIG_FILE=/nonexistent \
	    AWS_SHARED_CREDENTIALS_FILE=/nonexistent "$@" >out 2>err
}
sed 's/"study": "a"/"study": "unkeyed"/' a.json >unkeyed.json
fails 'start without credentials ends at once' 2 unkeyed "$HPOTUNE" start unkeyed.json
like "$(cat err)" 'no AWS credentials: .*set AWS_PROFILE, or the keys' 'in the words of doctor'
is "$(find . -name 'unkeyed.d*')" '' 'nothing is left behind'
ok 'check accepts the study' unkeyed "$HPOTUNE" check unkeyed.json
like "$(cat out)" 'credentials of AWS: none are visible' 'and says that there are none'
"$HPOTUNE" check a.json >out
unlike "$(cat out)" 'none are visible' 'where there are keys it does not'

# ---- stop without a server --------------------------------------------------------

ok 'a server is killed while its jobs train' killed a
is "$(sql a.db "SELECT count(*) FROM attempts WHERE state = 'running'")" 2 \
    'its attempts are open'
gc=$("$HPOTUNE" sagemaker gc a.json --stop)
is "$(printf '%s\n' "$gc" | grep -c '^owned')" 2 'gc lists both jobs as owned'
is "$(proved stops)" 0 'and stops no trial'
"$HPOTUNE" stop a.json 1 >stop.out
is $? 0 'one trial is stopped'
is "$(proved stops)" 1 'its job is stopped at once'
"$HPOTUNE" stop a.json >stop.out
is $? 0 'all are'
is "$(proved stops)" 2 'the other one too'
rm code/slow
ok 'the next server' timeout 300 "$HPOTUNE" start a.json --quiet
is "$(sql a.db 'SELECT trial, attempt, end_class FROM attempts')" '1|1|user
2|1|user
2|2|ok' 'records it, and goes on with what was interrupted'

# ---- a study is lost ------------------------------------------------------------

: >code/slow
sagemaker_study lost.json lost 2 "$(sagemaker_block)"
ok 'another server is killed' killed lost
rm -rf lost.db* lost.d
gc=$("$HPOTUNE" sagemaker gc a.json --stop)
unlike "$gc" '^owned' 'a study that is gone owns nothing'
is "$(proved stops)" 2 'but its jobs may be somebody else’s'
id=$(echo "$gc" | sed -n 's/.* \(lost-[0-9a-f]\{6\}\) .*/\1/p' | sed 1q)
"$HPOTUNE" sagemaker gc a.json --stop --lost "$id" >gc.out
is "$(proved stops)" 4 'until it is declared lost'

# ---- the study moves while its jobs run ---------------------------------------------

sagemaker_study moved.json moved 2 "$(sagemaker_block)"
ok 'a server is killed once more' killed moved
jobs=$(proved jobs)
sed -i 's/"eu-west-1"/"us-east-1"/' moved.json
server moved.json --quiet
ok 'in another region it cannot tell' retry sql_is moved.db \
    "SELECT count(*) FROM events WHERE text LIKE '%its training job is in eu-west-1/123456789012, but study.json names us-east-1/123456789012 now'" 2
kill -9 "$server"
reap "$server" 2>/dev/null
is "$(proved jobs)" "$jobs" 'and begins nothing a second time'
rm code/slow
sed -i 's/"us-east-1"/"eu-west-1"/' moved.json
"$HPOTUNE" stop moved.json >stop.out
ok 'back again, it is ended' timeout 300 "$HPOTUNE" start moved.json --quiet
: >code/slow

# ---- a server that leaves ------------------------------------------------------------

sagemaker_study left.json left 2 "$(sagemaker_block)"
server left.json --quiet
ok 'a third server runs' retry running left
kill -INT "$server"
ok 'told to leave, it stops its jobs' retry sql_is left.db \
    "SELECT count(*) FROM trials WHERE state IN ('stopping', 'waiting')" 2
kill -INT "$server"
reap "$server"
is $? 3 'told again, it leaves'
rm code/slow
ok 'the next one goes on' timeout 300 "$HPOTUNE" start left.json --quiet
is "$(sql left.db "SELECT count(*) FROM trials WHERE state = 'completed'")" 2 \
    'to the end'
proved_clean 'without a server'
done_testing
