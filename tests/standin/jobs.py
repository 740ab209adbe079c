"""A training job: its request, state and cost.

Has the statuses, transitions, time limits and the answer of
DescribeTrainingJob; life.py drives it."""

import asyncio
import math
import os
import time

from tree import model_uri

ENDED = ("Completed", "Failed", "Stopped")
SHOWN = ("HyperParameters", "AlgorithmSpecification", "RoleArn",
         "InputDataConfig", "OutputDataConfig", "ResourceConfig", "VpcConfig",
         "StoppingCondition", "CheckpointConfig", "Environment",
         "ExperimentConfig", "DebugHookConfig", "DebugRuleConfigurations",
         "TensorBoardOutputConfig", "RetryStrategy", "RemoteDebugConfig",
         "InfraCheckConfig", "ProfilerConfig")
MESSAGES = {"Starting": "Starting the training job",
            "Pending": "Preparing the instances for training",
            "Downloading": "Downloading input data",
            "Training": "Training image download completed. Training in "
                        "progress.",
            "Interrupted": "The training job was interrupted by a spot "
                           "reclaim",
            "Uploading": "Uploading generated training model",
            "Stopping": "Stopping the training job",
            "Completed": "Training job completed",
            "Failed": "Training job failed",
            "Stopped": "Training job stopped",
            "MaxRuntimeExceeded": "Training job runtime exceeded "
                                  "MaxRuntimeInSeconds provided",
            "MaxWaitTimeExceeded": "Training job exceeded "
                                   "MaxWaitTimeInSeconds provided"}


