"""SageMaker's control plane: creates, describes, lists and stops jobs.

Has the operations and their rules beyond the model (names, spot, quotas);
life.py runs the jobs."""

import base64
import json
import os
import re
import time

from jobs import Job
from life import Life
from tuning import Tuning
from world import Failure

NVME = re.compile(r"ml\.(p4de?|p5e?n?|g4dn|g5|g6e?|trn1n?|trn2|p6[a-z0-9-]*)"
                  r"\.")


BUILT_IN = re.compile(r"/(sagemaker-xgboost|xgboost|linear-learner)[:@]")


def invalid(text):
    return Failure("ValidationException", text)


class SageMaker:
    def __init__(self, world, store, logs, metrics, room):
        self.world = world
        self.store = store
        self.logs = logs
        self.metrics = metrics
        self.room = room
        self.jobs = {}
        self.lives = {}
        self.changed = None
        self.operations = {
            "CreateTrainingJob": self.create,
            "DescribeTrainingJob": self.describe,
            "StopTrainingJob": self.stop,
            "ListTrainingJobs": self.list,
            "DeleteTrainingJob": self.delete,
            "ListTags": self.list_tags,
            "AddTags": self.add_tags}
        self.operations.update(Tuning(world).operations)

    # CreateTrainingJob.

    def create(self, asked, call):
        name = asked["TrainingJobName"]
        arn = self.world.arn("sagemaker", call.region,
                             "training-job/" + name.lower())
        call.notes["tags"] = {tag["Key"]: tag["Value"]
                              for tag in asked.get("Tags", ())}
        self.check(asked)
        if name in self.jobs:
            raise Failure("ResourceInUse", "Training job names must be unique "
                          "within an AWS account and region, and a training "
                          "job with this name already exists (%s)"
                          % self.jobs[name].arn)
        if self.world.faults.strikes("bad_role"):
            raise invalid("Could not assume role %s. Please ensure that the "
                          "role exists and allows principal "
                          "'sagemaker.amazonaws.com' to assume the role."
                          % asked["RoleArn"])
        spot = bool(asked.get("EnableManagedSpotTraining"))
        job = Job(self.world, asked, arn, call.region)
        self.check_quota(job)
        if spot and self.world.faults.strikes("spot_ignored"):
            job.spot = False
        if os.path.exists(job.folder):
            raise invalid("the stand-in's folder holds a job of this name "
                          "from an earlier run")
        os.makedirs(job.folder)
        with open(os.path.join(job.folder, "request.json"), "w",
                  encoding="utf-8") as file:
            json.dump(asked, file, indent=1)
        job.changed = self.changed
        job.warm = any(job.takes_over(other) for other in self.jobs.values())
        self.jobs[name] = job
        life = Life(job, self.store, self.logs, self.metrics, self.room)
        self.lives[name] = life
        call.acted = True
        job.task = self.world.spawn(life.run())
        return {"TrainingJobArn": arn}

    def check(self, asked):
        """What the model does not say and the service refuses."""
        algorithm = asked.get("AlgorithmSpecification")
        resources = asked.get("ResourceConfig")
        stopping = asked.get("StoppingCondition")
        if algorithm is None or resources is None or stopping is None:
            raise invalid("AlgorithmSpecification, ResourceConfig and "
                          "StoppingCondition are required")
        if ("TrainingImage" in algorithm) == ("AlgorithmName" in algorithm):
            raise invalid("You must specify exactly one of TrainingImage and "
                          "AlgorithmName")
        if "TrainingInputMode" not in algorithm:
            raise invalid("TrainingInputMode is required")
        for one in algorithm.get("MetricDefinitions", ()):
            try:
                re.compile(one["Regex"])
            except re.error:
                raise invalid("Invalid regex in metric definition %s"
                              % one["Name"]) from None
        self.check_resources(resources)
        self.check_times(asked, stopping)
        if not asked["OutputDataConfig"].get("S3OutputPath",
                                             "").startswith("s3://"):
            raise invalid("S3OutputPath is not an S3 URI")
        keys = [tag["Key"] for tag in asked.get("Tags", ())]
        if len(set(keys)) != len(keys):
            raise invalid("Duplicate tag keys found. Please note that Tag "
                          "keys are case insensitive.")
        names = [one["ChannelName"] for one in asked.get("InputDataConfig",
                                                         ())]
        if len(set(names)) != len(names):
            raise invalid("Duplicate channel names")
        self.check_built_in(asked, algorithm)
        entry = "ContainerEntrypoint" in algorithm
        if not entry and not self.world.options.image_command and \
                not asked.get("Environment", {}).get("STANDIN_VIRTUAL") and \
                self.world.options.virtual is None:
            raise invalid("the stand-in runs no images: give a "
                          "ContainerEntrypoint, or start it with "
                          "--image-command")

    @staticmethod
    def check_built_in(asked, algorithm):
        """What AWS does not let one do to its own algorithms."""
        if not BUILT_IN.search(algorithm.get("TrainingImage", "")):
            return
        if "ContainerEntrypoint" in algorithm:
            return
        if asked.get("Environment"):
            raise invalid("Environment variables are not allowed when using "
                          "SageMaker built-in algorithm")
        if algorithm.get("MetricDefinitions"):
            raise invalid("You can't override the metric definitions for "
                          "Amazon SageMaker algorithms. Please retry your "
                          "request without specifying metric definitions.")

    @staticmethod
    def check_resources(resources):
        groups = resources.get("InstanceGroups")
        if groups:
            if "InstanceType" in resources or "InstanceCount" in resources:
                raise invalid("InstanceGroups cannot be combined with "
                              "InstanceType and InstanceCount")
            if resources.get("KeepAlivePeriodInSeconds"):
                raise invalid("Warm pools do not support heterogeneous "
                              "clusters")
            kinds = [one["InstanceType"] for one in groups]
        else:
            if "InstanceType" not in resources or \
                    "InstanceCount" not in resources:
                raise invalid("InstanceType and InstanceCount are required")
            kinds = [resources["InstanceType"]]
        if "VolumeKmsKeyId" in resources and any(map(NVME.match, kinds)):
            raise invalid("VolumeKmsKeyId is not supported for instance types "
                          "with NVMe storage")
        if "VolumeSizeInGB" not in resources and \
                not all(map(NVME.match, kinds)):
            raise invalid("VolumeSizeInGB is required for EBS instances")

    @staticmethod
    def check_times(asked, stopping):
        most = stopping.get("MaxRuntimeInSeconds", 86400)
        wait = stopping.get("MaxWaitTimeInSeconds")
        if most > 28 * 86400:
            raise invalid("MaxRuntimeInSeconds must not exceed 2419200")
        if asked.get("EnableManagedSpotTraining"):
            if wait is None:
                raise invalid("MaxWaitTimeInSeconds must be specified when "
                              "EnableManagedSpotTraining is set to true")
            if wait < most:
                raise invalid("Invalid MaxWaitTimeInSeconds. It must be equal "
                              "to or greater than MaxRuntimeInSeconds")
            if asked["ResourceConfig"].get("KeepAlivePeriodInSeconds"):
                raise invalid("Warm pools do not support managed spot "
                              "training")
        elif wait is not None:
            raise invalid("Invalid MaxWaitTimeInSeconds. It is only supported "
                          "when EnableManagedSpotTraining is set to true")

    def check_quota(self, job):
        """Quotas are per instance type, apart for spot; a job counts until
        it has ended."""
        what = "spot training" if job.spot else "training"
        for _, kind, count in job.groups:
            limit = self.world.options.quotas.get(
                ("spot:" if job.spot else "") + kind)
            if limit is None:
                continue
            used = sum(number for other in self.jobs.values()
                       if not other.over() and other.spot == job.spot
                       for _, one, number in other.groups if one == kind)
            if used + count > limit:
                raise Failure(
                    "ResourceLimitExceeded",
                    "The account-level service limit '%s for %s job usage' is "
                    "%d Instances, with current utilization of %d Instances "
                    "and a request delta of %d Instances. Please use AWS "
                    "Service Quotas to request an increase for this quota. If "
                    "AWS Service Quotas is not available, contact AWS support "
                    "to request an increase for this quota."
                    % (kind, what, limit, used, count))

    # The rest.

    def need(self, name):
        job = self.jobs.get(name)
        if job is None:
            raise invalid("Requested resource not found.")
        return job

    def describe(self, asked, call):
        del call
        return self.need(asked["TrainingJobName"]).describe()

    def stop(self, asked, call):
        job = self.need(asked["TrainingJobName"])
        if job.over() or job.stop.is_set():
            raise invalid("The request was rejected because the training job "
                          "is in status %s." % (job.status if job.over()
                                                else "Stopping"))
        job.stop.set()
        call.acted = True
        job.move("Stopping", "Stopping")

    def delete(self, asked, call):
        job = self.need(asked["TrainingJobName"])
        if not job.over():
            raise invalid("The request was rejected because the training job "
                          "is in status %s." % job.status)
        del self.jobs[job.name]
        os.rename(job.folder, "%s.deleted-%s" % (job.folder, call.id))
        call.acted = True

    def list(self, asked, call):
        del call
        chosen = [job for job in self.jobs.values() if kept(job, asked)]
        by = asked.get("SortBy", "CreationTime")
        chosen.sort(key=lambda job: (
            {"Name": job.name, "Status": job.status}.get(by, job.created),
            job.created, job.name))
        if asked.get("SortOrder", "Ascending") == "Descending":
            chosen.reverse()
        faults = self.world.faults
        stale = faults.strikes("stale_list")
        age = 0.0 if stale is None else faults.between(stale, 2.0)
        if age > 0:
            then = time.time() - age
            chosen = [job for job in chosen if job.created <= then]
        token = asked.get("NextToken")
        start = read_token(token)
        if start < len(chosen) and faults.strikes("list_empty_page"):
            return {"TrainingJobSummaries": [],
                    "NextToken": make_token(start)}
        most = asked.get("MaxResults", 10)
        page = chosen[start:start + most]
        # The status is looked at after the page was cut, as SageMaker does.
        rows = [job.summary(age) for job in page]
        status = asked.get("StatusEquals")
        said = {"TrainingJobSummaries": [
            row for row in rows
            if status in (None, row["TrainingJobStatus"])]}
        if start + most < len(chosen):
            said["NextToken"] = make_token(start + most)
        return said

    def by_arn(self, arn):
        for job in self.jobs.values():
            if job.arn == arn:
                return job
        raise invalid("Requested resource not found.")

    def list_tags(self, asked, call):
        del call
        job = self.by_arn(asked["ResourceArn"])
        return {"Tags": [{"Key": key, "Value": value}
                         for key, value in sorted(job.tags.items())]}

    def add_tags(self, asked, call):
        job = self.by_arn(asked["ResourceArn"])
        job.tags.update({tag["Key"]: tag["Value"] for tag in asked["Tags"]})
        call.acted = True
        return {"Tags": [{"Key": key, "Value": value}
                         for key, value in sorted(job.tags.items())]}

    async def close(self):
        """Every process goes."""
        for life in self.lives.values():
            life.kill()
        tasks = [job.task for job in self.jobs.values()
                 if not job.task.done()]
        for task in tasks:
            task.cancel()
        for task in tasks:
            try:
                await task
            except BaseException:
                pass


def kept(job, asked):
    """The filters that are applied before a page is cut."""
    return asked.get("NameContains", "").lower() in job.name.lower() and \
        job.created > asked.get("CreationTimeAfter", 0) and \
        job.created < asked.get("CreationTimeBefore", 1e12) and \
        job.modified > asked.get("LastModifiedTimeAfter", 0) and \
        job.modified < asked.get("LastModifiedTimeBefore", 1e12)


def make_token(start):
    return base64.b64encode(b"standin:%d" % start).decode()


def read_token(token):
    if token is None:
        return 0
    try:
        text = base64.b64decode(token, validate=True)
        assert text.startswith(b"standin:")
        return int(text[8:])
    except (ValueError, AssertionError):
        raise invalid("Invalid pagination token") from None
