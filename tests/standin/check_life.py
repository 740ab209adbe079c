"""The main operations of the stand-in, used by botocore's clients."""

import json
import os
import time
import urllib.error
import urllib.request

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from rig import GROUP, ROLE, Rig, error_of, ok, request, same, until

HELLO = """
echo "process $$"
cat /opt/ml/input/config/hyperparameters.json; echo
for i in 1 2 3; do echo "step=$i loss=0.$i"; done
echo weights >/opt/ml/model/weights
echo notes >/opt/ml/output/data/notes
"""
BASE = 'ml=${SAGEMAKER_BASE_DIR:-/opt/ml}\n'
WAIT = BASE + """
trap 'echo told; exit 5' TERM
echo ready >$ml/checkpoints/ready
echo ready
sleep 600 & wait $!
"""
DEAF = "trap '' TERM\necho ready\nwhile :; do sleep 0.1; done\n"
FAIL = "echo 'it broke' >/opt/ml/output/failure; exit 7\n"


def post(rig, service, target, body, version="1.1", secret="standin-secret",
         **headers):
    """(code, answer) of a request that was signed and may then be bent."""
    asked = AWSRequest("POST", rig.endpoint + "/", headers={
        "Content-Type": "application/x-amz-json-" + version,
        "X-Amz-Target": target}, data=json.dumps(body).encode())
    SigV4Auth(Credentials("standin", secret), service,
              "eu-west-1").add_auth(asked)
    ready = asked.prepare()
    ready.headers.update(headers)
    try:
        with urllib.request.urlopen(urllib.request.Request(
                ready.url, ready.body, dict(ready.headers))) as answer:
            return answer.status, json.loads(answer.read() or b"{}")
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def signatures(rig):
    ok(rig.sts.get_caller_identity()["Arn"].endswith("user/standin"),
       "a good signature is accepted")
    for service in ("sagemaker", "sts", "s3"):
        client = rig.client(service, secret="wrong")
        call = {"sagemaker": lambda c: c.list_training_jobs,
                "sts": lambda c: c.get_caller_identity,
                "s3": lambda c: c.list_buckets}[service](client)
        code, _ = error_of(call)
        same(code, "InvalidSignatureException" if service == "sagemaker"
             else "SignatureDoesNotMatch", service + ": a bad one is not")
    same(error_of(rig.client("logs", key="other").describe_log_groups)[0],
         "UnrecognizedClientException", "nor an unknown key")
    code, said = post(rig, "logs", "Logs_20140328.DescribeLogGroups", {},
                      **{"X-Amz-Target": "Logs_20140328.GetLogEvents"})
    same((code, said["__type"]), (400, "InvalidSignatureException"),
         "nor a signed header that was changed")
    code, said = post(rig, "logs", "Logs_20140328.DescribeLogGroups", {},
                      **{"X-Amz-Other": "1"})
    same(said["__type"], "InvalidSignatureException",
         "nor an x-amz header that is not signed")
    code, said = post(rig, "logs", "SageMaker.ListTrainingJobs", {})
    same(code, 404, "nor another service's operation")


def refusals(rig):
    good = request("bad-1", "code/")

    def refused(what, code="ValidationException", **more):
        _, said = post(rig, "sagemaker", "SageMaker.CreateTrainingJob",
                       dict(good, **more))
        same(said.get("__type"), code, "refused: " + what)

    refused("a name with _", TrainingJobName="bad_1")
    refused("an unknown member", ClientToken="x")
    refused("an unknown member inside",
            StoppingCondition={"MaxRuntimeInSeconds": 5, "MaxWait": 6})
    refused("no channels in a list of them", InputDataConfig=[])
    refused("a number as text", HyperParameters={"lr": 0.1})
    refused("a long value", Environment={"A": "x" * 513})
    refused("an unknown type", ResourceConfig={
        "InstanceType": "ml.none", "InstanceCount": 1, "VolumeSizeInGB": 1})
    refused("MaxWait without spot", StoppingCondition={
        "MaxRuntimeInSeconds": 5, "MaxWaitTimeInSeconds": 6})
    refused("spot without MaxWait", EnableManagedSpotTraining=True)
    refused("MaxWait below MaxRuntime", EnableManagedSpotTraining=True,
            StoppingCondition={"MaxRuntimeInSeconds": 5,
                               "MaxWaitTimeInSeconds": 4})
    refused("a key for NVMe", ResourceConfig={
        "InstanceType": "ml.g5.xlarge", "InstanceCount": 1,
        "VolumeSizeInGB": 1, "VolumeKmsKeyId": "k"})
    same(error_of(rig.sagemaker.describe_training_job,
                  TrainingJobName="none"),
         ("ValidationException", "Requested resource not found."),
         "an unknown job is a ValidationException")
    same(error_of(rig.logs.describe_log_streams, logGroupName=GROUP)[0],
         "ResourceNotFoundException", "no log group before the first line")


