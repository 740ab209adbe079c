"""SQS: queues, visibility and long polls.

events.py sends the messages."""

import asyncio
import hashlib
import time
import uuid

from world import Failure

NONE = "The specified queue does not exist."


class Queue:
    def __init__(self, name, url, attributes):
        self.name = name
        self.url = url
        self.attributes = attributes
        self.messages = []
        self.arrived = asyncio.Event()

    def number(self, name, otherwise):
        return int(self.attributes.get(name, otherwise))

    def send(self, body):
        self.messages.append({"id": str(uuid.uuid4()), "body": body,
                              "visible": 0.0, "receipt": None,
                              "received": 0, "sent": time.time()})
        self.arrived.set()

    def take(self, most, hide):
        """Up to most messages, hidden for so many seconds."""
        now = time.monotonic()
        keep = self.number("MessageRetentionPeriod", 345600)
        self.messages = [one for one in self.messages
                         if one["sent"] + keep > time.time()]
        found = [one for one in self.messages if one["visible"] <= now][:most]
        for one in found:
            one["visible"] = now + hide
            one["receipt"] = uuid.uuid4().hex
            one["received"] += 1
        return found

    def next_visible(self):
        """Seconds until a hidden message shows again."""
        now = time.monotonic()
        return min((one["visible"] - now for one in self.messages),
                   default=60.0)


class SQS:
    def __init__(self, world):
        self.world = world
        self.queues = {}
        self.deleted = {}
        self.operations = {
            "CreateQueue": self.create, "GetQueueUrl": self.get_url,
            "GetQueueAttributes": self.get_attributes,
            "SetQueueAttributes": self.set_attributes,
            "SendMessage": self.send, "ReceiveMessage": self.receive,
            "DeleteMessage": self.delete_one,
            "DeleteMessageBatch": self.delete_batch,
            "ListQueues": self.list, "PurgeQueue": self.purge,
            "DeleteQueue": self.delete}

    def need(self, url):
        queue = self.queues.get(url.rstrip("/").rpartition("/")[2])
        if queue is None:
            error = Failure("com.amazonaws.sqs#QueueDoesNotExist", NONE)
            error.legacy = "AWS.SimpleQueueService.NonExistentQueue"
            raise error
        return queue

    def by_arn(self, arn):
        return self.queues.get(arn.rpartition(":")[2])

    def arn(self, queue, region):
        return self.world.arn("sqs", region, queue.name)

    def create(self, asked, call):
        name = asked["QueueName"]
        attributes = asked.get("Attributes", {})
        if name in self.queues:
            queue = self.queues[name]
            if any(queue.attributes.get(key) != value
                   for key, value in attributes.items()):
                error = Failure("com.amazonaws.sqs#QueueNameExists", "A queue "
                                "already exists with the same name and a "
                                "different value for an attribute")
                error.legacy = "QueueAlreadyExists"
                raise error
            return {"QueueUrl": queue.url}
        if time.monotonic() - self.deleted.get(name, -1e9) < \
                self.world.shorter(60):
            error = Failure("com.amazonaws.sqs#QueueDeletedRecently",
                            "You must wait 60 seconds after deleting a queue "
                            "before you can create another with the same "
                            "name.")
            error.legacy = "AWS.SimpleQueueService.QueueDeletedRecently"
            raise error
        url = "%s/%s/%s" % (self.world.endpoint, self.world.account, name)
        self.queues[name] = Queue(name, url, dict(attributes))
        call.acted = True
        return {"QueueUrl": url}

    def get_url(self, asked, call):
        del call
        return {"QueueUrl": self.need(asked["QueueName"]).url}

    def get_attributes(self, asked, call):
        queue = self.need(asked["QueueUrl"])
        wanted = asked.get("AttributeNames", [])
        said = dict(queue.attributes,
                    QueueArn=self.arn(queue, call.region),
                    ApproximateNumberOfMessages=str(len(queue.messages)))
        said = {key: value for key, value in said.items()
                if "All" in wanted or key in wanted}
        return {"Attributes": said} if said else {}

    def set_attributes(self, asked, call):
        self.need(asked["QueueUrl"]).attributes.update(asked["Attributes"])
        call.acted = True

    def send(self, asked, call):
        queue = self.need(asked["QueueUrl"])
        queue.send(asked["MessageBody"])
        call.acted = True
        return {"MessageId": queue.messages[-1]["id"],
                "MD5OfMessageBody": md5(asked["MessageBody"])}

    async def receive(self, asked, call):
        del call
        queue = self.need(asked["QueueUrl"])
        wait = asked.get("WaitTimeSeconds", queue.number(
            "ReceiveMessageWaitTimeSeconds", 0))
        most = asked.get("MaxNumberOfMessages", 1)
        if not 1 <= most <= 10 or not 0 <= wait <= 20:
            raise Failure("InvalidParameterValue", "out of range")
        hide = asked.get("VisibilityTimeout",
                         queue.number("VisibilityTimeout", 30))
        until = time.monotonic() + wait
        while True:
            found = queue.take(most, hide)
            left = until - time.monotonic()
            if found or left <= 0:
                break
            queue.arrived.clear()
            try:
                await asyncio.wait_for(
                    queue.arrived.wait(),
                    min(left, max(queue.next_visible(), 0.01)))
            except asyncio.TimeoutError:
                pass
        # An idle queue answers without the key, not with an empty list.
        if not found:
            return {}
        return {"Messages": [
            {"MessageId": one["id"], "ReceiptHandle": one["receipt"],
             "Body": one["body"], "MD5OfBody": md5(one["body"])}
            for one in found]}

    def forget(self, queue, receipt):
        before = len(queue.messages)
        queue.messages = [one for one in queue.messages
                          if one["receipt"] != receipt]
        return len(queue.messages) < before

    def delete_one(self, asked, call):
        self.forget(self.need(asked["QueueUrl"]), asked["ReceiptHandle"])
        call.acted = True

    def delete_batch(self, asked, call):
        queue = self.need(asked["QueueUrl"])
        entries = asked["Entries"]
        if not 1 <= len(entries) <= 10:
            raise Failure("com.amazonaws.sqs#TooManyEntriesInBatchRequest",
                          "Maximum number of entries per request are 10.")
        for one in entries:
            self.forget(queue, one["ReceiptHandle"])
        call.acted = True
        return {"Successful": [{"Id": one["Id"]} for one in entries],
                "Failed": []}

    def list(self, asked, call):
        del call
        prefix = asked.get("QueueNamePrefix", "")
        urls = [queue.url for name, queue in sorted(self.queues.items())
                if name.startswith(prefix)]
        return {"QueueUrls": urls} if urls else {}

    def purge(self, asked, call):
        self.need(asked["QueueUrl"]).messages = []
        call.acted = True

    def delete(self, asked, call):
        queue = self.need(asked["QueueUrl"])
        del self.queues[queue.name]
        self.deleted[queue.name] = time.monotonic()
        call.acted = True


def md5(text):
    return hashlib.md5(text.encode()).hexdigest()
