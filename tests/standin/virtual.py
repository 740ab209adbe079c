"""Jobs without a process: a script of what a training would print.

Prints lines at a pace, keeps a checkpoint and obeys signals, all on the loop,
so that hundreds run at once.  The script is an object, taken from the job's
Environment (STANDIN_VIRTUAL) or from --virtual:

{"steps": 20, "seconds": 1.0, "line": "step=%STEP% loss=%VALUE%", "start": 1.0,
"floor": 0.1, "rate": 0.2, "noise": 0.0, "checkpoint": true, "exit": 0, "term":
0.1}

VALUE of a step is floor + (start - floor) * exp(-rate * step) plus normal
noise, by the job's hyperparameters and name; "spread" raises the floor by up
to this value, by the hyperparameters.  A job whose entry point is hpotune's
script prints its last line, too."""

import asyncio
import json
import math
import os
import random


def find_script(job):
    """The script of a job, None when it is a real one."""
    said = job.asked.get("Environment", {}).get("STANDIN_VIRTUAL")
    common = job.world.options.virtual
    if said is None:
        return common
    try:
        return dict(common or {}, **json.loads(said))
    except ValueError:
        return dict(common or {})


class VirtualHost:
    """The interface of hosts.Host, without a process."""

    def __init__(self, folder, name, job, script):
        self.folder = folder
        self.name = name
        self.tree = os.path.join(folder, "opt", "ml")
        self.job = job
        self.script = script
        self.task = None
        self.status = None
        self.line = None

    async def start(self, argv, env, names, line):
        del argv, env, names
        self.line = line
        self.status = None
        self.task = asyncio.ensure_future(self.live(line))

    def value(self, step):
        script = self.script
        rng = random.Random("%s %d" % (
            sorted(self.job.asked.get("HyperParameters", {}).items()), step))
        level = random.Random(str(
            sorted(self.job.asked.get("HyperParameters", {}).items())))
        floor = script.get("floor", 0.1) + \
            level.random() * script.get("spread", 0.0)
        return floor + (script.get("start", 1.0) - floor) * \
            math.exp(-script.get("rate", 0.2) * step) + \
            rng.gauss(0.0, 1.0) * script.get("noise", 0.0)

    async def live(self, line):
        script = self.script
        step = self.resume()
        main = self.name == "algo-1"
        while step < script.get("steps", 20):
            await asyncio.sleep(script.get("seconds", 1.0))
            step += 1
            if main:
                for text in script.get("line", "step=%STEP% "
                                       "loss=%VALUE%").split("\n"):
                    line(text.replace("%STEP%", str(step)).replace(
                        "%VALUE%", "%.6g" % self.value(step)))
            self.keep(step)
        return script.get("exit", 0)

    def place(self):
        return os.path.join(self.tree, "checkpoints", self.name + ".step")

    def resume(self):
        try:
            with open(self.place(), encoding="ascii") as file:
                return int(file.read())
        except (OSError, ValueError):
            return 0

    def keep(self, step):
        if not self.script.get("checkpoint", True) or \
                "CheckpointConfig" not in self.job.asked:
            return
        with open(self.place() + ".part", "w", encoding="ascii") as file:
            file.write(str(step))
        os.replace(self.place() + ".part", self.place())

    async def wait(self):
        try:
            self.status = await self.task
        except asyncio.CancelledError:
            if asyncio.current_task().cancelling():
                raise
            self.status = self.status or 137
        if self.status != 137 and "/opt/ml/input/data/hpotune/run.sh" in \
                self.job.asked["AlgorithmSpecification"].get(
                    "ContainerArguments", []):
            self.line("hpotune-end: status %d" % self.status)
        return self.status

    def terminate(self):
        asyncio.get_running_loop().call_later(
            self.script.get("term", 0.1), self.end, 143)

    def end(self, status):
        if self.alive():
            self.status = status
            self.task.cancel()

    def kill(self):
        self.end(137)

    def alive(self):
        return self.task is not None and not self.task.done()
