"""The injected faults of the stand-in happen, are counted, and look as on AWS."""

import json
import time
import urllib.error
import urllib.request

from botocore.exceptions import ClientError, HTTPClientError

from rig import GROUP, Rig, error_of, ok, same, until

COUNT = """
n=0
[ ! -f /opt/ml/checkpoints/n ] || n=$(cat /opt/ml/checkpoints/n)
first=$n
echo "from $n"
while [ $n -lt 20 ]; do
	n=$((n + 1)); sleep 0.1; echo "step=$n loss=0.$n"
	echo $n >/opt/ml/checkpoints/n
done
"""
# Whose first run is taken away, however fast it is, or slow to begin.
TAKEN = COUNT.replace("done\n", "	while [ $first-$n = 0-10 ]; do sleep 0.1; "
                      "done\ndone\n")
QUICK = "echo loss=0.5\n"


def code_of(call, **arguments):
    """What became of a call: ok, an error code, or lost."""
    try:
        call(**arguments)
    except ClientError as error:
        return error.response["Error"]["Code"]
    except HTTPClientError:
        return "lost"
    return "ok"


def spot():
    with Rig("--quota", "spot:ml.g5.xlarge=1", "--quota", "ml.p3.2xlarge=0",
             "--no-capacity", "ml.g5.2xlarge=both",
             faults={"spot_interrupt": {"p": 1, "max": 1,
                                        "seconds": 5.0}}) as rig:
        rig.create("spot", TAKEN, spot=True)
        code, text = error_of(rig.create, name="spot-2", script=COUNT,
                              spot=True)
        ok(code == "ResourceLimitExceeded" and
           "'ml.g5.xlarge for spot training job usage' is 1 Instances, with "
           "current utilization of 1 Instances" in text, "a spot quota", text)
        same(error_of(rig.create, name="none", script=COUNT,
                      kind="ml.p3.2xlarge")[0], "ResourceLimitExceeded",
             "a quota of none")
        said = rig.ended("spot")
        steps = [one["Status"] for one in said["SecondaryStatusTransitions"]]
        same(steps.count("Interrupted"), 1, "a spot job is interrupted")
        same((steps.count("Training"), said["TrainingJobStatus"]),
             (2, "Completed"), "restarts, and completes")
        same(len(rig.streams("spot")), 2, "each run has its stream")
        lines = rig.lines("spot")
        starts = [line for line in lines if line.startswith("from ")]
        ok(starts[0] == "from 0" and int(starts[1].split()[1]) > 0,
           "the second from the checkpoint", starts)
        ok(said["BillableTimeInSeconds"] < said["TrainingTimeInSeconds"],
           "spot is billed in part")
        same(rig.s3.get_object(Bucket="standin", Key="ckpt/spot/n")["Body"]
             .read(), b"20\n", "the checkpoint is in S3")
        rig.create("starved", QUICK, kind="ml.g5.2xlarge")
        ok(rig.ended("starved")["FailureReason"].startswith("CapacityError:"),
           "no capacity on-demand: a failure")
        rig.create("waits", QUICK, kind="ml.g5.2xlarge", spot=True,
                   max_run=60, max_wait=120)
        same(rig.ended("waits")["SecondaryStatus"], "MaxWaitTimeExceeded",
             "no capacity for spot: the end of MaxWait")
        same(rig.faults(), {"spot_interrupt": 1}, "counted once")


def ask(rig, method, path, body=None):
    """(code, answer) of a request to the control of the stand-in."""
    try:
        with urllib.request.urlopen(urllib.request.Request(
                rig.endpoint + path, method=method,
                data=body and json.dumps(body).encode())) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def control():
    """A test takes a machine away, and changes what goes wrong."""
    with Rig(faults={"no_capacity": {"market": "spot", "max": 1,
                                     "seconds": 0.3}}) as rig:
        rig.create("taken", TAKEN, spot=True, max_run=6000)
        same(ask(rig, "POST", "/standin/interrupt/taken")[0], 409,
             "nothing to take before the training")
        rig.training("taken")
        # Its first checkpoint is written before its third line.
        until(lambda: len(rig.lines("taken")) > 2)
        same(ask(rig, "POST", "/standin/interrupt/taken")[0], 204,
             "a machine is taken")
        steps = [one["Status"] for one in
                 rig.ended("taken")["SecondaryStatusTransitions"]]
        same((steps[:4], steps.count("Interrupted"), steps[-1]),
             (["Starting", "Starting", "Pending", "Downloading"], 1,
              "Completed"), "after a wait for capacity")
        same(ask(rig, "PUT", "/standin/faults", {"bad": 1})[0], 400,
             "unknown faults are refused")
        same(ask(rig, "PUT", "/standin/faults", {"throttle": 1})[0], 204,
             "faults may change")
        same(code_of(rig.sagemaker.list_training_jobs),
             "ThrottlingException", "and they do")
        found = json.loads(ask(rig, "GET", "/standin/ledger?owner")[1])
        same((found["jobs"], found["restarted"]), (1, 1), "the ledger, live")


