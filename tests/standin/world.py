"""Shared by all services of the stand-in: clock, pace, names, accounts,
options."""

import asyncio
import os
import random
import time
import uuid

from faults import Faults
from journal import Journal
from keys import Keys

ACCOUNT = "123456789012"


class Failure(Exception):
    """An answer that is an error of the service."""

    def __init__(self, code, text, status=400):
        super().__init__(text)
        self.code = code
        self.text = text
        self.status = status


class World:
    def __init__(self, options, spec):
        self.options = options
        self.folder = os.path.abspath(options.dir)
        os.makedirs(self.folder, exist_ok=True)
        self.speed = options.speed
        self.account = options.account
        self.region = options.region
        self.journal = Journal(self.folder, options.speed)
        self.faults = Faults(spec, options.seed, self.journal)
        self.keys = Keys(options.access_key, options.secret_key, options.seed)
        self.rng = random.Random("world %s" % options.seed)
        self.endpoint = None
        self.tasks = set()
        self.blocks = 0

    def now(self):
        """The time of this AWS, which a fault may shift."""
        return time.time() + self.faults.skew

    def shorter(self, seconds):
        """A delay of the platform, at this pace."""
        return seconds / self.speed

    def about(self, seconds):
        """The same, by chance up to 30 % shorter or longer."""
        return self.shorter(seconds) * self.rng.uniform(0.7, 1.3)

    def next_block(self):
        """A number for the loopback addresses of one set of machines."""
        self.blocks += 1
        return self.blocks

    def arn(self, service, region, resource):
        return "arn:aws:%s:%s:%s:%s" % (service, region, self.account,
                                        resource)

    def spawn(self, coroutine):
        """A task of the platform; one that fails is told on stderr."""
        task = asyncio.ensure_future(coroutine)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    def later(self, seconds, call, *arguments):
        asyncio.get_running_loop().call_later(seconds, call, *arguments)


def request_id():
    return str(uuid.uuid4())
