"""EventBridge: rules, targets, the events of training jobs, and those put.

Matching events go to queues whose policy allows it."""

import json
import time
import uuid

from world import Failure

MIRRORED = ("HyperParameters", "AlgorithmSpecification", "RoleArn",
            "InputDataConfig", "OutputDataConfig", "ResourceConfig",
            "StoppingCondition", "EnableManagedSpotTraining", "Environment",
            "CheckpointConfig", "SecondaryStatus", "TrainingJobStatus",
            "TrainingJobName", "TrainingJobArn", "FailureReason",
            "BillableTimeInSeconds", "TrainingTimeInSeconds")
TIMES = ("CreationTime", "LastModifiedTime", "TrainingStartTime",
         "TrainingEndTime")


class Events:
    def __init__(self, world, queues):
        self.world = world
        self.queues = queues
        self.rules = {}
        self.targets = {}
        self.operations = {"PutRule": self.put_rule,
                           "DescribeRule": self.describe_rule,
                           "ListRules": self.list_rules,
                           "DeleteRule": self.delete_rule,
                           "PutTargets": self.put_targets,
                           "ListTargetsByRule": self.list_targets,
                           "PutEvents": self.put_events,
                           "RemoveTargets": self.remove_targets}

    def need(self, name):
        if name not in self.rules:
            raise Failure("ResourceNotFoundException", "Rule %s does not "
                          "exist on EventBus default." % name)
        return self.rules[name]

    def arn(self, name, region):
        return self.world.arn("events", region, "rule/" + name)

    def put_rule(self, asked, call):
        text = asked.get("EventPattern")
        if text is None and "ScheduleExpression" not in asked:
            raise Failure("ValidationException", "Parameter(s) EventPattern "
                          "or ScheduleExpression must be specified.")
        try:
            pattern = json.loads(text) if text is not None else None
        except ValueError:
            pattern = text
        if text is not None and not fits_pattern(pattern):
            raise Failure("InvalidEventPatternException", "Event pattern is "
                          "not valid.")
        rule = {"Name": asked["Name"], "pattern": pattern,
                "EventPattern": text, "region": call.region,
                "State": asked.get("State", "ENABLED")}
        self.rules[asked["Name"]] = rule
        self.targets.setdefault(asked["Name"], {})
        call.acted = True
        return {"RuleArn": self.arn(asked["Name"], call.region)}

    def shown(self, rule):
        return {"Name": rule["Name"], "State": rule["State"],
                "EventPattern": rule["EventPattern"],
                "EventBusName": "default",
                "Arn": self.arn(rule["Name"], rule["region"])}

    def describe_rule(self, asked, call):
        del call
        return self.shown(self.need(asked["Name"]))

    def list_rules(self, asked, call):
        del call
        return {"Rules": [self.shown(rule)
                          for name, rule in sorted(self.rules.items())
                          if name.startswith(asked.get("NamePrefix", ""))]}

    def delete_rule(self, asked, call):
        name = asked["Name"]
        if self.targets.get(name):
            raise Failure("ValidationException",
                          "Rule can't be deleted since it has targets.")
        self.rules.pop(name, None)
        self.targets.pop(name, None)
        call.acted = True

    def put_targets(self, asked, call):
        self.need(asked["Rule"])
        for one in asked["Targets"]:
            self.targets[asked["Rule"]][one["Id"]] = one
        call.acted = True
        return {"FailedEntryCount": 0, "FailedEntries": []}

    def list_targets(self, asked, call):
        del call
        self.need(asked["Rule"])
        return {"Targets": list(self.targets[asked["Rule"]].values())}

    def remove_targets(self, asked, call):
        self.need(asked["Rule"])
        for one in asked["Ids"]:
            self.targets[asked["Rule"]].pop(one, None)
        call.acted = True
        return {"FailedEntryCount": 0, "FailedEntries": []}

    # Events.

    def put_events(self, asked, call):
        """Each entry is taken, or not, by itself."""
        said = [self.put_one(one, call) for one in asked["Entries"]]
        return {"FailedEntryCount": sum("ErrorCode" in one for one in said),
                "Entries": said}

    def put_one(self, one, call):
        bus = one.get("EventBusName", "default")
        if bus.startswith("arn:"):
            bus = bus.rpartition("event-bus/")[2]
        if bus not in ["default"] + self.world.options.bus:
            return {"ErrorCode": "ResourceNotFoundException",
                    "ErrorMessage": "Event bus %s does not exist." % bus}
        if self.world.faults.strikes("event_refused") is not None:
            return {"ErrorCode": "InternalFailure",
                    "ErrorMessage": "Internal failure"}
        for name in ("Source", "DetailType", "Detail"):
            if not one.get(name):
                return {"ErrorCode": "InvalidArgument", "ErrorMessage":
                        "Parameter %s is not valid. Reason: %s is a required "
                        "argument." % (name, name)}
        try:
            detail = json.loads(one["Detail"])
        except ValueError:
            detail = None
        if not isinstance(detail, dict):
            return {"ErrorCode": "MalformedDetail",
                    "ErrorMessage": "Detail is malformed."}
        call.acted = True
        event = {"version": "0", "id": str(uuid.uuid4()),
                 "detail-type": one["DetailType"], "source": one["Source"],
                 "account": self.world.account, "time": time.strftime(
                     "%Y-%m-%dT%H:%M:%SZ", time.gmtime(one.get("Time"))),
                 "region": call.region, "resources": [], "detail": detail}
        self.world.journal.write({"event": "put", "bus": bus, "said": event})
        if bus == "default":
            self.offer(event)
        return {"EventId": event["id"]}

    def job_changed(self, job, status_changed):
        """A job moved on.  An interruption alone is not told."""
        if job.secondary == "Interrupted" and not status_changed:
            return
        if not self.rules:
            return
        self.offer(self.event(job))

    def offer(self, event):
        for name, rule in self.rules.items():
            if rule["State"] == "ENABLED" and rule["pattern"] is not None and \
                    matches(rule["pattern"], event):
                self.deliver(name, rule, event)

    def event(self, job):
        said = job.describe()
        detail = {key: said[key] for key in MIRRORED if key in said}
        detail.update({key: str(int(said[key] * 1000)) for key in TIMES
                       if key in said})
        detail["Tags"] = dict(job.tags)
        return {"version": "0", "id": str(uuid.uuid4()),
                "detail-type": "SageMaker Training Job State Change",
                "source": "aws.sagemaker", "account": self.world.account,
                "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                "region": job.region, "resources": [job.arn],
                "detail": detail}

    def deliver(self, name, rule, event):
        faults = self.world.faults
        for target in self.targets[name].values():
            queue = self.queues.by_arn(target["Arn"])
            if queue is None or not permits(queue, self.arn(
                    name, rule["region"])):
                self.world.journal.write({
                    "event": "undelivered", "rule": name,
                    "target": target["Arn"]})
                continue
            if faults.strikes("event_lost"):
                continue
            times = 2 if faults.strikes("event_twice") else 1
            for _ in range(times):
                self.world.later(self.world.about(1.0), queue.send,
                                 json.dumps(event))


