#!/usr/bin/env python3
"""A stand-in for the parts of AWS that training jobs need, on this machine.

    standin.py --dir DIR [--port 0] [--seed N] [--faults SPEC.json] …
    standin.py verify DIR

It serves SageMaker training jobs, CloudWatch Logs, CloudWatch, EventBridge,
SQS, SNS, S3, STS and the credential services on one port of 127.0.0.1.  Jobs
run as processes of this machine.  It needs botocore, whose service models
validate the requests."""

import argparse
import asyncio
import gc
import importlib.util
import json
import os
import signal
import sys

sys.dont_write_bytecode = True
# The models are a million objects that stay: they are seldom looked through.
gc.set_threshold(200000, 50, 100)

import faults  # noqa: E402

if importlib.util.find_spec("botocore") is None:
    sys.exit("standin.py: botocore is missing: apt-get install "
             "python3-botocore, or pip install botocore")


CONTROL = """While it runs, without a signature (curl will do):
  POST /standin/interrupt/JOB   takes the machines of a training job away
  PUT  /standin/faults          the body is the specification from now on
  GET  /standin/ledger[?TAG]    what verify would print now
"""


def quota(text):
    name, equals, number = text.rpartition("=")
    if not equals or not number.isdigit():
        raise argparse.ArgumentTypeError("TYPE=N or spot:TYPE=N")
    return name, int(number)


def starved(text):
    name, _, market = text.partition("=")
    if market not in ("", "spot", "on-demand", "both"):
        raise argparse.ArgumentTypeError("TYPE[=spot|on-demand|both]")
    return name, market or "both"


def read_options(argv):
    parser = argparse.ArgumentParser(
        prog="standin.py", description="A stand-in AWS on this machine.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="standin.py verify DIR [TAG] prints what a run's journal "
        "proves.\n\ncontrol:\n" + CONTROL + "\nfaults:\n"
        + faults.__doc__)
    add = parser.add_argument
    add("--dir", required=True, help="where everything is kept")
    add("--port", type=int, default=0, help="0: any (DIR/endpoint says it)")
    add("--seed", type=int, default=1, help="of every chance")
    add("--faults", metavar="SPEC.json",
        help="what goes wrong: a file, or its text")
    add("--speed", type=float, default=20.0,
        help="how much faster than AWS the platform is (20)")
    add("--run-speed", type=float, default=1.0,
        help="seconds of training that a second counts as (1)")
    add("--region", help="the only region (any)")
    add("--account", default="123456789012")
    add("--access-key", default="standin")
    add("--secret-key", default="standin-secret")
    add("--session-life", type=int, metavar="SECONDS",
        help="how long sessions last")
    add("--container-token", help="what container credentials ask for")
    add("--bucket", action="append", help="a bucket that exists (standin)")
    add("--topic", action="append", default=[], help="a topic of SNS that "
        "exists; its name may end with .fifo")
    add("--bus", action="append", default=[], help="an event bus beside "
        "default")
    add("--kms-key", metavar="KEY", help="objects must be put encrypted "
        "with this key, as the policy of a bucket may demand")
    add("--quota", action="append", type=quota, default=[],
        metavar="[spot:]TYPE=N", help="instances of a type at once")
    add("--no-capacity", action="append", type=starved, default=[],
        metavar="TYPE[=spot|on-demand]", help="a type that cannot be had")
    add("--gpu-utilization", type=float, metavar="PERCENT", help="what each "
        "machine of a job says of its GPUs while it prints")
    add("--virtual", metavar="SCRIPT", help="run no processes, print what "
        "this script (a JSON object) says")
    add("--image-command", metavar="COMMAND", help="what an image starts, "
        "when a job has no ContainerEntrypoint")
    add("--keep", action="append", default=[], metavar="FOLDER",
        help="a folder of /tmp that jobs see too")
    add("--no-rooms", action="store_true", help="no namespaces: jobs find "
        "their tree through SAGEMAKER_BASE_DIR")
    add("--enforce-rates", action="store_true", help="throttle what is above "
        "the published request rates, times the speed")
    add("--check-answers", action="store_true",
        help="judge the stand-in's own answers by the models too")
    options = parser.parse_args(argv)
    options.bucket = options.bucket or ["standin"]
    options.quotas = dict(options.quota)
    options.no_capacity = dict(options.no_capacity)
    options.virtual = read_json(options.virtual)
    options.image_command = (options.image_command or "").split()
    if options.speed <= 0 or options.run_speed <= 0:
        parser.error("a speed is more than 0")
    return options


def read_json(said):
    """The object in a file, or in the text itself."""
    if said is None:
        return None
    if not said.lstrip().startswith("{"):
        with open(said, encoding="utf-8") as file:
            said = file.read()
    return json.loads(said)


def build(options):
    """The services of one run, joined."""
    from cloudwatch import CloudWatch
    from control import Control
    from events import Events
    from front import Front
    from hosts import find_room, kept_places
    from logs import Logs
    from s3 import S3
    from sagemaker import SageMaker
    from sns import SNS
    from sqs import SQS
    from sts import STS, OpenDoors
    from world import World

    try:
        world = World(options, read_json(options.faults) or {})
    except ValueError as error:
        sys.exit("standin.py: %s" % error)
    options.keep = kept_places() + [os.path.realpath(one)
                                    for one in options.keep]
    room = None if options.no_rooms else find_room(world.folder)
    store, logs, metrics = S3(world), Logs(world), CloudWatch(world)
    queues = SQS(world)
    events = Events(world, queues)
    training = SageMaker(world, store, logs, metrics, room)
    training.changed = events.job_changed
    sts = STS(world)
    services = {"sagemaker": training, "logs": logs, "monitoring": metrics,
                "s3": store, "sts": sts, "events": events, "sqs": queues,
                "sns": SNS(world)}
    return world, training, room, Front(world, services,
                                        OpenDoors(world, sts, Control(
                                            world, training)))


async def serve(options):
    from wire import Connection

    world, training, room, front = build(options)
    loop = asyncio.get_running_loop()
    over = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, over.set)
    connections = set()
    server = await loop.create_server(
        lambda: Connection(front, connections), "127.0.0.1", options.port,
        backlog=1024)
    world.endpoint = "http://127.0.0.1:%d" % \
        server.sockets[0].getsockname()[1]
    path = os.path.join(world.folder, "endpoint")
    with open(path + ".tmp", "w", encoding="ascii") as file:
        file.write(world.endpoint + "\n")
    os.replace(path + ".tmp", path)
    print("listening on " + world.endpoint, flush=True)
    print("jobs run " + ("in namespaces of their own" if room else
                         "without namespaces, with SAGEMAKER_BASE_DIR"),
          file=sys.stderr, flush=True)
    while not over.is_set():
        try:
            await asyncio.wait_for(over.wait(), 0.5)
        except asyncio.TimeoutError:
            pass
        world.journal.flush()
    server.close()
    await training.close()
    for one in list(connections):
        one.transport.abort()
    world.journal.close()


def main(argv):
    if argv[:1] == ["verify"]:
        import verify
        return verify.main(argv[1:])
    options = read_options(argv)
    os.makedirs(options.dir, exist_ok=True)
    asyncio.run(serve(options))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
