"""The life of a job: provisioning, training, interruption, stop, upload, end.

Has the order and the durations of the platform; jobs.py holds the state,
hosts.py runs the processes, tree.py moves the files."""

import asyncio
import math
import os
import re
import struct
import sys
import threading
import time
import traceback

import tree
from hosts import Host
from jobs import MESSAGES
from virtual import VirtualHost, find_script

CAPACITY = "CapacityError: Unable to provision requested ML compute " \
    "capacity. Please retry using a different ML instance type."
ROLE_DENIED = "ClientError: Data download failed:AccessDenied: Access Denied"
INTERNAL = "InternalServerError: We encountered an internal error. " \
    "Please try again."
NAMESPACE = "/aws/sagemaker/TrainingJobs"

# Seconds of the platform.
STARTING = 40
PENDING = 20
DOWNLOADING = 15
UPLOADING = 10
STOPPING = 5
RECLAIMED = 60
GRACE = 120
SYNC = 10


class Ended(Exception):
    """The job is over before it trained: (status, secondary, failure)."""


class Life:
    def __init__(self, job, store, logs, metrics, room):
        self.job = job
        self.world = job.world
        self.store = store
        self.logs = logs
        self.metrics = metrics
        self.room = room
        self.checkpoints = tree.Checkpoints(job, store)
        self.regexes = [
            (one["Name"], re.compile(one["Regex"])) for one in
            job.asked["AlgorithmSpecification"].get("MetricDefinitions", ())]
        self.hosts = []
        self.names = {}
        self.epoch = 0
        self.on_since = None
        self.files = threading.Lock()
        self.live_trees = False

    async def run(self):
        job = self.job
        try:
            await self.live()
        except Ended as end:
            self.end(*end.args)
        except Exception:
            traceback.print_exc(file=sys.stderr)
            self.end("Failed", "Failed", INTERNAL)
        finally:
            self.kill()
            if not job.over():
                self.world.journal.write({"event": "killed",
                                          "job": job.name})

    async def live(self):
        job = self.job
        job.move("Starting")
        while True:
            await self.provision()
            verdict = await self.train()
            if verdict != "interrupted":
                break
            self.account()
            job.interruptions += 1
            self.world.journal.fault("spot_interrupt")
            job.move("Interrupted")
            await self.pause(RECLAIMED / 2)
            job.move("Starting")
        await self.finish(verdict)

    # Before the training.

    async def pause(self, seconds, spread=True):
        """Lets the platform's time go by; a stop or the end of MaxWait ends
        the job here."""
        job, world = self.job, self.world
        left = job.wait_left()
        if spread:
            seconds *= world.rng.uniform(0.7, 1.3)
        real = min(seconds, max(left, 0)) / world.speed
        began = time.monotonic()
        if await self.stopped_within(real):
            await asyncio.sleep(world.about(STOPPING))
            raise Ended("Stopped", "Stopped", None)
        job.waited += (time.monotonic() - began) * world.speed
        if job.spot and left <= seconds:
            raise Ended("Stopped", "MaxWaitTimeExceeded", None)

    async def stopped_within(self, seconds):
        try:
            await asyncio.wait_for(self.job.stop.wait(),
                                   None if seconds == math.inf else seconds)
            return True
        except asyncio.TimeoutError:
            return False

    async def provision(self):
        job, world = self.job, self.world
        if not job.warm:
            await self.pause(STARTING)
            await self.starve()
        job.warm = False
        job.move("Pending")
        await self.pause(PENDING)
        if world.faults.strikes("internal_failure"):
            raise Ended("Failed", "Failed", INTERNAL)
        job.move("Downloading")
        if job.began is None:
            job.began = time.time()
        self.on_since = time.monotonic()
        self.make_hosts()
        await self.pause(DOWNLOADING)
        if world.faults.strikes("role_denied"):
            raise Ended("Failed", "Failed", ROLE_DENIED)
        try:
            await asyncio.get_running_loop().run_in_executor(
                None, self.furnish)
        except tree.NoData as error:
            raise Ended("Failed", "Failed", str(error)) from None

    def starved(self):
        """No capacity: seconds of it, None when there is some."""
        job, faults = self.job, self.world.faults
        mine = "spot" if job.spot else "on-demand"
        for _, kind, _ in job.groups:
            if self.world.options.no_capacity.get(kind) in (mine, "both"):
                return math.inf
            rule = faults.strikes("no_capacity", kind, market=mine)
            if rule is not None:
                return faults.between(rule, math.inf)
        return None

    async def starve(self):
        """On-demand fails at once, spot waits."""
        job = self.job
        seconds = self.starved()
        if seconds is None:
            return
        job.move("Starting", None, "Insufficient capacity error from EC2 "
                 "while launching instances, retrying!")
        if not job.spot:
            await self.pause(STARTING)
            raise Ended("Failed", "Failed", CAPACITY)
        await self.pause(min(job.wait_left(), seconds * self.world.speed),
                         False)

    def make_hosts(self):
        """The machines: each (re)start gets fresh ones."""
        job = self.job
        count = sum(number for _, _, number in job.groups)
        block = self.world.next_block()
        self.names = {"algo-%d" % (number + 1): "127.%d.%d.%d" % (
            block >> 8 & 127 | 128, block & 255, number + 1)
            for number in range(count)}
        script = find_script(job)
        keep = self.world.options.keep
        self.hosts = [
            Host(os.path.join(job.folder, name), name, self.room, keep)
            if script is None else
            VirtualHost(os.path.join(job.folder, name), name, job, script)
            for name in self.names]

    def furnish(self):
        """Fresh trees for the machines; nobody syncs the old ones by now."""
        with self.files:
            self.furnish_all()
        self.live_trees = True

    def furnish_all(self):
        for number, host in enumerate(self.hosts):
            tree.build(self.job, host, self.names)
            if isinstance(host, Host):
                tree.fetch(self.job, host, number, len(self.hosts),
                           self.store)
            self.checkpoints.restore(host)

    # The training.

    async def train(self):
        """Trains until something ends it; says what."""
        job, world = self.job, self.world
        job.move("Training")
        argv = self.command()
        env = dict(job.asked.get("Environment", {}),
                   TRAINING_JOB_NAME=job.name, TRAINING_JOB_ARN=job.arn)
        self.epoch = max(self.epoch + 1, int(time.time()))
        for host in self.hosts:
            name = "%s-%d" % (host.name, self.epoch)
            await host.start(argv, env, self.names, self.listener(
                self.logs.stream("%s/%s" % (job.name, name)),
                os.path.join(job.folder, name + ".log")))
        world.journal.write({"event": "training", "job": job.name,
                             "hosts": len(self.hosts)})
        syncing = world.spawn(self.sync_often())
        exits = asyncio.ensure_future(self.exits())
        try:
            return await self.watch(exits)
        finally:
            syncing.cancel()
            if not exits.done():
                exits.cancel()

    def command(self):
        algorithm = self.job.asked["AlgorithmSpecification"]
        entry = algorithm.get("ContainerEntrypoint",
                              self.world.options.image_command)
        return list(entry) + list(algorithm.get("ContainerArguments",
                                                ["train"]))

    def listener(self, stream, path):
        """A function that is told each line of a host.

        The file has them as they were printed, whatever becomes of them on
        their way."""
        def line(text):
            with open(path, "a", encoding="utf-8") as file:
                file.write(text + "\n")
            # As AWS's own algorithms stand in its logs.
            if "ContainerEntrypoint" not in \
                    self.job.asked["AlgorithmSpecification"]:
                text = text.replace("\t", "#011")
            stream.add(text)
            self.measure_gpus()
            for name, regex in self.regexes:
                match = regex.search(text)
                if match is None:
                    continue
                try:
                    value = float(match.group(1))
                except (ValueError, IndexError):
                    continue
                self.measure(name, value)
        return line

    def measure_gpus(self):
        """GPUUtilization of every machine: the first has twice the others'."""
        percent = self.job.world.options.gpu_utilization
        for number, name in enumerate(self.names if percent else ()):
            self.metrics.add(NAMESPACE, "GPUUtilization",
                             (("Host", "%s/%s" % (self.job.name, name)),),
                             percent * (2 if number == 0 else 1))

    def measure(self, name, value):
        try:
            single = struct.unpack("f", struct.pack("f", value))[0]
        except OverflowError:
            return
        if not math.isfinite(single):
            return
        self.job.metrics[name] = (single, time.time())
        self.metrics.add(NAMESPACE, name,
                         (("TrainingJobName", self.job.name),), value)

    async def exits(self):
        """Waits for every host; the first that fails takes the rest down."""
        waits = {asyncio.ensure_future(host.wait()): host
                 for host in self.hosts}
        statuses = []
        while waits:
            done, _ = await asyncio.wait(
                waits, return_when=asyncio.FIRST_COMPLETED)
            for one in done:
                del waits[one]
                statuses.append(one.result())
            if any(statuses) and waits:
                _, late = await asyncio.wait(
                    waits, timeout=self.world.shorter(20))
                for one in late:
                    waits[one].kill()
        return next((status for status in statuses if status), 0)

    async def watch(self, exits):
        """What ends the training: exit, stop, limit or interruption."""
        job = self.job
        after = math.inf
        if job.spot:
            rule = self.world.faults.strikes(
                "spot_interrupt", job.groups[0][1], count=False)
            if rule is not None:
                after = self.world.faults.reclaim(
                    rule, self.world.options.run_speed)
        limit = job.max_run - job.trained
        wait = job.wait_left() / self.world.options.run_speed
        stop = asyncio.ensure_future(job.stop.wait())
        taken = asyncio.ensure_future(job.reclaim.wait())
        least = min(after, limit, wait)
        try:
            await asyncio.wait(
                {exits, stop, taken}, return_when=asyncio.FIRST_COMPLETED,
                timeout=None if least == math.inf else max(least, 0))
        finally:
            stop.cancel()
            taken.cancel()
        if exits.done():
            return exits.result()
        if job.stop.is_set():
            slow = self.world.faults.strikes("slow_stop")
            await asyncio.sleep(self.world.about(STOPPING) if slow is None
                                else self.world.faults.between(slow, 5.0))
            await self.terminate(exits)
            return "Stopped"
        if least == after or job.reclaim.is_set():
            job.reclaim.clear()
            # What is not in S3 by now is lost.
            self.live_trees = False
            self.kill()
            await exits
            return "interrupted"
        await self.terminate(exits)
        return "MaxRuntimeExceeded" if limit <= wait else \
            "MaxWaitTimeExceeded"

    async def terminate(self, exits):
        """SIGTERM, and SIGKILL when that is not obeyed in time."""
        for host in self.hosts:
            host.terminate()
        await asyncio.wait({exits}, timeout=self.world.shorter(GRACE))
        self.world.journal.write({"event": "terminated",
                                  "job": self.job.name,
                                  "obeyed": exits.done()})
        if not exits.done():
            self.kill()
            await exits

    def kill(self):
        for host in self.hosts:
            host.kill()

    async def sync_often(self):
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(max(self.world.shorter(SYNC), 0.1))
            await loop.run_in_executor(None, self.sync)

    def sync(self):
        with self.files:
            if self.live_trees:
                self.sync_all()

    def sync_all(self):
        mark = bool(self.world.faults.rules.get("checkpoint_markers"))
        for host in self.hosts:
            self.checkpoints.sync(host, mark)

    # After it.

    def account(self):
        """Charges the time since the machines were there."""
        if self.on_since is None:
            return
        share = self.world.rng.uniform(0.2, 0.4) if self.job.spot else 1.0
        self.job.charge(time.monotonic() - self.on_since, share)
        self.on_since = None

    async def finish(self, verdict):
        """verdict: an exit status, or the secondary status of a stop."""
        job, world = self.job, self.world
        job.move("Uploading")
        slow = world.faults.strikes("slow_upload")
        await asyncio.sleep(world.about(UPLOADING) if slow is None
                            else world.faults.between(slow, 5.0))
        await asyncio.get_running_loop().run_in_executor(None, self.send)
        if isinstance(verdict, str):
            raise Ended("Stopped", verdict, None)
        if verdict != 0:
            raise Ended("Failed", "Failed", "AlgorithmError: %s, exit code: "
                        "%d" % (tree.failure_text(self.hosts), verdict))
        if job.stop.is_set():
            raise Ended("Stopped", "Stopped", None)
        raise Ended("Completed", "Completed", None)

    def send(self):
        self.sync()
        tree.upload(self.job, self.hosts, self.store)

    def end(self, status, secondary, failure):
        job = self.job
        self.account()
        job.failure = failure
        if job.began is not None:
            job.ended = time.time()
            job.tell_bill()
        message = MESSAGES[secondary] if failure is None else failure
        job.move(secondary, status, message)