def answers():
    """Requests that fail before and after they acted."""
    create = "sagemaker.CreateTrainingJob"
    spec = {"throttle": {"on": create, "max": 1},
            "error500_before": {"on": create, "max": 1},
            "error503_before": {"on": create, "max": 1},
            "error500_after": {"on": create, "max": 1},
            "drop_after": {"on": "sagemaker.StopTrainingJob", "max": 1},
            "drop_before": {"on": "sagemaker.ListTags", "max": 1},
            "twice": {"on": "sagemaker.CreateTrainingJob", "max": 1,
                      "after_count": 1},
            "delay": {"on": "sagemaker.DescribeTrainingJob", "max": 1,
                      "seconds": 0.4},
            "retry_after": {"seconds": 2}}
    with Rig(faults=spec) as rig:
        got = []
        for _ in range(5):
            try:
                rig.create("job", "sleep 60")
            except ClientError as error:
                got.append(error.response["Error"]["Code"])
                same(error.response["ResponseMetadata"]["HTTPHeaders"].get(
                    "retry-after"), "2" if got[-1] != "ResourceInUse"
                    else None, "Retry-After with " + got[-1])
        same(got, ["ThrottlingException", "InternalFailure",
                   "ServiceUnavailable", "InternalFailure", "ResourceInUse"],
             "an error before and after the job was made")
        began = time.monotonic()
        arn = rig.describe("job")["TrainingJobArn"]
        ok(time.monotonic() - began >= 0.4, "a slow answer")
        same(code_of(rig.sagemaker.list_tags, ResourceArn=arn), "lost",
             "an answer is lost")
        same(code_of(rig.sagemaker.stop_training_job, TrainingJobName="job"),
             "lost", "another, of a request that acted")
        rig.ended("job")
        same(code_of(rig.create, name="again", script=QUICK),
             "ResourceInUse", "a request that comes twice")
        rig.ended("again")
        rig.end()
        found = rig.verify("owner")
        same((found["jobs"], found["created_twice"], found["tag_twice"],
              found["open"], found["stops"]), (2, [], {}, [], 1),
             "the ledger has two jobs and one stop")
        same(rig.faults(), {"delay": 1, "drop_after": 1, "drop_before": 1,
                            "error500_after": 1, "error500_before": 1,
                            "error503_before": 1, "retry_after": 4,
                            "throttle": 1, "twice": 1}, "each is counted")


def late():
    with Rig(faults={"late_create": {"max": 1, "seconds": 3.0},
                     "spot_ignored": 1}) as rig:
        same(code_of(rig.create, name="late", script=QUICK, spot=True),
             "lost", "a Create that nobody answers")
        same(code_of(rig.describe, name="late"), "ValidationException",
             "has made nothing yet")
        until(lambda: code_of(rig.describe, name="late") == "ok")
        ok(True, "and makes its job later")
        same(rig.describe("late")["EnableManagedSpotTraining"], False,
             "spot may be ignored")
        rig.ended("late")
        rig.end()
        found = rig.verify()
        same((found["jobs"], found["late_creates"], found["open"]),
             (1, 1, []), "the ledger knows")


def clocks():
    for seconds, text in ((7200, "Signature expired"),
                          (-7200, "Signature not yet current")):
        with Rig(faults={"clock_skew": {"seconds": seconds}}) as rig:
            code, said = error_of(rig.sagemaker.list_training_jobs)
            ok(code == "InvalidSignatureException" and said.startswith(text),
               text, code, said)
            same(error_of(rig.s3.list_objects_v2, Bucket="standin")[0],
                 "RequestTimeTooSkewed", "S3's own words")


