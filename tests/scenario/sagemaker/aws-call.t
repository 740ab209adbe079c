#!/bin/sh
# The AWS client against the stand-in and, where installed, moto's server, which
# both verify signatures with botocore's code.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

find_python botocore
ask=$TOP_BUILDDIR/tests/tools/aws-request
HOME=$dir
AWS_REGION=us-east-1
AWS_CONFIG_FILE=/dev/null
AWS_SHARED_CREDENTIALS_FILE=/dev/null
AWS_EC2_METADATA_DISABLED=true
export HOME AWS_REGION AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE \
    AWS_EC2_METADATA_DISABLED
for name in $(env | sed -n 's/^\(AWS_[A-Z0-9_]*\)=.*/\1/p' | grep -vxE \
    'AWS_REGION|AWS_(CONFIG|SHARED_CREDENTIALS)_FILE|AWS_EC2_METADATA_DISABLED')
do
	unset "$name"
done
unset http_proxy https_proxy all_proxy ALL_PROXY HTTPS_PROXY
odd='a b/c+d é~*(1)&=?#%41.gz'

# A stand-in of its own; its endpoint and its keys are those asked from now.
standin() { # name option …
	standin_name=$1
	shift
	mkdir "$standin_name"
	background "$standin_name" "$python" "$TOP_SRCDIR/tests/standin/standin.py" \
	    --dir "$standin_name" --no-rooms "$@"
	retry test -s "$standin_name/endpoint" ||
	    diag "$(cat "$standin_name.err")"
	AWS_ENDPOINT_URL=$(cat "$standin_name/endpoint")
	AWS_ACCESS_KEY_ID=standin
	AWS_SECRET_ACCESS_KEY=standin-secret
	export AWS_ENDPOINT_URL AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY
}

asked() { # what pattern argument …: what is answered, or said of it
	asked_what=$1
	asked_want=$2
	shift 2
	like "$("$ask" "$@" 2>&1)" "$asked_want" "$asked_what"
}

# What S3 does, on either side; the bucket is there.
objects() { # side bucket
	head -c 100000 /dev/urandom >object
	ok "$1: an object with an odd name" "$ask" s3 PUT "$2" "$odd" object
	"$ask" s3 GET "$2" "$odd" >same
	ok "$1: comes back" cmp object same
	ok "$1: is there" "$ask" s3 HEAD "$2" "$odd"
	is "$("$ask" s3 LIST "$2" 'a b/' | cut -f 1,2)" "$odd	100000" \
	    "$1: and in the list"
	ok "$1: goes" "$ask" s3 DELETE "$2" "$odd"
	asked "$1: and is no more" '^missing - sent clear' s3 HEAD "$2" "$odd"
	asked "$1: nor to be had" '^missing NoSuchKey sent clear' \
	    s3 GET "$2" "$odd"
	asked "$1: no such bucket" '^missing NoSuchBucket' s3 LIST nobucket x
	like "$("$ask" -n 30 s3 PUT "$2" 'many/@' object)" '^ok 30$' \
	    "$1: many objects"
	is "$("$ask" s3 LIST "$2" many/ | wc -l | tr -d ' ')" 30 \
	    "$1: and a list of them"
	is "$("$ask" s3 LIST "$2" many/ 7 | wc -l | tr -d ' ')" 7 \
	    "$1: or of the first ones"
}

# What the others do alike on either side.
services() { # side
	asked "$1: EventBridge" '"RuleArn":"arn:aws:events:' events PutRule \
	    '{"Name":"a","State":"ENABLED","EventPattern":"{\"source\":[\"x\"]}"}'
	asked "$1: SQS" '"QueueUrl":"http' sqs CreateQueue '{"QueueName":"q"}'
	asked "$1: no such queue" '^missing QueueDoesNotExist sent clear' \
	    sqs GetQueueUrl '{"QueueName":"none"}'
	asked "$1: STS" '<Arn>arn:aws:iam::123456789012:user/' sts whoami
	asked "$1: CloudWatch" '"MetricDataResults":\[' cloudwatch \
	    GetMetricData '{"MetricDataQueries":[],"StartTime":1,"EndTime":99}'
	asked "$1: no such log group" \
	    '^missing ResourceNotFoundException sent clear' \
	    logs DescribeLogStreams '{"logGroupName":"/none"}'
}

standin plain
asked 'SageMaker lists' '^{"TrainingJobSummaries":\[\]}$' sagemaker \
    ListTrainingJobs '{"NameContains":"hpt-","MaxResults":100}'
asked 'an unknown job is missing' '^missing ValidationException sent clear' \
    sagemaker DescribeTrainingJob '{"TrainingJobName":"none"}'
asked 'a wrong request is ours' '^caller ValidationException sent clear' \
    sagemaker CreateTrainingJob '{"TrainingJobName":"none"}'
objects stand-in standin
services stand-in

canary=wrong-$$-secret
AWS_SECRET_ACCESS_KEY=$canary
asked 'a wrong key is refused' \
    '^credentials InvalidSignatureException sent clear' \
    sagemaker ListTrainingJobs
asked 'by S3 too' '^credentials SignatureDoesNotMatch sent clear' \
    s3 LIST standin x
unlike "$("$ask" sagemaker ListTrainingJobs 2>&1)" "$canary|x-amz-date" \
    'the secret and the canonical request are not printed'

