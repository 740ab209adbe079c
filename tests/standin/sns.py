"""SNS: topics, and what was published to them.

The Query protocol of Publish; messages go to the journal."""

import re
import time
import uuid
from xml.sax.saxutils import escape

import models
from front import form
from wire import Response
from world import Failure

NAMESPACE = "http://sns.amazonaws.com/doc/2010-03-31/"
VERSION = "2010-03-31"
TOPIC = re.compile(r"arn:aws[a-z-]*:sns:([a-z0-9-]+):(\d{12}):([\w-]+"
                   r"(?:\.fifo)?)")
KEPT = 300.0  # seconds for which an id is known
SIZE = 262144
CODES = {"UnrecognizedClientException": "InvalidClientTokenId",
         "ExpiredTokenException": "ExpiredToken",
         "InvalidSignatureException": "SignatureDoesNotMatch",
         "MissingAuthenticationTokenException": "MissingAuthenticationToken",
         "AccessDenied": "AuthorizationError",
         "ValidationException": "ValidationError"}


class SNS:
    def __init__(self, world):
        self.world = world
        self.topics = set(world.options.topic)
        self.seen = {}

    def route(self, call):
        fields = form(call.request)
        call.operation = fields.get("Action")
        if call.operation != "Publish" or \
                fields.get("Version") != VERSION or \
                call.request.method != "POST" or call.request.path != "/":
            raise Failure("InvalidAction", "Could not find operation %s for "
                          "version %s" % (call.operation,
                                          fields.get("Version")))
        return lambda: self.publish(fields, call)

    def publish(self, fields, call):
        model = models.load("sns")
        asked = model.from_form("Publish", {
            name: value for name, value in fields.items()
            if name not in ("Action", "Version")})
        model.check("Publish", asked)
        arn = asked.get("TopicArn", "")
        found = TOPIC.fullmatch(arn)
        if not found:
            raise invalid("TopicArn Reason: An ARN must have at least 6 "
                          "elements, not %d" % (arn.count(":") + 1))
        if found.group(1) != call.region:
            raise invalid("TopicArn")
        if found.group(2) != self.world.account or \
                found.group(3) not in self.topics:
            raise Failure("NotFound", "Topic does not exist", 404)
        check_message(asked)
        said = {"event": "published", "topic": arn,
                "subject": asked.get("Subject"), "message": asked["Message"],
                "attributes": {
                    name: one.get("StringValue") for name, one in
                    asked.get("MessageAttributes", {}).items()}}
        if arn.endswith(".fifo"):
            return self.publish_ordered(asked, said, call)
        if "MessageDeduplicationId" in asked:
            raise invalid("MessageDeduplicationId Reason: The request "
                          "includes MessageDeduplicationId parameter that is "
                          "not valid for this topic type")
        return self.take(said, str(uuid.uuid4()), call)

    def publish_ordered(self, asked, said, call):
        """A FIFO topic takes an id once in five minutes, and says yes."""
        for name in ("MessageGroupId", "MessageDeduplicationId"):
            if not asked.get(name):
                raise invalid("The %s parameter is required for FIFO topics"
                              % name)
        known = (said["topic"], asked["MessageDeduplicationId"])
        at, message = self.seen.get(known, (-KEPT, None))
        if time.monotonic() - at < KEPT:
            self.world.journal.write({"event": "dropped_double",
                                      "topic": said["topic"],
                                      "id": known[1]})
            return answer(call, message, "10000000000000000000")
        message = str(uuid.uuid4())
        self.seen[known] = time.monotonic(), message
        said.update(group=asked["MessageGroupId"], dedup=known[1])
        return self.take(said, message, call, "10000000000000000000")

    def take(self, said, message, call, sequence=None):
        call.acted = True
        self.world.journal.write(said)
        return answer(call, message, sequence)

    def error(self, call, error):
        refused = not isinstance(error, Failure)
        body = '<ErrorResponse xmlns="%s"><Error><Type>Sender</Type>' \
            "<Code>%s</Code><Message>%s</Message></Error><RequestId>%s" \
            "</RequestId></ErrorResponse>" % (
                NAMESPACE, escape(CODES.get(error.code, error.code)),
                escape(error.text), call.id)
        status = 403 if refused or error.code == "AccessDenied" else \
            getattr(error, "status", 400)
        return Response(status, body.encode(), {"Content-Type": "text/xml"})


def invalid(text):
    return Failure("InvalidParameter", "Invalid parameter: " + text)


def check_message(asked):
    subject = asked.get("Subject", "x")
    if not subject or len(subject) > 100 or not subject.isascii() or \
            not subject.isprintable() or subject[0] == " ":
        raise invalid("Subject")
    message = asked.get("Message", "")
    if not message:
        raise invalid("Empty message")
    if len(message.encode()) > SIZE:
        raise invalid("Message too long")


def answer(call, message, sequence=None):
    more = "" if sequence is None else \
        "<SequenceNumber>%s</SequenceNumber>" % sequence
    return Response(200, (
        '<PublishResponse xmlns="%s"><PublishResult><MessageId>%s'
        "</MessageId>%s</PublishResult><ResponseMetadata><RequestId>%s"
        "</RequestId></ResponseMetadata></PublishResponse>"
        % (NAMESPACE, message, more, call.id)).encode(),
        {"Content-Type": "text/xml"})
