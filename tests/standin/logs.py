"""CloudWatch Logs: groups, streams, and reading them.

Jobs write through Stream.add."""

import bisect
import heapq
import re
import time
from collections import deque

from world import Failure

GROUP = "/aws/sagemaker/TrainingJobs"
PAGE_BYTES = 1 << 20
TERM = re.compile(r'([?-]?)(?:"((?:[^"\\]|\\.)*)"|(\w+))(?=\s|$)')
TOKEN = re.compile(r"f/(\d{24})(\d{32})/s")


class Stream:
    """One stream: events in the order in which they arrived."""

    def __init__(self, logs, name):
        self.logs = logs
        self.name = name
        self.created = int(time.time() * 1000)
        self.events = []
        self.coming = deque()
        self.held_until = 0.0

    def add(self, text):
        """A line that was printed now; it arrives a little later."""
        world = self.logs.world
        text = text.rstrip("\n")
        if not text:
            return
        at = int(time.time() * 1000)
        pieces = [text]
        if len(text) > 1 and world.faults.strikes("log_split"):
            cut = world.faults.rngs["log_split"].randrange(1, len(text))
            pieces = [text[:cut], text[cut:]]
        now = time.monotonic()
        arrives = now + world.shorter(self.logs.lag)
        delay = world.faults.strikes("log_delay")
        if delay is not None:
            arrives += world.faults.between(delay, 1.0)
        # A stream keeps its order: what follows a late line waits for it.
        arrives = max(arrives, self.held_until)
        self.held_until = arrives
        for piece in pieces:
            self.coming.append((at, piece))
            world.later(arrives - now, self.arrive)

    def arrive(self):
        """The next of what is under way; timers of one time have no order."""
        at, text = self.coming.popleft()
        self.logs.sequence += 1
        self.events.append({
            "timestamp": at, "message": text,
            "ingestionTime": max(at, int(time.time() * 1000)),
            "id": "%020d%036d" % (at, self.logs.sequence)})


