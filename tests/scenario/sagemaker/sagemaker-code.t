#!/bin/sh
# The code folder is uploaded to S3 once per study and content, without the
# study's own files; problems are reported in one clause.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/standin.sh"

need sqlite3 awk tar gzip
sagemaker_code
standin

run() { # study [option …]: to its end
	run_study=$1
	shift
	timeout 300 "$HPOTUNE" start "$run_study.json" --quiet "$@" \
	    >"$run_study.out" 2>&1
}

puts() { # how many objects were put
	proved requests | grep -o '"s3.PutObject": [0-9]*' | grep -o '[0-9]*$'
}

sagemaker_study a.json a 1 "$(sagemaker_block)"
ok 'a study' run a
is "$(puts)" 2 'archive and entry script'
touch code/train.sh
sed -i 's/"trials": 1/"trials": 2/' a.json
ok 'the same code, touched' run a
is "$(puts)" 2 'is there already'
other_code() {
	sql a.db "SELECT count(*) FROM events WHERE level = 'warning'
	    AND text LIKE 'the code folder has changed%'"
}
is "$(other_code)" 0 'nothing is reported of it'
echo '# more' >>code/train.sh
sed -i 's/"trials": 2/"trials": 3/' a.json
ok 'other code' run a
is "$(puts)" 4 'is put beside it'
is "$(other_code)" 1 'and is reported'
is "$(sql a.db "SELECT count(*) FROM trials WHERE state = 'completed'")" 3 \
    'all trials ran'

# The study lies in its own code folder: what it writes is no code.
mkdir own
cp code/train.sh own
(cd own && sagemaker_study b.json b 9 "$(sagemaker_block |
    sed 's/"code": "code"/"code": "."/')" && sed -i '/workdir/s/"code"/"."/' \
    b.json)
ok 'a study in its code folder' run own/b --trials 1
is "$(puts)" 6 'is put'
ok 'it goes on' run own/b --trials 2
is "$(sql own/b.db "SELECT count(*) FROM trials WHERE state = 'completed'")" \
    2 'with another job'
is "$(puts)" 6 'its database and folder are no code'

# Somebody else writes into the bucket: the job compares what it has got.
for one in "$dir"/aws/s3/bucket/hpotune/*/code/*/run.sh; do
	printf '#!/bin/sh\necho stolen\n' >"$one"
done
sed -i 's/"trials": 3/"trials": 4/' a.json
run a
is "$(sql a.db 'SELECT state FROM trials WHERE trial = 4')" failed \
    'another script in the bucket: its trial fails'
like "$(cat a.d/trials/4/attempt-1/log)" '/hpotune: not what was sent' 'it says why'
unlike "$(cat a.d/trials/4/attempt-*/log)" '^stolen' 'the script is not executed'

# ---- what hinders ----------------------------------------------------------------

sagemaker_study c.json c 2 "$(sagemaker_block | sed 's|s3://bucket|s3://nobody|')"
waits() { # study why: it is said, and ended by the user
	server "$1.json" --quiet
	ok 'it waits' retry sql_is "$1.db" "SELECT count(*) FROM events
	    WHERE text LIKE '%no trial can be started: %$2%'" 1
	is "$(sql "$1.db" "SELECT count(*) FROM trials WHERE state = 'failed'")" \
	    0 'no trial fails'
	kill -INT "$server"
	reap "$server"
}
waits c 'the bucket nobody does not exist'
mkdir -p locked/inner
echo x >locked/inner/file
sagemaker_study d.json d 1 "$(sagemaker_block |
    sed 's/"code": "code"/"code": "locked"/')"
sed -i '/workdir/s/"code"/"locked"/' d.json
mkdir path
printf '#!/bin/sh\necho no >&2\nexit 2\n' >path/tar
chmod +x path/tar
PATH=$PWD/path:$PATH
waits d 'the code folder %/locked cannot be packed'
proved_clean 'code'

# ---- a bucket that takes encrypted objects only; inputs of any form ---------------

PATH=${PATH#*:}
kill $standin
reap $standin
standin --kms-key alias/key
mkdir -p "$dir/aws/s3/bucket/my data"
echo 7 >"$dir/aws/s3/bucket/my data/a file"
sagemaker_study e.json e 1 "$(sagemaker_block)"
like "$("$HPOTUNE" doctor --timeout 300 e.json)" '^bad +bucket .*Access Denied' \
    'without the key nothing can be put'
waits e 'the bucket bucket: %name the key that the bucket asks for'
sagemaker_study f.json f 1 "$(sagemaker_block '"kms_key": "alias/key",
    "inputs": { "blank": "s3://bucket/my data/",
    "url": "https://bucket.s3.eu-west-1.amazonaws.com/my data/",
    "point": "s3://arn:aws:s3:eu-west-1:123456789012:accesspoint/bucket/my data/" }')"
cat >code/train.sh <<'END'
for one in "$SM_CHANNEL_BLANK" "$SM_CHANNEL_URL" "$SM_CHANNEL_POINT"; do
	echo "hpotune: step=1 loss=$(cat "$one/a file")"
done
END
ok 'with the key it is, and the jobs have their inputs' run f
is "$(sql f.db "SELECT objective FROM trials WHERE state = 'completed'")" 7.0 \
    'which the trial could read'
like "$("$HPOTUNE" doctor --timeout 300 f.json)" '^ok +bucket .*can be written' \
    'doctor writes with the key'
done_testing
