"""The answers of the stand-in have the same structure as moto's, where both
support an operation.

moto is a second, independent imitation of AWS.  Skipped without it."""

import json
import time

from botocore.exceptions import ClientError

from rig import GROUP, ROLE, Rig, make_client, ok, same

# Members that one of the two leaves out and AWS may leave out or give.
EITHER = {"uploadSequenceToken", "firstEventTimestamp", "lastEventTimestamp",
          "lastIngestionTime", "CreatedBy", "EventBusName", "Attributes",
          "searchedLogStreams", "PackedPolicySize", "Description",
          "ChecksumAlgorithm", "ChecksumType", "ChecksumCRC32", "VersionId",
          "ServerSideEncryption", "Owner", "FailedEntries", "Failed",
          "BucketArn", "AccessPointAlias", "storedBytes", "EncodingType",
          "ContentType", "Metadata", "AcceptRanges", "MessageAttributes",
          "BucketRegion", "RequestCharged", "StartAfter"}


def shape(value):
    """Names and types of an answer, to any depth."""
    if isinstance(value, dict):
        return {key: shape(one) for key, one in value.items()
                if key not in EITHER and key != "ResponseMetadata"}
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    return type(value).__name__.replace("Checksum", "")


def call(client, operation, **arguments):
    """(answer, its shape): an error's shape is its code and status."""
    try:
        got = getattr(client, operation)(**arguments)
    except ClientError as error:
        got = error.response
        return got, ("error", got["Error"]["Code"],
                     got["ResponseMetadata"]["HTTPStatusCode"])
    return got, shape(got)


class Pair:
    """Two clients of one service that are asked the same."""

    def __init__(self, service, rig, moto):
        self.service = service
        self.ours = rig.client(service)
        self.theirs = make_client(service, moto, "standin", "standin-secret")

    def same(self, operation, ours=None, theirs=None, **arguments):
        mine, one = call(self.ours, operation, **dict(arguments,
                                                      **(ours or {})))
        other, two = call(self.theirs, operation, **dict(arguments,
                                                         **(theirs or {})))
        same(one, two, "%s.%s has moto's shape" % (self.service, operation))
        return mine, other


def queues(pair):
    one, two = pair.same("create_queue", QueueName="q")
    urls = {"ours": {"QueueUrl": one["QueueUrl"]},
            "theirs": {"QueueUrl": two["QueueUrl"]}}
    pair.same("get_queue_url", QueueName="q")
    pair.same("get_queue_attributes", AttributeNames=["QueueArn"], **urls)
    pair.same("set_queue_attributes",
              Attributes={"ReceiveMessageWaitTimeSeconds": "0"}, **urls)
    pair.same("receive_message", **urls)
    pair.same("send_message", MessageBody="text", **urls)
    one, two = pair.same("receive_message", **urls)
    entry = [[{"Id": "0", "ReceiptHandle":
               got["Messages"][0]["ReceiptHandle"]}] for got in (one, two)]
    pair.same("delete_message_batch",
              ours=dict(urls["ours"], Entries=entry[0]),
              theirs=dict(urls["theirs"], Entries=entry[1]))
    pair.same("delete_queue", **urls)
    pair.same("receive_message", **urls)
    pair.same("get_queue_url", QueueName="none")


def rules(pair):
    pair.same("put_rule", Name="r", EventPattern=json.dumps(
        {"source": ["aws.sagemaker"],
         "detail": {"TrainingJobName": [{"prefix": "a-"}]}}))
    pair.same("put_rule", Name="r", EventPattern="{")
    target = {"Id": "q", "Arn": "arn:aws:sqs:eu-west-1:123456789012:q"}
    pair.same("put_targets", Rule="r", Targets=[target])
    pair.same("describe_rule", Name="r")
    pair.same("list_targets_by_rule", Rule="r")
    pair.same("delete_rule", Name="r")
    pair.same("remove_targets", Rule="r", Ids=["q"])
    pair.same("delete_rule", Name="r")
    pair.same("describe_rule", Name="r")