def completed(rig):
    rig.create("hello", HELLO)
    code, text = error_of(rig.create, name="hello", script=HELLO)
    ok(code == "ResourceInUse" and "must be unique" in text,
       "a name is taken once")
    said = rig.ended("hello")
    same((said["TrainingJobStatus"], said["SecondaryStatus"]),
         ("Completed", "Completed"), "a job completes")
    same([one["Status"] for one in said["SecondaryStatusTransitions"]],
         ["Starting", "Pending", "Downloading", "Training", "Uploading",
          "Completed"], "its history")
    same(said["FinalMetricDataList"][0]["MetricName"], "loss",
         "its last metric")
    same(said["BillableTimeInSeconds"], said["TrainingTimeInSeconds"],
         "on-demand is billed in full")
    lines = rig.lines("hello")
    ok("process 1" in lines or not os.geteuid() == 0, "process 1", lines)
    ok('{"lr": "0.1"}' in lines and "step=3 loss=0.3" in lines,
       "its lines are in its stream", lines)
    found = rig.logs.filter_log_events(
        logGroupName=GROUP, logStreamNamePrefix="hello/",
        filterPattern='"loss="')["events"]
    same([one["message"] for one in found],
         ["step=%d loss=0.%d" % (i, i) for i in (1, 2, 3)],
         "a filter finds the reports")
    keys = [one["Key"] for one in rig.s3.list_objects_v2(
        Bucket="standin", Prefix="out/hello/")["Contents"]]
    same(keys, ["out/hello/output/data/notes",
                "out/hello/output/model/weights"], "its files are in S3")
    same(rig.sagemaker.list_tags(
        ResourceArn=said["TrainingJobArn"])["Tags"],
        [{"Key": "owner", "Value": "hello"}], "its tags")
    same(error_of(rig.sagemaker.stop_training_job, TrainingJobName="hello"),
         ("ValidationException", "The request was rejected because the "
          "training job is in status Completed."), "no stop after the end")


def metrics(rig):
    """Points come when their minute, 0.6 s here, is over."""
    def points():
        now = time.time()
        return rig.cloudwatch.get_metric_data(
            StartTime=now - 60, EndTime=now + 60, MetricDataQueries=[{
                "Id": "a", "MetricStat": {
                    "Period": 60, "Stat": "SampleCount", "Metric": {
                        "Namespace": GROUP, "MetricName": "loss",
                        "Dimensions": [{"Name": "TrainingJobName",
                                        "Value": "hello"}]}}}],
        )["MetricDataResults"][0]["Values"]
    same(sum(until(points)), 3.0, "its metrics are in CloudWatch")
    rig.cloudwatch.put_metric_alarm(
        AlarmName="idle", Namespace=GROUP, MetricName="GPUUtilization",
        Statistic="Average", Period=60, EvaluationPeriods=15, Threshold=10,
        ComparisonOperator="LessThanThreshold")
    same(len(rig.cloudwatch.describe_alarms(
        AlarmNamePrefix="id")["MetricAlarms"]), 1, "an alarm is kept")
    rig.cloudwatch.delete_alarms(AlarmNames=["idle"])
    same(error_of(rig.cloudwatch.delete_alarms, AlarmNames=["idle"])[0],
         "ResourceNotFound", "and deleted once")


def failed(rig):
    rig.create("fails", FAIL)
    said = rig.ended("fails")
    same((said["TrainingJobStatus"], said["FailureReason"]),
         ("Failed", "AlgorithmError: it broke, exit code: 7"),
         "a failure tells its text and code")
    rig.create("empty", HELLO, InputDataConfig=request(
        "empty", "code/none/")["InputDataConfig"])
    ok("No S3 objects found" in rig.ended("empty")["FailureReason"],
       "a channel without objects fails")


