"""Helpers of the stand-in's own tests: start one, use it with botocore, print
TAP."""

import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import botocore.session
from botocore.config import Config
from botocore.exceptions import ClientError

import models

# The models are a million objects that stay: they are seldom looked through.
gc.set_threshold(200000, 50, 100)

HERE = os.path.dirname(os.path.abspath(__file__))
GROUP = "/aws/sagemaker/TrainingJobs"
ROLE = "arn:aws:iam::123456789012:role/Trials"
ENDED = ("Completed", "Failed", "Stopped")
count = failed = 0


def ok(good, what, *more):
    global count, failed
    count += 1
    print("%sok %d - %s" % ("" if good else "not ", count, what), flush=True)
    if not good:
        failed += 1
        for one in more:
            print("# " + repr(one)[:1000], flush=True)
    return good


def same(got, want, what):
    return ok(got == want, what, got, want)


def until(look, seconds=300):
    """What look() gives, once that is true; fails loudly when it never is.

    A look costs both sides 5 ms: the longer it takes, the more seldom."""
    end = time.monotonic() + seconds
    pause = 0.02
    while True:
        got = look()
        if got:
            return got
        if time.monotonic() > end:
            raise TimeoutError("waited %g s for %s" % (seconds, look))
        time.sleep(pause)
        pause = min(pause * 1.2, 0.15)


def error_of(call, **arguments):
    """(code, text) of the error that a call ends with."""
    try:
        call(**arguments)
    except ClientError as error:
        return error.response["Error"]["Code"], \
            error.response["Error"]["Message"]
    return None, None


class Rig:
    """A running stand-in in a folder of its own."""

    def __init__(self, *options, faults=None, speed=100, folder=None):
        self.folder = folder or tempfile.mkdtemp(prefix="standin-")
        words = [sys.executable, os.path.join(HERE, "standin.py"), "--dir",
                 self.folder, "--check-answers", "--speed", str(speed)]
        if faults is not None:
            words += ["--faults", json.dumps(faults)]
        self.errors = tempfile.TemporaryFile(mode="w+")
        self.process = subprocess.Popen(
            words + list(options), stdout=subprocess.PIPE,
            stderr=self.errors, text=True)
        line = self.process.stdout.readline()
        if not line.startswith("listening on "):
            self.errors.seek(0)
            raise RuntimeError("no start: " + self.errors.read())
        self.endpoint = line.split()[2]
        self.clients = {}

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.end()
        shutil.rmtree(self.folder, ignore_errors=True)

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(20)

    def client(self, service, key="standin", secret="standin-secret",
               token=None, tries=0):
        name = (service, key, secret, token, tries)
        if name not in self.clients:
            self.clients[name] = make_client(service, self.endpoint, key,
                                             secret, token, tries)
        return self.clients[name]

    def __getattr__(self, service):
        return self.client(service)

    def put(self, key, text, bucket="standin"):
        self.s3.put_object(Bucket=bucket, Key=key, Body=text.encode())

    def create(self, name, script, sagemaker=None, **more):
        """A job that runs this shell script."""
        where = "code/%s/" % name
        self.put(where + "run.sh", script)
        return (sagemaker or self.sagemaker).create_training_job(
            **request(name, where, **more))

    def describe(self, name):
        return self.sagemaker.describe_training_job(TrainingJobName=name)

    def status(self, name):
        return self.describe(name)["TrainingJobStatus"]

    def secondary(self, name):
        return self.describe(name)["SecondaryStatus"]

    def ended(self, name, seconds=300):
        until(lambda: self.status(name) in ENDED, seconds)
        return self.describe(name)

    def training(self, name):
        until(lambda: self.secondary(name) == "Training")

    def streams(self, name):
        return [one["logStreamName"] for one in self.logs.describe_log_streams(
            logGroupName=GROUP,
            logStreamNamePrefix=name + "/")["logStreams"]]

    def lines(self, name):
        """Every line of a job's logs, when they have all arrived."""
        time.sleep(0.1)
        found = []
        for stream in self.streams(name):
            token = {}
            for _ in range(1000):
                page = self.logs.get_log_events(
                    logGroupName=GROUP, logStreamName=stream,
                    startFromHead=True, **token)
                found += [one["message"] for one in page["events"]]
                if page["nextForwardToken"] == token.get("nextToken"):
                    break
                token = {"nextToken": page["nextForwardToken"]}
        return found

    def verify(self, *more):
        return json.loads(subprocess.run(
            [sys.executable, os.path.join(HERE, "standin.py"), "verify",
             self.folder, *more], check=True, capture_output=True).stdout)

    def faults(self):
        with open(os.path.join(self.folder, "faults.json"),
                  encoding="utf-8") as file:
            return json.load(file)


def teach(service, raw):
    """The client of an older botocore learns what came since; a newer one, that
    may choose among several protocols, to speak JSON."""
    models.renew(service, raw["shapes"])
    name = "monitoring" if service == "cloudwatch" else service
    if name not in models.PREFIX:
        return
    spoken = "targetPrefix" in raw["metadata"]
    raw["metadata"].update(protocol="json", protocols=["json"],
                           jsonVersion="1.0",
                           targetPrefix=models.PREFIX[name])
    if spoken:
        return
    for shape in raw["shapes"].values():
        shape.pop("locationName", None)
        for member in shape.get("members", {}).values():
            member.pop("locationName", None)


def make_client(service, endpoint, key, secret, token=None, tries=0,
                **config):
    session = botocore.session.Session()
    teach(service, session.get_component("data_loader")
          .load_service_model(service, "service-2"))
    return session.create_client(
        service, region_name="eu-west-1", endpoint_url=endpoint,
        aws_access_key_id=key, aws_secret_access_key=secret,
        aws_session_token=token, config=Config(
            retries={"total_max_attempts": tries + 1, "mode": "standard"},
            s3={"addressing_style": "path"}, **config))


def request(name, where, spot=False, env=None, count=1, kind="ml.g5.xlarge",
            max_run=600, max_wait=None, **more):
    """A CreateTrainingJob request with an entry script under where."""
    asked = {
        "TrainingJobName": name, "RoleArn": ROLE,
        "AlgorithmSpecification": {
            "TrainingImage": "123456789012.dkr.ecr.eu-west-1.amazonaws.com/a",
            "TrainingInputMode": "File", "ContainerEntrypoint": ["/bin/sh"],
            "ContainerArguments": ["/opt/ml/input/data/code/run.sh"],
            "MetricDefinitions": [{"Name": "loss",
                                   "Regex": "loss=([0-9.]+)"}]},
        "HyperParameters": {"lr": "0.1"}, "Environment": env or {},
        "InputDataConfig": [{
            "ChannelName": "code", "DataSource": {"S3DataSource": {
                "S3DataType": "S3Prefix", "S3Uri": "s3://standin/" + where,
                "S3DataDistributionType": "FullyReplicated"}}}],
        "OutputDataConfig": {"S3OutputPath": "s3://standin/out",
                             "CompressionType": "NONE"},
        "CheckpointConfig": {"S3Uri": "s3://standin/ckpt/" + name},
        "ResourceConfig": {"InstanceType": kind, "InstanceCount": count,
                           "VolumeSizeInGB": 10},
        "StoppingCondition": {"MaxRuntimeInSeconds": max_run},
        "Tags": [{"Key": "owner", "Value": name}]}
    if spot:
        asked["EnableManagedSpotTraining"] = True
        asked["StoppingCondition"]["MaxWaitTimeInSeconds"] = \
            max_wait or 2 * max_run
    asked.update(more)
    return asked
