"""The journal of requests and their results: one line of JSON each.

Writes requests.jsonl and faults.json, and checks the published request rates."""

import json
import os
import time
from collections import Counter, deque

# Requests a second that AWS publishes or that its users report.
LIMITS = {"sagemaker.ListTrainingJobs": 2, "sagemaker.CreateTrainingJob": 1,
          "logs.GetLogEvents": 10, "logs.FilterLogEvents": 5,
          "logs.DescribeLogStreams": 5, "monitoring.PutMetricAlarm": 3,
          "monitoring.DeleteAlarms": 3, "monitoring.GetMetricData": 50,
          "monitoring.PutMetricData": 500}


class Journal:
    """The account of one run of the stand-in."""

    def __init__(self, folder, speed):
        self.file = open(os.path.join(folder, "requests.jsonl"), "a",
                         encoding="utf-8")
        self.faults_path = os.path.join(folder, "faults.json")
        self.speed = speed
        self.faults = Counter()
        self.faults_written = None
        self.recent = {}
        self.write({"event": "start", "speed": speed})

    def write(self, line):
        line = dict({"time": round(time.time(), 6)}, **line)
        self.file.write(json.dumps(line, separators=(",", ":")) + "\n")
        self.file.flush()

    def rate(self, name):
        """Counts a request; true when it is above the published rate.

        The window is a second, with one more request for the jitter of the
        way; rates are as many times higher as the platform is faster."""
        limit = LIMITS.get(name)
        if limit is None:
            return False
        now = time.monotonic()
        times = self.recent.setdefault(name, deque())
        times.append(now)
        while times[0] <= now - 1.0:
            times.popleft()
        return len(times) > limit * self.speed + 1

    def fault(self, kind):
        self.faults[kind] += 1

    def flush(self):
        """Writes faults.json anew when something was counted."""
        text = json.dumps(dict(sorted(self.faults.items())), indent=1) + "\n"
        if text == self.faults_written:
            return
        with open(self.faults_path + ".tmp", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(self.faults_path + ".tmp", self.faults_path)
        self.faults_written = text

    def close(self):
        self.write({"event": "end"})
        self.flush()
        self.file.close()