def stopped(rig):
    rig.create("long", WAIT, count=2)
    rig.training("long")
    until(lambda: rig.lines("long").count("ready") == 2)
    rig.sagemaker.stop_training_job(TrainingJobName="long")
    said = rig.ended("long")
    same((said["TrainingJobStatus"], said["SecondaryStatus"]),
         ("Stopped", "Stopped"), "a stop is an end")
    same(rig.lines("long").count("told"), 2, "both hosts saw SIGTERM")
    same(len(rig.streams("long")), 2, "a stream for each host")
    rig.create("deaf", DEAF)
    rig.training("deaf")
    until(lambda: "ready" in rig.lines("deaf"))
    began = time.monotonic()
    rig.sagemaker.stop_training_job(TrainingJobName="deaf")
    same(rig.status("deaf"), "Stopping", "a stop is a state")
    same(rig.ended("deaf")["SecondaryStatus"], "Stopped", "a deaf one too")
    ok(time.monotonic() - began > 1.2, "after 120 s at this pace")
    rig.create("slow", WAIT, max_run=1)
    same(rig.ended("slow")["SecondaryStatus"], "MaxRuntimeExceeded",
         "MaxRuntimeInSeconds ends a job")
    rig.create("early", WAIT)
    rig.sagemaker.stop_training_job(TrainingJobName="early")
    same(rig.ended("early")["SecondaryStatus"], "Stopped",
         "a stop before the training")


def listed(rig):
    names, token = [], {}
    while True:
        page = rig.sagemaker.list_training_jobs(
            MaxResults=2, SortBy="CreationTime", SortOrder="Descending",
            **token)
        names += [one["TrainingJobName"]
                  for one in page["TrainingJobSummaries"]]
        if "NextToken" not in page:
            break
        token = {"NextToken": page["NextToken"]}
    same(names, ["early", "slow", "deaf", "long", "empty", "fails", "hello"],
         "a list in pages, newest first")
    page = rig.sagemaker.list_training_jobs(MaxResults=2,
                                            StatusEquals="Stopped")
    ok(not page["TrainingJobSummaries"] and "NextToken" in page,
       "a status is looked at after the page was cut")


def objects(rig):
    for number in range(5):
        rig.put("list/%d" % number, "x" * number)
    page = rig.s3.list_objects_v2(Bucket="standin", Prefix="list/",
                                  MaxKeys=3)
    more = rig.s3.list_objects_v2(
        Bucket="standin", Prefix="list/",
        ContinuationToken=page["NextContinuationToken"])
    same([one["Size"] for one in page["Contents"] + more["Contents"]],
         [0, 1, 2, 3, 4], "objects are listed in pages")
    same(rig.s3.head_object(Bucket="standin", Key="list/3")["ContentLength"],
         3, "the head of an object")
    rig.s3.delete_object(Bucket="standin", Key="list/3")
    same(error_of(rig.s3.get_object, Bucket="standin", Key="list/3")[0],
         "NoSuchKey", "a deleted object is gone")
    key = "odd name/+&=é'(1).txt"
    rig.put(key, "odd")
    same(rig.s3.get_object(Bucket="standin",
                           Key=key)["Body"].read(), b"odd", "odd keys")
    same(error_of(rig.s3.head_bucket, Bucket="none")[0], "404",
         "no such bucket")


