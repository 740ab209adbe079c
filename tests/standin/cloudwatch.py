"""CloudWatch: metrics in buckets, and alarms, which are only stored.

Jobs write through add."""

import time

from world import Failure

STATS = {"SampleCount": lambda s: s[0], "Sum": lambda s: s[1],
         "Average": lambda s: s[1] / s[0], "Minimum": lambda s: s[2],
         "Maximum": lambda s: s[3]}


class CloudWatch:
    def __init__(self, world):
        self.world = world
        self.series = {}
        self.alarms = {}
        self.bucket = max(1.0, world.shorter(60.0))
        self.lag = world.shorter(60.0)
        self.operations = {"GetMetricData": self.get,
                           "PutMetricData": self.put,
                           "PutMetricAlarm": self.put_alarm,
                           "DescribeAlarms": self.describe_alarms,
                           "DeleteAlarms": self.delete_alarms}

    def add(self, namespace, name, dimensions, value, at=None, count=1):
        at = time.time() if at is None else at
        series = self.series.setdefault(
            (namespace, name, tuple(sorted(dimensions))), {})
        slot = int(at // self.bucket)
        have = series.setdefault(slot, [0, 0.0, value, value])
        have[0] += count
        have[1] += value * count
        have[2] = min(have[2], value)
        have[3] = max(have[3], value)

    def get(self, asked, call):
        del call
        results = []
        up = asked.get("ScanBy") == "TimestampAscending"
        for query in asked["MetricDataQueries"]:
            stat = query.get("MetricStat")
            if stat is None:
                raise Failure("ValidationError",
                              "the stand-in computes no expressions")
            if stat["Stat"] not in STATS:
                raise Failure("ValidationError", "Stat is not known")
            if stat["Period"] % 60 and stat["Period"] not in (1, 5, 10, 30):
                raise Failure("ValidationError", "Period must be a multiple "
                              "of 60")
            if not query.get("ReturnData", True):
                continue
            points = self.points(stat, asked["StartTime"], asked["EndTime"])
            if not up:
                points.reverse()
            results.append({"Id": query["Id"], "StatusCode": "Complete",
                            "Label": query.get(
                                "Label", stat["Metric"]["MetricName"]),
                            "Timestamps": [point[0] for point in points],
                            "Values": [point[1] for point in points]})
        return {"MetricDataResults": results, "Messages": []}

    def points(self, stat, start, end):
        """Values of whole periods; the newest is not there yet."""
        metric = stat["Metric"]
        series = self.series.get((metric["Namespace"], metric["MetricName"],
                                  tuple(sorted(
                                      (one["Name"], one["Value"]) for one in
                                      metric.get("Dimensions", ())))), {})
        every = max(1, stat["Period"] // 60)
        merged = {}
        known = time.time() - self.lag
        for slot, have in series.items():
            if (slot + 1) * self.bucket > known:
                continue
            got = merged.setdefault(slot // every, [0, 0.0, have[2], have[3]])
            got[0] += have[0]
            got[1] += have[1]
            got[2] = min(got[2], have[2])
            got[3] = max(got[3], have[3])
        points = [(int(slot * every * self.bucket), STATS[stat["Stat"]](got))
                  for slot, got in sorted(merged.items())]
        return [point for point in points if start <= point[0] < end]

    def put(self, asked, call):
        if asked["Namespace"].startswith("AWS/"):
            raise Failure("InvalidParameterValueException", "The value AWS/ "
                          "for parameter Namespace is invalid.")
        for one in asked["MetricData"]:
            dimensions = [(each["Name"], each["Value"])
                          for each in one.get("Dimensions", ())]
            pairs = zip(one.get("Values", [one.get("Value")]),
                        one.get("Counts", [1] * len(one.get("Values", [0]))))
            for value, count in pairs:
                if value is None and "StatisticValues" not in one:
                    raise Failure("MissingRequiredParameterException",
                                  "Value is required")
                if value is not None:
                    self.add(asked["Namespace"], one["MetricName"],
                             dimensions, value, one.get("Timestamp"), count)
        call.acted = True

    def put_alarm(self, asked, call):
        self.alarms[asked["AlarmName"]] = asked
        call.acted = True

    def describe_alarms(self, asked, call):
        names = asked.get("AlarmNames")
        prefix = asked.get("AlarmNamePrefix", "")
        return {"MetricAlarms": [
            dict({key: value for key, value in alarm.items()
                  if key != "Tags"},
                 AlarmArn=self.world.arn("cloudwatch", call.region,
                                         "alarm:" + name),
                 StateValue="INSUFFICIENT_DATA")
            for name, alarm in sorted(self.alarms.items())
            if name.startswith(prefix) and (names is None or name in names)],
            "CompositeAlarms": []}

    def delete_alarms(self, asked, call):
        missing = [name for name in asked["AlarmNames"]
                   if name not in self.alarms]
        if missing:
            raise Failure("ResourceNotFound", "Alarm not found: "
                          + ", ".join(missing), 404)
        for name in asked["AlarmNames"]:
            del self.alarms[name]
        call.acted = True
