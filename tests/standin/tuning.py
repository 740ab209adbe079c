"""SageMaker's tuning jobs, made by others: described and listed.

A test puts them into the stand-in's folder, as tuning/NAME.json: an object of
TuningJob (members of the answer of DescribeHyperParameterTuningJob) and
TrainingJobSummaries.  Constant members are filled in."""

import json
import os

from world import Failure


class Tuning:
    def __init__(self, world):
        self.world = world
        self.operations = {
            "DescribeHyperParameterTuningJob": self.describe,
            "ListTrainingJobsForHyperParameterTuningJob": self.list}

    def need(self, asked, call):
        """What the file says, and the ARN."""
        name = asked["HyperParameterTuningJobName"]
        path = os.path.join(self.world.folder, "tuning", name + ".json")
        try:
            with open(path, encoding="utf-8") as file:
                said = json.load(file)
        except FileNotFoundError:
            raise Failure("ResourceNotFound", "Amazon SageMaker can't find a "
                          "tuning job with the name %s" % name) from None
        return said, self.world.arn(
            "sagemaker", call.region, "hyper-parameter-tuning-job/" + name)

    def describe(self, asked, call):
        said, arn = self.need(asked, call)
        shown = {"HyperParameterTuningJobName":
                 asked["HyperParameterTuningJobName"],
                 "HyperParameterTuningJobArn": arn,
                 "HyperParameterTuningJobStatus": "Completed",
                 "CreationTime": 1.7e9,
                 "TrainingJobStatusCounters": {},
                 "ObjectiveStatusCounters": {}}
        shown.update(said["TuningJob"])
        return shown

    def list(self, asked, call):
        said, _ = self.need(asked, call)
        jobs = [self.summary(job, number, call)
                for number, job in enumerate(said["TrainingJobSummaries"])]
        by = asked.get("SortBy", "Name")
        jobs.sort(key=lambda job: job["CreationTime"]
                  if by == "CreationTime" else job["TrainingJobName"])
        if asked.get("SortOrder", "Ascending") == "Descending":
            jobs.reverse()
        most = min(asked.get("MaxResults", 10),
                   said.get("PageMost", 100))
        start = self.start_of(asked.get("NextToken"))
        shown = {"TrainingJobSummaries": jobs[start:start + most]}
        if start + most < len(jobs):
            shown["NextToken"] = "tuning:%d" % (start + most)
        return shown

    @staticmethod
    def start_of(token):
        if token is None:
            return 0
        if not token.startswith("tuning:") or not token[7:].isdigit():
            raise Failure("ValidationException", "Invalid pagination token")
        return int(token[7:])

    def summary(self, job, number, call):
        name = job.get("TrainingJobName", "job-%d" % number)
        return dict({"TrainingJobName": name,
                     "TrainingJobArn": self.world.arn(
                         "sagemaker", call.region, "training-job/" + name),
                     "CreationTime": 1.7e9 + number,
                     "TrainingJobStatus": "Completed",
                     "TunedHyperParameters": {}}, **job)