def told(rig):
    """A rule, a queue, and the events of a job."""
    url = rig.sqs.create_queue(QueueName="news")["QueueUrl"]
    arn = rig.sqs.get_queue_attributes(
        QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    rule = rig.events.put_rule(Name="jobs", EventPattern=json.dumps({
        "source": ["aws.sagemaker"],
        "detail-type": ["SageMaker Training Job State Change"],
        "detail": {"TrainingJobName": [{"prefix": "told-"}]}}))["RuleArn"]
    rig.events.put_targets(Rule="jobs", Targets=[{"Id": "q", "Arn": arn}])
    rig.create("told-0", "true")
    rig.ended("told-0")
    same(rig.sqs.receive_message(QueueUrl=url, WaitTimeSeconds=0).get(
        "Messages"), None, "no event passes without a policy")
    rig.sqs.set_queue_attributes(QueueUrl=url, Attributes={
        "Policy": json.dumps({"Statement": [{
            "Effect": "Allow", "Action": "sqs:SendMessage", "Resource": arn,
            "Principal": {"Service": "events.amazonaws.com"},
            "Condition": {"ArnEquals": {"aws:SourceArn": rule}}}]})})
    rig.create("other-1", "true")
    rig.create("told-1", "true")
    seen = []
    while "Completed" not in [one["TrainingJobStatus"] for one in seen]:
        got = rig.sqs.receive_message(QueueUrl=url, WaitTimeSeconds=5,
                                      MaxNumberOfMessages=10)["Messages"]
        seen += [json.loads(one["Body"])["detail"] for one in got]
        rig.sqs.delete_message_batch(QueueUrl=url, Entries=[
            {"Id": str(number), "ReceiptHandle": one["ReceiptHandle"]}
            for number, one in enumerate(got)])
    same({one["TrainingJobName"] for one in seen}, {"told-1"},
         "the events of the jobs of the pattern arrive")
    ok(isinstance(seen[0]["CreationTime"], str), "their times are text")
    same(error_of(rig.events.delete_rule, Name="jobs")[0],
         "ValidationException", "a rule with targets stays")
    rig.events.remove_targets(Rule="jobs", Ids=["q"])
    rig.events.delete_rule(Name="jobs")
    rig.sqs.delete_queue(QueueUrl=url)
    same(error_of(rig.sqs.receive_message, QueueUrl=url)[0],
         "AWS.SimpleQueueService.NonExistentQueue", "a deleted queue is gone")


def sessions(rig):
    got = rig.sts.assume_role(RoleArn=ROLE, RoleSessionName="test")
    keys = got["Credentials"]
    mine = rig.client("sagemaker", keys["AccessKeyId"],
                      keys["SecretAccessKey"], keys["SessionToken"])
    mine.list_training_jobs()
    ok(True, "an assumed role may ask")
    same(error_of(rig.client("sagemaker", keys["AccessKeyId"],
                             keys["SecretAccessKey"]).list_training_jobs)[0],
         "UnrecognizedClientException", "not without its token")
    web = rig.sts.assume_role_with_web_identity(
        RoleArn=ROLE, RoleSessionName="test", WebIdentityToken="t" * 20)
    ok(web["Credentials"]["AccessKeyId"], "a web identity gets a session")

    def get(path, method="GET", **headers):
        with urllib.request.urlopen(urllib.request.Request(
                rig.endpoint + path, method=method,
                headers=headers)) as answer:
            return answer.read().decode()
    token = get("/latest/api/token", "PUT",
                **{"x-aws-ec2-metadata-token-ttl-seconds": "60"})
    base = "/latest/meta-data/iam/security-credentials/"
    head = {"x-aws-ec2-metadata-token": token}
    ok(json.loads(get(base + get(base, **head), **head))["AccessKeyId"],
       "a machine finds its role's keys")
    ok(json.loads(get("/v2/credentials/x"))["Token"],
       "a container finds its keys")


def rooms():
    """Without namespaces a job finds its tree by a variable."""
    with Rig("--no-rooms", "--speed", "200") as rig:
        rig.create("bare", "cat $SAGEMAKER_BASE_DIR/input/config/"
                   "hyperparameters.json\n")
        same(rig.ended("bare")["TrainingJobStatus"], "Completed",
             "a job without namespaces")
        same(rig.lines("bare"), ['{"lr": "0.1"}'], "finds its tree")
        rig.create("left", WAIT)
        rig.training("left")
        until(lambda: rig.lines("left"))
        rig.end()
        found = rig.verify()
        same((found["open"], found["defects"]), (["left"], []),
             "what was open at the end is told")
        same(os.path.exists(os.path.join(
            rig.folder, "jobs/left/algo-1/opt/ml/checkpoints/ready")), True,
            "its folder stays")


def run():
    with Rig() as rig:
        for check in (signatures, refusals, completed, metrics, failed,
                      stopped, listed, objects, told, sessions):
            check(rig)
        same(rig.end(), 0, "it ends well")
        found = rig.verify()
        same((found["open"], found["created_twice"], found["defects"]),
             ([], [], []), "the journal agrees")
    rooms()