standin skewed --faults '{"clock_skew": {"seconds": 7200}}'
asked 'a clock two hours off' '^{"TrainingJobSummaries":\[\]}$' \
    sagemaker ListTrainingJobs
asked 'is told' 'clock of this machine is 7(19|20)[0-9] s behind' \
    sagemaker ListTrainingJobs
asked 'S3 too' 'requests are dated by theirs$' s3 HEAD standin ''

# Every misfortune that a request can have, and all calls are answered.
standin unlucky --seed "$(date +%s)" --faults '{
    "throttle": 0.2, "error500_before": 0.1, "error503_before": 0.05,
    "error500_after": 0.1, "drop_before": 0.05, "drop_after": 0.1 }'
got=$("$ask" -n 120 -t -1 -p 2000 events PutRule \
    '{"Name":"r@","State":"ENABLED","EventPattern":"{\"source\":[\"x\"]}"}')
like "$got" '^ok 120$' 'unlucky calls are all answered in the end'
like "$got" '^unclear [1-9]' 'some after a try that may have acted'
like "$got" '^requests (1[3-9]|[2-9])[0-9]+$' 'none without trying again'
diag "$got"
got=$("$ask" -n 60 -t -1 -p 2000 s3 PUT standin 'many/@' object)
like "$got" '^ok 60$' 'all S3 requests succeed in spite of faults'
retry "$ask" -t -1 -p 2000 s3 LIST standin many/ >list
is "$(wc -l <list | tr -d ' ')" 60 'and everything is there'

# Keys that end after a few uses.
standin worn --faults '{"expire_credentials": {"every": 15}}'
unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY
AWS_CONTAINER_CREDENTIALS_FULL_URI=$AWS_ENDPOINT_URL/v2/credentials/x
export AWS_CONTAINER_CREDENTIALS_FULL_URI
got=$("$ask" -n 50 -t -1 -p 5 events ListRules '{}')
like "$got" '^ok 50$' 'keys that end after fifteen uses are renewed'
unset AWS_CONTAINER_CREDENTIALS_FULL_URI

# moto, the second and independent peer.
python_has moto flask flask_cors || {
	skip 'moto says the same' 'NOT COMPARED: moto with its server is missing'
	done_testing
}
cat >keys.py <<'END'
import json, sys
import botocore.session
iam = botocore.session.get_session().create_client(
    "iam", region_name="us-east-1", endpoint_url=sys.argv[1],
    aws_access_key_id="x", aws_secret_access_key="y")
iam.create_user(UserName="u")
key = iam.create_access_key(UserName="u")["AccessKey"]
iam.put_user_policy(UserName="u", PolicyName="all", PolicyDocument=json.dumps(
    {"Version": "2012-10-17", "Statement": [
        {"Effect": "Allow", "Action": "*", "Resource": "*"}]}))
print(key["AccessKeyId"], key["SecretAccessKey"])
END
INITIAL_NO_AUTH_ACTION_COUNT=3
export INITIAL_NO_AUTH_ACTION_COUNT
background moto "$python" -m moto.server -H 127.0.0.1 -p 0
retry grep -qs 'Running on' moto.err moto.out
AWS_ENDPOINT_URL=$(sed -n 's/.*Running on \(http:[^ ]*\).*/\1/p' \
    moto.err moto.out | head -n 1)
"$python" keys.py "$AWS_ENDPOINT_URL" >keys
read -r AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY <keys
export AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY
"$ask" s3 PUT standin '' >/dev/null
# Some versions of moto refuse such names from botocore's own client, too.
cat >names.py <<'END'
import os, sys
import botocore.session
from botocore.config import Config
s3 = botocore.session.get_session().create_client(
    "s3", region_name="us-east-1", endpoint_url=sys.argv[1],
    config=Config(s3={"addressing_style": "path"}))
s3.put_object(Bucket="standin", Key="a/b=c", Body=b"x")
s3.delete_object(Bucket="standin", Key="a/b=c")
END
if "$python" names.py "$AWS_ENDPOINT_URL" 2>names.err; then
	objects moto standin
else
	skip 'moto: objects' "NOT COMPARED: it refuses botocore: $(
	    tail -n 1 names.err | cut -c 1-120)"
fi
services moto
group=/aws/sagemaker/TrainingJobs
ok 'moto: a log group' "$ask" logs CreateLogGroup "{\"logGroupName\":\"$group\"}"
asked 'moto: only once' '^exists ResourceAlreadyExistsException sent clear' \
    logs CreateLogGroup "{\"logGroupName\":\"$group\"}"
ok 'moto: a stream' "$ask" logs CreateLogStream \
    "{\"logGroupName\":\"$group\",\"logStreamName\":\"j/algo-1-1\"}"
asked 'moto: a line' nextSequenceToken logs PutLogEvents "{\"logGroupName\":\"$group\",
    \"logStreamName\":\"j/algo-1-1\",\"logEvents\":[
    {\"timestamp\":$(date +%s)000,\"message\":\"tag \\u0000 é\"}]}"
asked 'moto: comes back' '"message":"tag .*"' logs GetLogEvents \
    "{\"logGroupName\":\"$group\",\"logStreamName\":\"j/algo-1-1\",
    \"startFromHead\":true}"
AWS_SECRET_ACCESS_KEY=$canary
asked 'moto: a wrong key is refused' \
    '^credentials SignatureDoesNotMatch sent clear' s3 LIST standin x
unlike "$("$ask" s3 LIST standin x 2>&1)" "$canary" 'and not shown'

done_testing