def objects(pair):
    pair.same("create_bucket", Bucket="moto", CreateBucketConfiguration={
        "LocationConstraint": "eu-west-1"})
    pair.same("list_objects_v2", Bucket="moto")
    for name in ("a/1", "a/2", "b/1", "c d+é"):
        pair.same("put_object", Bucket="moto", Key=name, Body=b"text")
    pair.same("get_object", Bucket="moto", Key="a/1")
    pair.same("get_object", Bucket="moto", Key="a/1", Range="bytes=1-2")
    pair.same("get_object", Bucket="moto", Key="none")
    pair.same("head_object", Bucket="moto", Key="a/1")
    pair.same("head_object", Bucket="moto", Key="none")
    one, two = pair.same("list_objects_v2", Bucket="moto")
    same([(each["Key"], each["ETag"], each["Size"])
          for each in one["Contents"]],
         [(each["Key"], each["ETag"], each["Size"])
          for each in two["Contents"]], "the same objects")
    pair.same("list_objects_v2", Bucket="moto", MaxKeys=2)
    one, two = pair.same("list_objects_v2", Bucket="moto", Delimiter="/")
    same(one["CommonPrefixes"], two["CommonPrefixes"], "the same folders")
    pair.same("head_bucket", Bucket="moto")
    pair.same("head_bucket", Bucket="none")
    pair.same("put_object", Bucket="none", Key="a", Body=b"")
    pair.same("delete_object", Bucket="moto", Key="a/1")
    pair.same("delete_objects", Bucket="moto",
              Delete={"Objects": [{"Key": "a/2"}, {"Key": "b/1"}]})


def logs(pair, rig):
    pair.same("describe_log_streams", logGroupName=GROUP)
    pair.same("get_log_events", logGroupName=GROUP, logStreamName="none")
    rig.create("moto", "for i in 1 2 3; do echo loss=$i; done\n")
    rig.ended("moto")
    rig.lines("moto")
    stream = rig.streams("moto")[0]
    now = int(time.time() * 1000)
    pair.theirs.create_log_group(logGroupName=GROUP)
    pair.theirs.create_log_stream(logGroupName=GROUP, logStreamName=stream)
    pair.theirs.put_log_events(
        logGroupName=GROUP, logStreamName=stream, logEvents=[
            {"timestamp": now, "message": "loss=%d" % i} for i in (1, 2, 3)])
    pair.same("describe_log_streams", logGroupName=GROUP,
              logStreamNamePrefix="moto/")
    where = {"logGroupName": GROUP, "logStreamName": stream,
             "startFromHead": True}
    one, two = pair.same("get_log_events", **where)
    same(*([each["message"] for each in got["events"]]
           for got in (one, two)), "the same lines")
    tokens = [{"nextToken": got["nextForwardToken"]} for got in (one, two)]
    one, two = pair.same("get_log_events", ours=tokens[0], theirs=tokens[1],
                         **where)
    same([one["nextForwardToken"], two["nextForwardToken"]],
         [each["nextToken"] for each in tokens],
         "the end of a stream gives the token back")
    pair.same("get_log_events", logGroupName=GROUP, logStreamName="none")
    one, two = pair.same("filter_log_events", logGroupName=GROUP,
                         logStreamNamePrefix="moto/", filterPattern='"=2"')
    same(*([each["message"] for each in got["events"]]
           for got in (one, two)), "the same of them")


def callers(pair):
    pair.same("get_caller_identity")
    pair.same("assume_role", RoleArn=ROLE, RoleSessionName="test")
    pair.same("assume_role_with_web_identity", RoleArn=ROLE,
              RoleSessionName="test", WebIdentityToken="t" * 20)


def run():
    try:
        from moto.server import ThreadedMotoServer
    except ImportError as error:
        print("# NOT COMPARED WITH MOTO: %s" % error)
        ok(True, "answers beside moto's # SKIP moto is not installed")
        return
    import logging
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0,
                                verbose=False)
    server.start()
    moto = "http://127.0.0.1:%d" % server.get_host_and_port()[1]
    try:
        with Rig() as rig:
            queues(Pair("sqs", rig, moto))
            rules(Pair("events", rig, moto))
            objects(Pair("s3", rig, moto))
            logs(Pair("logs", rig, moto), rig)
            callers(Pair("sts", rig, moto))
            same(rig.verify()["defects"], [], "no answer was a defect")
    finally:
        server.stop()
