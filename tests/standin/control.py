"""Requests by which a test controls a running stand-in; AWS has no such thing."""

import json

import verify
from wire import Response


class Control:
    def __init__(self, world, training):
        self.world = world
        self.training = training

    def act(self, request):
        parts = request.path.split("/")[2:]
        if request.method == "POST" and parts[0] == "interrupt" and \
                len(parts) == 2:
            return self.interrupt(parts[1])
        if request.method == "PUT" and parts == ["faults"]:
            return self.faults(request.body)
        if request.method == "GET" and parts == ["ledger"]:
            return Response(200, json.dumps(verify.account(
                verify.read(self.world.folder),
                request.query or None), indent=1).encode() + b"\n")
        return Response(404)

    def interrupt(self, name):
        """409 when the job is not training."""
        job = self.training.jobs.get(name)
        if job is None or job.secondary != "Training":
            return Response(409)
        job.reclaim.set()
        return Response(204)

    def faults(self, body):
        try:
            self.world.faults.load(json.loads(body))
        except (ValueError, TypeError, AttributeError) as error:
            return Response(400, str(error).encode() + b"\n")
        return Response(204)