class Job:
    def __init__(self, world, asked, arn, region):
        self.world = world
        self.asked = asked
        self.name = asked["TrainingJobName"]
        self.arn = arn
        self.region = region
        self.tags = {tag["Key"]: tag["Value"]
                     for tag in asked.get("Tags", ())}
        self.spot = bool(asked.get("EnableManagedSpotTraining"))
        self.created = time.time()
        self.modified = self.created
        self.status = "InProgress"
        self.secondary = "Starting"
        self.transitions = []
        self.began = None
        self.ended = None
        self.trained = 0.0
        self.billable = 0.0
        self.waited = 0.0
        self.failure = None
        self.metrics = {}
        self.interruptions = 0
        self.stop = asyncio.Event()
        self.reclaim = asyncio.Event()
        self.warm = False
        self.reused_by = None
        self.reused = None
        self.changed = None
        self.folder = os.path.join(world.folder, "jobs", self.name)
        self.history = [(self.created, self.status, self.secondary)]

    # What was asked.

    @property
    def groups(self):
        """[(group, instance type, count)]: one nameless group as a rule."""
        resources = self.asked.get("ResourceConfig", {})
        if resources.get("InstanceGroups"):
            return [(one["InstanceGroupName"], one["InstanceType"],
                     one["InstanceCount"])
                    for one in resources["InstanceGroups"]]
        return [("homogeneousCluster", resources.get("InstanceType", ""),
                 resources.get("InstanceCount", 1))]

    def limit(self, name, otherwise):
        return self.asked.get("StoppingCondition", {}).get(name, otherwise)

    @property
    def max_run(self):
        """Seconds the training may last, in real time."""
        return self.limit("MaxRuntimeInSeconds", 86400) / \
            self.world.options.run_speed

    def wait_left(self):
        """Seconds of the platform's time that waiting may still last."""
        most = self.limit("MaxWaitTimeInSeconds", None)
        if most is None:
            return math.inf
        return most - self.waited - \
            self.trained * self.world.options.run_speed

    def over(self):
        return self.status in ENDED

    # Where it stands.

    def move(self, secondary, status=None, message=None):
        """The next entry of its history."""
        now = time.time()
        if self.transitions and "EndTime" not in self.transitions[-1]:
            self.transitions[-1]["EndTime"] = now
        entry = {"Status": secondary, "StartTime": now,
                 "StatusMessage": message or MESSAGES[secondary]}
        self.transitions.append(entry)
        self.secondary = secondary
        old, self.status = self.status, status or self.status
        self.modified = now
        self.history.append((now, self.status, secondary))
        if self.over():
            entry["EndTime"] = now
        self.world.journal.write({"event": "job", "job": self.name,
                                  "status": self.status,
                                  "secondary": secondary})
        if self.changed is not None:
            self.changed(self, old != self.status)

    def charge(self, seconds, share):
        """Training that took place; share of it is billed."""
        self.trained += seconds
        self.billable += seconds * share

    def tell_bill(self):
        """It has ended: what AWS writes on the invoice."""
        self.world.journal.write({
            "event": "bill", "job": self.name, "keep_alive": self.keep_alive,
            "seconds": self.billed,
            "machines": [[kind, count] for _, kind, count in self.groups]})

    @property
    def billed(self):
        return max(1, math.ceil(self.billable *
                                self.world.options.run_speed))

    # Its warm pool.

    @property
    def keep_alive(self):
        return self.asked.get("ResourceConfig", {}).get(
            "KeepAlivePeriodInSeconds", 0)

    def idle(self):
        """Seconds that its machines have waited for another job."""
        speed = self.world.options.run_speed
        until = self.reused or time.time()
        return min(self.keep_alive, (until - self.ended) * speed)

    def pool_waits(self):
        return bool(self.keep_alive and self.ended is not None and
                    self.reused is None and self.idle() < self.keep_alive)

    def takes_over(self, other):
        """Whether this new job gets the machines of that one."""
        fits = ("InstanceType", "InstanceCount", "VolumeSizeInGB",
                "VolumeKmsKeyId")
        if not self.keep_alive or not other.pool_waits() or \
                self.asked["RoleArn"] != other.asked["RoleArn"] or \
                any(self.asked["ResourceConfig"].get(name) !=
                    other.asked["ResourceConfig"].get(name)
                    for name in fits):
            return False
        other.reused, other.reused_by = time.time(), self.name
        self.world.journal.write({"event": "reused", "job": other.name,
                                  "seconds": math.ceil(other.idle())})
        return True

    def pool(self):
        """WarmPoolStatus."""
        if self.ended is None:
            return {"Status": "InUse"}
        if self.pool_waits():
            return {"Status": "Available"}
        said = {"Status": "Terminated",
                "ResourceRetainedBillableTimeInSeconds":
                    math.ceil(self.idle())}
        if self.reused_by is not None:
            said.update(Status="Reused", ReusedByJob=self.reused_by)
        return said

    def summary(self, age=0.0):
        """An entry of ListTrainingJobs, as it was so many seconds ago."""
        then = time.time() - age
        modified, status, secondary = next(
            (one for one in reversed(self.history) if one[0] <= then),
            self.history[0])
        entry = {"TrainingJobName": self.name, "TrainingJobArn": self.arn,
                 "CreationTime": self.created, "LastModifiedTime": modified,
                 "TrainingJobStatus": status, "SecondaryStatus": secondary}
        if self.ended is not None and status in ENDED:
            entry["TrainingEndTime"] = self.ended
        return entry

    def describe(self):
        """DescribeTrainingJob's answer."""
        said = {"TrainingJobName": self.name, "TrainingJobArn": self.arn,
                "ModelArtifacts": {"S3ModelArtifacts": model_uri(self)},
                "TrainingJobStatus": self.status,
                "SecondaryStatus": self.secondary,
                "CreationTime": self.created,
                "LastModifiedTime": self.modified,
                "SecondaryStatusTransitions": self.transitions,
                "EnableNetworkIsolation":
                    self.asked.get("EnableNetworkIsolation", False),
                "EnableInterContainerTrafficEncryption":
                    self.asked.get("EnableInterContainerTrafficEncryption",
                                   False),
                "EnableManagedSpotTraining": self.spot,
                "StoppingCondition": {"MaxRuntimeInSeconds": 86400}}
        for name in SHOWN:
            if name in self.asked:
                said[name] = self.asked[name]
        if self.failure is not None:
            said["FailureReason"] = self.failure[:1024]
        if self.metrics:
            said["FinalMetricDataList"] = [
                {"MetricName": name, "Value": value, "Timestamp": at}
                for name, (value, at) in sorted(self.metrics.items())]
        if self.keep_alive and self.began is not None:
            said["WarmPoolStatus"] = self.pool()
        self.describe_times(said)
        return said

    def describe_times(self, said):
        if self.began is None:
            return
        said["TrainingStartTime"] = self.began
        if self.ended is not None:
            speed = self.world.options.run_speed
            said["TrainingEndTime"] = self.ended
            said["TrainingTimeInSeconds"] = max(
                1, math.ceil(self.trained * speed))
            said["BillableTimeInSeconds"] = self.billed