def credentials():
    with Rig(faults={"expire_credentials": {"every": 3}}) as rig:
        def session():
            got = rig.sts.assume_role(
                RoleArn="arn:aws:iam::123456789012:role/Trials",
                RoleSessionName="test")["Credentials"]
            return rig.client("sagemaker", got["AccessKeyId"],
                              got["SecretAccessKey"], got["SessionToken"])
        mine = session()
        same([code_of(mine.list_training_jobs) for _ in range(4)],
             ["ok"] * 3 + ["ExpiredTokenException"], "a session wears out")
        same(code_of(session().list_training_jobs), "ok", "a new one works")


def lists():
    with Rig(faults={"stale_list": {"max": 3, "seconds": 600},
                     "list_empty_page": {"p": 1, "max": 2}}) as rig:
        rig.create("new", QUICK)
        rig.ended("new")
        got = [rig.sagemaker.list_training_jobs() for _ in range(5)]
        same([len(one["TrainingJobSummaries"]) for one in got],
             [0, 0, 0, 0, 0], "lists lag, pages are empty")
        same(["NextToken" in one for one in got],
             [False, False, False, True, True], "with a token while more is "
             "there")
        same([one["TrainingJobStatus"] for one in rig.sagemaker
              .list_training_jobs()["TrainingJobSummaries"]], ["Completed"],
             "and at last the truth")


def logs():
    with Rig(faults={"log_split": {"max": 1},
                     "log_delay": {"p": 1, "max": 1, "seconds": 1.0},
                     "log_empty_page": {"p": 0.5, "max": 4},
                     "log_duplicate": {"p": 1, "max": 2},
                     "log_token_expired": {"p": 1, "max": 1}}) as rig:
        rig.create("talks", "for i in 1 2 3 4 5 6; do echo line-$i; done\n")
        rig.ended("talks")

        def stream():
            found = rig.streams("talks")
            return found and until(lambda: len(rig.logs.filter_log_events(
                logGroupName=GROUP, logStreamNamePrefix="talks/")["events"])
                >= 7) and found[0]
        name = stream()
        got, token, codes, empty = [], {}, [], 0
        for _ in range(40):
            try:
                page = rig.logs.get_log_events(
                    logGroupName=GROUP, logStreamName=name, limit=2,
                    startFromHead=True, **token)
            except ClientError as error:
                codes.append(error.response["Error"]["Code"])
                continue
            got += [one["message"] for one in page["events"]]
            if page["nextForwardToken"] == token.get("nextToken"):
                break
            empty += not page["events"]
            token = {"nextToken": page["nextForwardToken"]}
        same(codes, ["InvalidParameterException"], "a token expires")
        ok(len(got) > 7, "an event comes again", got)
        text = "".join(dict.fromkeys(got))
        same(text, "".join("line-%d" % i for i in range(1, 7)),
             "nothing is missing, a line is in two events")
        ok(empty > 0 or rig.faults().get("log_empty_page", 0) > 0,
           "pages are empty")
        with open("%s/jobs/%s.log" % (rig.folder, name),
                  encoding="utf-8") as file:
            same(file.read().split(), ["line-%d" % i for i in range(1, 7)],
                 "a file has what was printed")
        rig.end()
        ok(rig.faults()["log_delay"] == 1 and rig.faults()["log_split"] == 1,
           "each is counted", rig.faults())


def many():
    """200 jobs without processes, at once."""
    script = json.dumps({"steps": 3, "seconds": 0.3, "rate": 0.5})
    with Rig("--virtual", script) as rig:
        for number in range(200):
            rig.create("v-%03d" % number, "unused")
        states = {}

        def over():
            token = {}
            while True:
                page = rig.sagemaker.list_training_jobs(MaxResults=100,
                                                        **token)
                for one in page["TrainingJobSummaries"]:
                    states[one["TrainingJobName"]] = one["TrainingJobStatus"]
                if "NextToken" not in page:
                    break
                token = {"NextToken": page["NextToken"]}
            return set(states.values()) == {"Completed"}
        until(over)
        same(len(states), 200, "200 jobs without processes")
        same(len(rig.lines("v-000")), 3, "print their lines")


def rates():
    """At AWS's own pace, its request rates."""
    with Rig("--enforce-rates", "--speed", "1") as rig:
        got = [code_of(rig.sagemaker.list_training_jobs) for _ in range(8)]
        ok(got[:3] == ["ok"] * 3 and "ThrottlingException" in got,
           "more than 2 lists a second are throttled", got)
        found = rig.verify()["over_limit"]
        same(found, {"sagemaker.ListTrainingJobs":
                     got.count("ThrottlingException")}, "and told")


def run():
    for check in (rates, spot, control, answers, late, clocks, credentials,
                  lists, logs, many):
        check()