class Logs:
    def __init__(self, world):
        self.world = world
        self.groups = {}
        self.lag = 2.0
        self.sequence = 0
        self.nonce = 0
        self.operations = {"DescribeLogStreams": self.describe_streams,
                           "DescribeLogGroups": self.describe_groups,
                           "GetLogEvents": self.get_events,
                           "FilterLogEvents": self.filter_events}

    def stream(self, name):
        """The stream of this name, made when it is new."""
        streams = self.groups.setdefault(GROUP, {})
        if name not in streams:
            streams[name] = Stream(self, name)
        return streams[name]

    def need_group(self, asked):
        name = asked.get("logGroupName") or \
            asked.get("logGroupIdentifier", "").rpartition(":")[2]
        if name not in self.groups:
            raise Failure("ResourceNotFoundException",
                          "The specified log group does not exist.")
        return self.groups[name]

    def refuse_token(self, asked):
        """Tokens end after a day; a fault makes that day short."""
        if asked.get("nextToken") and \
                self.world.faults.strikes("log_token_expired"):
            raise Failure("InvalidParameterException",
                          "The specified nextToken is invalid.")

    def describe_groups(self, asked, call):
        prefix = asked.get("logGroupNamePrefix", "")
        return {"logGroups": [
            {"logGroupName": name, "storedBytes": 0,
             "arn": self.world.arn("logs", call.region,
                                   "log-group:%s:*" % name)}
            for name in sorted(self.groups) if name.startswith(prefix)]}

    def describe_streams(self, asked, call):
        prefix = asked.get("logStreamNamePrefix")
        streams = self.need_group(asked)
        recent = asked.get("orderBy") == "LastEventTime"
        if recent and prefix is not None:
            raise Failure("InvalidParameterException", "Cannot order by "
                          "LastEventTime with a logStreamNamePrefix.")
        names = sorted(name for name in streams
                       if name.startswith(prefix or ""))
        if recent:
            names.sort(key=lambda name: last_time(streams[name]))
        if asked.get("descending"):
            names.reverse()
        self.refuse_token(asked)
        start = read_offset(asked.get("nextToken"))
        page = names[start:start + asked.get("limit", 50)]
        result = {"logStreams": [self.shown(streams[name], call)
                                 for name in page]}
        if start + len(page) < len(names):
            result["nextToken"] = "o%d" % (start + len(page))
        return result

    def shown(self, stream, call):
        said = {"logStreamName": stream.name, "creationTime": stream.created,
                "storedBytes": 0, "uploadSequenceToken": "0",
                "arn": self.world.arn(
                    "logs", call.region, "log-group:%s:log-stream:%s"
                    % (GROUP, stream.name))}
        if stream.events:
            said["firstEventTimestamp"] = stream.events[0]["timestamp"]
            said["lastEventTimestamp"] = stream.events[-1]["timestamp"]
            said["lastIngestionTime"] = stream.events[-1]["ingestionTime"]
        return said

    # GetLogEvents: a token is a place between two events.

    def get_events(self, asked, call):
        del call
        streams = self.need_group(asked)
        stream = streams.get(asked["logStreamName"])
        if stream is None:
            raise Failure("ResourceNotFoundException",
                          "The specified log stream does not exist.")
        self.refuse_token(asked)
        events = stream.events
        token = asked.get("nextToken")
        most = asked.get("limit", 10000)
        head = asked.get("startFromHead", False)
        if token is not None:
            start = self.read_token(token, len(events))
            if token.startswith("b/"):
                end, start = start, max(start - most, 0)
                return self.page(events[start:end], start, end, None)
            if not head:
                raise Failure("InvalidParameterException", "startFromHead "
                              "must be true with a forward token")
        else:
            start = self.first_after(events, asked.get("startTime", 0))
            if not head:
                start = max(start, len(events) - most)
        if self.world.faults.strikes("log_empty_page"):
            return self.page([], start, start, None)
        if start and start < len(events) and token is not None and \
                self.world.faults.strikes("log_duplicate"):
            start -= 1
        end, size = start, 0
        while end < len(events) and end - start < most:
            size += len(events[end]["message"].encode()) + 26
            if size > PAGE_BYTES and end > start:
                break
            end += 1
        page = [one for one in events[start:end]
                if asked.get("startTime", 0) <= one["timestamp"] <
                asked.get("endTime", 1 << 62)]
        return self.page(page, start, end,
                         token if start == end else None)

    @staticmethod
    def first_after(events, at):
        return next((number for number, one in enumerate(events)
                     if one["timestamp"] >= at), len(events))

    def page(self, events, start, end, same):
        """Tokens of one place differ from page to page, except at the end of
        the stream, which gives back the token that was sent."""
        self.nonce += 1
        return {"events": [{name: one[name] for name in
                            ("timestamp", "message", "ingestionTime")}
                           for one in events],
                "nextForwardToken":
                same or "f/%024d%032d/s" % (end, self.nonce),
                "nextBackwardToken": "b/%024d%032d/s" % (start, self.nonce)}

    @staticmethod
    def read_token(token, count):
        match = TOKEN.fullmatch("f" + token[1:])
        if token[:1] not in ("f", "b") or match is None or \
                int(match.group(1)) > count:
            raise Failure("InvalidParameterException",
                          "The specified nextToken is invalid.")
        return int(match.group(1))

    # FilterLogEvents: by time over many streams.

    def filter_events(self, asked, call):
        del call
        streams = self.need_group(asked)
        prefix = asked.get("logStreamNamePrefix")
        names = asked.get("logStreamNames")
        if prefix is not None and names is not None:
            raise Failure("InvalidParameterException", "Only one of "
                          "logStreamNames and logStreamNamePrefix")
        self.refuse_token(asked)
        if names is not None:
            missing = [name for name in names if name not in streams]
            if missing:
                raise Failure("ResourceNotFoundException", "The specified log "
                              "stream does not exist.")
            chosen = [streams[name] for name in names]
        else:
            chosen = [stream for name, stream in streams.items()
                      if name.startswith(prefix or "")]
        wanted = compile_filter(asked.get("filterPattern", ""))
        after = ""
        token = asked.get("nextToken")
        if token is not None:
            if not re.fullmatch(r"n/(\d{56})?(/\d+)?", token):
                raise Failure("InvalidParameterException",
                              "The specified nextToken is invalid.")
            after = token[2:].partition("/")[0]
        if self.world.faults.strikes("log_empty_page"):
            self.nonce += 1
            return {"events": [], "searchedLogStreams": [],
                    "nextToken": "n/%s/%d" % (after, self.nonce)}
        if after and self.world.faults.strikes("log_duplicate"):
            after = "%056d" % (int(after) - 1)
        return self.sweep(chosen, asked, wanted, after)

    def sweep(self, chosen, asked, wanted, after):
        least, most = asked.get("startTime", 0), asked.get("endTime", 1 << 62)
        rows = heapq.merge(*(self.slice(stream, least)
                             for stream in chosen))
        page, size, last = [], 0, ""
        for key, name, one in rows:
            if key <= after or one["timestamp"] >= most or \
                    not wanted(one["message"]):
                continue
            size += len(one["message"]) + 26
            if len(page) >= asked.get("limit", 10000) or size > PAGE_BYTES:
                return {"events": page, "searchedLogStreams": [],
                        "nextToken": "n/" + last}
            page.append({"logStreamName": name, "timestamp": one["timestamp"],
                         "message": one["message"],
                         "ingestionTime": one["ingestionTime"],
                         "eventId": key})
            last = key
        return {"events": page, "searchedLogStreams": []}

    @staticmethod
    def slice(stream, least):
        start = bisect.bisect_left(stream.events, "%020d" % max(least, 0),
                                   key=lambda one: one["id"])
        for one in stream.events[start:]:
            yield one["id"], stream.name, one


def last_time(stream):
    return stream.events[-1]["timestamp"] if stream.events else 0


def read_offset(token):
    if token is None:
        return 0
    if not re.fullmatch(r"o\d+", token):
        raise Failure("InvalidParameterException",
                      "The specified nextToken is invalid.")
    return int(token[1:])


def compile_filter(text):
    """A predicate of messages: terms, "phrases", ?either, -not."""
    text = text.strip()
    if text.startswith(("{", "[", "%")):
        raise Failure("InvalidParameterException",
                      "the stand-in has only filters of terms")
    terms = {"": [], "?": [], "-": []}
    rest = text
    while rest:
        match = TERM.match(rest)
        if match is None:
            raise Failure("InvalidParameterException",
                          "Invalid character(s) in term '%s'" % rest)
        sign, phrase, word = match.groups()
        terms[sign].append(word if phrase is None else
                           re.sub(r"\\(.)", r"\1", phrase))
        rest = rest[match.end():].lstrip()

    def wanted(message):
        return all(term in message for term in terms[""]) and \
            not any(term in message for term in terms["-"]) and \
            (not terms["?"] or any(term in message for term in terms["?"]))
    return wanted
