#!/bin/sh
# External watching: the rule and its queue, the alarms and the metrics of a
# study are created on request, report changes when polling is slow, are not
# needed when they fail, and are removed with the last job.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/standin.sh"
need sqlite3

sagemaker_code
watch='"watch": true'
others='"publish": true, "alarm": { "gpu_idle": 10, "minutes": 20,
    "action": "arn:aws:sns:eu-west-1:123456789012:hpotune" }'

asked() { # service.operation: how many such requests were answered well
	grep "\"service\":\"${1%.*}\"" aws/requests.jsonl |
	    grep "\"op\":\"${1#*.}\"" | grep -c '"verdict":"ok"'
}
asked_once() { # operation …
	for op; do
		ok "$op was asked" test "$(asked $op)" -ge 1
	done
}

# All of it, while a job runs.
touch code/slow
sagemaker_study study.json watched 1 \
    "$(sagemaker_block "$watch" "$others" | sed 's/ml.g5.xlarge/ml.g5.12xlarge/g')"
standin
server study.json
running() {
	sql_is watched.db 'SELECT state, reports FROM trials' 'running|3' &&
	    [ "$(asked monitoring.PutMetricData)" -ge 1 ] &&
	    [ "$(asked monitoring.PutMetricAlarm)" -ge 1 ] &&
	    [ "$(asked sqs.ReceiveMessage)" -ge 1 ]
}
ok 'a job is watched' retry running
is "$(PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$TOP_SRCDIR/tests/standin \
    "$python" - "$AWS_ENDPOINT_URL" <<'END'
import os, sys
from rig import make_client
client = make_client("cloudwatch", sys.argv[1],
    os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"])
one, = client.describe_alarms()["MetricAlarms"]
print(int(one["Threshold"]), one["EvaluationPeriods"], one["MetricName"],
    one["AlarmActions"][0].rsplit(":", 1)[1])
END
)" '40 20 GPUUtilization hpotune' \
    'an alarm on four GPUs that stand idle for 20 minutes'
asked_once sqs.CreateQueue events.PutRule sqs.SetQueueAttributes \
    events.PutTargets
is "$(asked sqs.DeleteQueue)" 0 'the queue is there'
kill -INT $server
reap $server
is $? 3 'it is interrupted'
is "$(sql watched.db "SELECT text FROM events
    WHERE level <> 'info'")" '' 'nothing went wrong'
asked_once monitoring.DeleteAlarms events.RemoveTargets events.DeleteRule \
    sqs.DeleteQueue
proved_clean 'watched'
kill $standin
reap $standin
rm -rf aws watched.* code/slow

# Lists fail: each job is looked at by its name, and the queue says when.
sagemaker_study study.json deaf 2 "$(sagemaker_block "$watch")"
standin --faults '{ "error500_before": { "p": 1,
    "on": "sagemaker.ListTrainingJobs" } }'
"$HPOTUNE" start study.json >out 2>err
is $? 0 'without lists the study ends well' || diag "$(tail err)"
is "$(sql deaf.db "SELECT count(*) FROM trials
    WHERE state = 'completed'")" 2 'by what single jobs say'
proved_clean 'without lists'
kill $standin
reap $standin
rm -rf aws deaf.*

# No event arrives: the poller is the truth.
standin --faults '{ "event_lost": 1 }'
"$HPOTUNE" start study.json >out 2>err
is $? 0 'without events the study ends well' || diag "$(tail err)"
proved_clean 'without events'
kill $standin
reap $standin
rm -rf aws deaf.*

# What was taken away although the answer was lost is gone: no trouble.
sagemaker_study study.json gone 2 "$(sagemaker_block "$others")"
standin --faults '{ "drop_after": { "on": "monitoring.DeleteAlarms",
    "max": 2 } }'
"$HPOTUNE" start study.json >out 2>err
is $? 0 'with lost answers the study ends well'
is "$(sql gone.db "SELECT text FROM events
    WHERE level <> 'info'")" '' 'an alarm that is gone already is no trouble'
kill $standin
reap $standin
rm -rf aws gone.*

# Nothing is asked for, nothing is made.
sagemaker_study study.json plain 1 "$(sagemaker_block)"
standin
"$HPOTUNE" start study.json >out 2>err
is $? 0 'without any of it the study ends well'
is "$(asked sqs.CreateQueue) $(asked monitoring.PutMetricAlarm) $(
    asked monitoring.PutMetricData)" '0 0 0' 'and nothing was made'

done_testing
