#!/bin/sh
# The model of a trial: recorded, shown, in the form of CreateModel, and
# downloaded.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/standin.sh"
. "$TOP_SRCDIR/tests/support/sh/botocore.sh"

need sqlite3 awk tar gzip
sagemaker_code
# 9 MiB: more than one piece.
cat >>code/train.sh <<'END'
mkdir -p "$SM_MODEL_DIR/deep"
head -c 9437184 /dev/zero | tr '\0' x >"$SM_MODEL_DIR/deep/weights"
echo "$x" >"$SM_MODEL_DIR/x"
: >"$SM_MODEL_DIR/empty"
echo seen >"$SM_OUTPUT_DATA_DIR/notes"
END
standin

sagemaker_study a.json a 2 "$(sagemaker_block)"
timeout 300 "$HPOTUNE" start a.json --quiet >a.out 2>&1
is $? 0 'a study' || diag "$(cat a.out)"
best=$(sql a.db 'SELECT trial FROM best')
job=$(sql a.db "SELECT replace(place, rtrim(place, replace(place, ' ', '')), '')
    FROM attempts WHERE trial = $best")
uri=$(sql a.db 'SELECT model_uri FROM best')
like "$uri" "^s3://bucket/hpotune/a-[0-9a-f]+/out/$job/output/model/\$" \
    'its model is recorded'
is "$(sql a.db 'SELECT output_uri FROM best')" "${uri%model/}data/" \
    'and its output'
is "$(sql a.db "SELECT count(*) FROM results WHERE model_uri IS NOT NULL
    AND output_uri IS NOT NULL")" 2 'results have both'
is "$(sql a.db "SELECT model_uri FROM attempts WHERE trial = $best")" "$uri" \
    'attempts, too'
like "$("$HPOTUNE" best a.json)" "^model  $uri\$" 'best prints the address'
like "$("$HPOTUNE" best --json a.json)" "\"model_uri\":\"$uri\"" 'also as JSON'
quietly "$HPOTUNE" report a.json
ok 'the report has it' grep -q "$uri" a.html
like "$("$HPOTUNE" export a.json)" "$uri" 'the export has it'

# As AWS's hosting is told it.
fits() { # file
	PYTHONPATH=$TOP_SRCDIR/tests/standin "$python" - "$1" <<'END'
import json, sys
import models
models.load("sagemaker").check("CreateModel", json.load(open(sys.argv[1])))
END
}
"$HPOTUNE" sagemaker model a.json >model.json 2>err
is $? 0 'the model of the best trial' || diag "$(cat err)"
# Botocore has ModelDataSource since 2023.
if python_has "$botocore_new"; then
	ok 'is a request that AWS takes' fits model.json
else
	skip 'is a request that AWS takes' "NOT COMPARED: no $botocore_new"
fi
is "$(sqlite3 :memory: "SELECT json_extract(readfile('model.json'),
    '\$.PrimaryContainer.ModelDataSource.S3DataSource.S3Uri')")" "$uri" \
    'of the files there'
like "$(cat err)" 'create-model' 'and what to do with it'
like "$("$HPOTUNE" sagemaker model --json a.json 2 2>&1)" '^{"trial":2,"model":' \
    'of another trial'
"$HPOTUNE" sagemaker model a.json 7 >out 2>err
is "$? $(cat err)" '1 hpotune: a: there is no trial 7' 'of none'

"$HPOTUNE" sagemaker model a.json --fetch here >out 2>err
is "$? $(cat out)" '0 here' 'it is fetched' || diag "$(cat err)"
is "$(find here -type f | sort | tr '\n' ' ')" \
    'here/deep/weights here/empty here/x ' 'with all its files'
is "$(tr -d x <here/deep/weights | wc -c) $(wc -c <here/deep/weights)" \
    '0 9437184' 'and all their bytes'
"$HPOTUNE" sagemaker model a.json --fetch here >out 2>err
is $? 1 '--fetch into an existing folder fails'
like "$(cat err)" 'exists already' 'it reports this'
rm -r "$dir/aws/s3/bucket/hpotune"/a-*/out
"$HPOTUNE" sagemaker model a.json --fetch there >out 2>err
is $? 1 '--fetch fails when the objects were removed'
like "$(cat err)" 'nothing found' 'the error reports it'
is "$(ls -d there* 2>&1 | grep -c '^there')" 0 'and nothing is left'

# Packed, as hosting has it.
sagemaker_study b.json b 1 "$(sagemaker_block '"model": "tar.gz"')"
timeout 300 "$HPOTUNE" start b.json --quiet >b.out 2>&1
uri=$(sql b.db 'SELECT model_uri FROM best')
like "$uri $(sql b.db 'SELECT output_uri FROM best')" \
    '/output/model.tar.gz s3:.*/output/output.tar.gz$' 'packed: both archives'
"$HPOTUNE" sagemaker model b.json >model.json 2>err
ok 'packed: a request that AWS takes' fits model.json
is "$(sqlite3 :memory: "SELECT json_extract(readfile('model.json'),
    '\$.PrimaryContainer.ModelDataUrl')")" "$uri" 'packed: by its URL'
"$HPOTUNE" sagemaker model b.json --fetch packed >out 2>err
is "$(tar -tzf packed/model.tar.gz | sort | tr '\n' ' ')" 'deep/weights empty x ' \
    'packed: fetched'
sqlite3 b.db "UPDATE t_left SET model = ''"
"$HPOTUNE" sagemaker model b.json 1 >out 2>err
is "$? $(cat out)" '1 ' 'an address that is empty is no model'
like "$(cat err)" 'trial 1 has left no model in S3' 'the error reports it'
proved_clean 'model'
done_testing
