#!/bin/sh
# GPU use of a job, read from CloudWatch for all its machines.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/standin.sh"

need sqlite3 awk tar gzip
sagemaker_code
# Of four GPUs the first machine uses two, the second one.
standin --speed 100 --gpu-utilization 100 --virtual '{ "steps": 5,
    "seconds": 0.8, "line": "hpotune: step=%STEP% loss=%VALUE%" }'
block=$(sagemaker_block '"instance_count": 2' |
    sed 's/\["ml.g5.xlarge", "ml.g4dn.xlarge"\]/"ml.g4dn.12xlarge"/
	s/"price_per_hour": {[^}]*}/"price_per_hour": {"ml.g4dn.12xlarge": 4}/')

sagemaker_study used.json used 2 "$block"
ok 'a study on eight GPUs' timeout 300 "$HPOTUNE" start used.json --quiet
is "$(sql used.db 'SELECT gpus, gpu_utilization FROM attempts')" '8|37.5
8|37.5' 'what each of the two machines used is in the attempt'
is "$(sql used.db 'SELECT gpu_utilization FROM trials')" '37.5
37.5' 'and in the trial'
"$python" - aws/requests.jsonl >asked <<'END'
import json, sys
for line in open(sys.argv[1]):
    line = json.loads(line)
    if line.get("op") == "GetMetricData":
        print(line["verdict"])
END
is "$(sort -u asked)" ok 'with the parameters that CloudWatch requires'

standin_faults '{ "denied": { "on": "monitoring.*" } }'
sagemaker_study kept.json kept 2 "$block"
ok 'where that is denied, trials run all the same' \
    timeout 300 "$HPOTUNE" start kept.json --quiet
is "$(sql kept.db 'SELECT state, count(*) FROM trials')" 'completed|2' 'all'
is "$(sql kept.db "SELECT count(*) FROM events WHERE text LIKE
    'the use of GPUs cannot be read (cloudwatch:GetMetricData)%'")" 1 \
    'and it is reported once'
standin_faults '{}'

sagemaker_study cpu.json cpu 1 "$(sagemaker_block |
    sed 's/\["ml.g5.xlarge", "ml.g4dn.xlarge"\]/"ml.m5.large"/
	s/"price_per_hour": {[^}]*}/"price_per_hour": {"ml.m5.large": 1}/')"
n=$(grep -c GetMetricData aws/requests.jsonl)
ok 'a study without GPUs' timeout 300 "$HPOTUNE" start cpu.json --quiet
is "$(grep -c GetMetricData aws/requests.jsonl)" "$n" 'asks for none'
proved_clean 'all'
done_testing