def fits_pattern(pattern):
    """A pattern is an object of objects and lists."""
    return isinstance(pattern, dict) and bool(pattern) and all(
        isinstance(one, list) or fits_pattern(one)
        for one in pattern.values())


def matches(pattern, event):
    for key, wanted in pattern.items():
        have = event.get(key)
        if isinstance(wanted, dict):
            if not isinstance(have, dict) or not matches(wanted, have):
                return False
            continue
        values = have if isinstance(have, list) else [have]
        if not any(suits(one, value, key in event)
                   for one in wanted for value in values):
            return False
    return True


def suits(wanted, value, there):
    if not isinstance(wanted, dict):
        return there and value == wanted
    kind, said = next(iter(wanted.items()))
    if kind == "prefix":
        return isinstance(value, str) and value.startswith(said)
    if kind == "suffix":
        return isinstance(value, str) and value.endswith(said)
    if kind == "exists":
        return there == said
    if kind == "anything-but":
        said = said if isinstance(said, list) else [said]
        return there and value not in said
    return False


def listed(value):
    return value if isinstance(value, list) else [value]


def permits(queue, rule_arn):
    """The queue's policy lets this rule of EventBridge send."""
    try:
        policy = json.loads(queue.attributes.get("Policy", "{}"))
    except ValueError:
        return False
    for one in listed(policy.get("Statement", [])):
        who = one.get("Principal", {})
        condition = one.get("Condition", {})
        arns = [arn for kind in ("ArnEquals", "ArnLike", "StringEquals")
                for key, arn in condition.get(kind, {}).items()
                if key.lower() == "aws:sourcearn"]
        if one.get("Effect") == "Allow" and \
                (who == "*" or "events.amazonaws.com" in
                 listed(who.get("Service", []))) and \
                any(action.lower() in ("sqs:sendmessage", "sqs:*")
                    for action in listed(one.get("Action", []))) and \
                (not arns or any(rule_arn in listed(arn) for arn in arns)):
            return True
    return False
