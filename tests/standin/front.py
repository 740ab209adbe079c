"""The front end: finds the service and operation of a request, verifies its
signature, validates its input, calls the service, and records it.

Handles AWS's wire protocols."""

import asyncio
import json
import sys
import time
import traceback
from email.utils import formatdate
from urllib.parse import parse_qsl

import models
import sigv4
from wire import Response
from world import Failure, request_id

JSON_VERSION = {"sagemaker": "1.1", "logs": "1.1", "events": "1.1",
                "monitoring": "1.0", "sqs": "1.0"}
# Errors that the model of the service declares have "Message".
CAPITAL = ("ResourceInUse", "ResourceLimitExceeded", "ResourceNotFound")
INVALID = {"logs": "InvalidParameterException",
           "monitoring": "InvalidParameterValueException",
           "sqs": "com.amazon.coral.validate#ValidationException"}
THROTTLE = {"sqs": "RequestThrottled", "s3": "SlowDown", "sts": "Throttling",
            "sns": "Throttling"}
# Services of XML: each words its errors itself.
XML = ("s3", "sts", "sns")


class Call:
    """One request on its way: what a service is told beside its input."""

    __slots__ = ("request", "claim", "service", "operation", "id", "job",
                 "fault", "acted", "notes", "started", "over")

    def __init__(self, request):
        self.request = request
        self.claim = None
        self.service = None
        self.operation = None
        self.id = request_id()
        self.job = None
        self.fault = None
        self.acted = False
        self.notes = {}
        self.over = False
        self.started = time.monotonic()

    @property
    def name(self):
        return "%s.%s" % (self.service, self.operation)

    @property
    def region(self):
        return self.claim.region if self.claim else "us-east-1"


class Front:
    """services: name of the signing scope to an object with handlers.

    A JSON service has .operations, a dict of functions (input, call); S3, STS
    and SNS have .route(call), which gives a function or raises Failure."""

    def __init__(self, world, services, open_doors):
        self.world = world
        self.services = services
        self.open_doors = open_doors

    def __call__(self, request):
        call = Call(request)
        try:
            act = self.enter(call)
        except (Failure, sigv4.Refused) as error:
            return self.failed(call, error)
        if call.service == "standin":
            return self.run(call, act)
        call.over = self.world.journal.rate(call.name)
        if call.over and self.world.options.enforce_rates:
            call.fault = "rate"
            self.world.journal.fault("rate")
            return self.throttled(call)
        fault = self.world.faults.request(call.name)
        if fault is not None:
            call.fault = fault.kind
            return self.struck(call, act, fault)
        return self.run(call, act)

    def run(self, call, act):
        """Acts; gives an answer, or an awaitable of one."""
        try:
            result = act()
            if asyncio.iscoroutine(result):
                return self.wait(call, result)
            return self.done(call, result)
        except Exception as error:
            return self.trouble(call, error)

    async def wait(self, call, result):
        try:
            return self.done(call, await result)
        except Exception as error:
            return self.trouble(call, error)

    def trouble(self, call, error):
        if isinstance(error, Failure):
            return self.failed(call, error)
        if isinstance(error, models.Invalid):
            return self.invalid(call, error)
        # A defect of the stand-in: never to be taken for a fault of AWS.
        traceback.print_exception(error, file=sys.stderr)
        call.notes["defect"] = repr(error)
        return self.failed(call, broken("defect"))

    def struck(self, call, act, fault):
        kind = fault.kind
        if kind == "throttle":
            return self.throttled(call)
        if kind == "denied":
            return self.failed(call, denied(call))
        if kind in ("error500_before", "error503_before"):
            return self.failed(call, broken(kind))
        if kind == "drop_before":
            return self.dropped(call)
        if kind == "late_create":
            wait = self.world.faults.between(fault, 1.0)
            self.world.later(wait, self.act_late, call, act)
            return self.dropped(call)
        return self.strike_after(call, act, fault)

    async def strike_after(self, call, act, fault):
        if fault.kind == "twice":
            call.fault = None
            first = self.run(call, act)
            if not isinstance(first, Response):
                await first
            call.fault, call.acted, call.notes = fault.kind, False, {}
        answer = self.run(call, act)
        if not isinstance(answer, Response):
            answer = await answer
        if fault.kind == "error500_after":
            return self.shape(call, broken(fault.kind))
        if fault.kind == "drop_after":
            answer.drop = True
        elif fault.kind == "delay":
            await asyncio.sleep(self.world.faults.between(fault, 1.0))
        return answer

    def throttled(self, call):
        return self.failed(call, Failure(
            THROTTLE.get(call.service, "ThrottlingException"),
            "Rate exceeded", 503 if call.service == "s3" else 400))

    def act_late(self, call, act):
        """A request that was on its way when its client gave it up."""
        self.world.journal.write({"event": "late", "id": call.id})
        call.notes["late"] = True
        self.run(call, act)

    def dropped(self, call):
        response = Response()
        response.drop = True
        self.record(call, response, "dropped")
        return response

    # Who asks, and for what.

    def enter(self, call):
        """The function that does what is asked; call is filled in."""
        request = call.request
        if "authorization" not in request.headers or \
                request.path.startswith("/v2/credentials"):
            act = self.open_doors.route(call)
            if act is not None:
                return act
        claim = sigv4.verify(request, self.secret, self.world.now())
        call.claim = claim
        call.service = claim.service
        service = self.services.get(claim.service)
        if service is None:
            raise Failure("InvalidSignatureException", "Credential should be "
                          "scoped to a service of this stand-in, not '%s'"
                          % claim.service, 403)
        if self.world.region not in (None, claim.region):
            raise Failure("InvalidSignatureException", "Credential should be "
                          "scoped to a valid region, not '%s'"
                          % claim.region, 403)
        self.wear(claim)
        if claim.service in JSON_VERSION:
            return self.enter_json(call, service)
        return service.route(call)

    def secret(self, key, token):
        return self.world.keys.secret(key, token, time.time())

    def wear(self, claim):
        faults = self.world.faults
        if faults.wear and self.world.keys.wear(claim.key, faults.wear):
            self.world.journal.fault("expire_credentials")

    def enter_json(self, call, service):
        """A function that checks the input of a JSON operation, then acts."""
        request = call.request
        prefix, _, operation = \
            request.headers.get("x-amz-target", "").rpartition(".")
        model = models.load(call.service)
        if prefix != model.prefix or request.method != "POST" or \
                request.path != "/" or request.query:
            raise Failure("UnknownOperationException",
                          "no operation of %s" % call.service, 404)
        call.operation = operation
        act = service.operations.get(operation)
        if act is None:
            raise Failure("UnknownOperationException" if not
                          model.knows(operation) else "NotImplemented",
                          "the stand-in does not have " + operation, 404)
        version = JSON_VERSION[call.service]
        sent = request.headers.get("content-type", "").split(";")[0].strip()
        if sent != "application/x-amz-json-" + version:
            raise Failure("SerializationException", "Content-Type is '%s', "
                          "application/x-amz-json-%s was expected"
                          % (sent, version), 415)

        def checked():
            try:
                value = json.loads(request.body)
            except ValueError:
                raise Failure("SerializationException",
                              "the body is not JSON") from None
            model.check(operation, value)
            call.job = value.get("TrainingJobName")
            return act(value, call)
        return checked

    # Answers.

    def done(self, call, result):
        if isinstance(result, Response):
            response = result
        elif result is None:
            response = Response()
        else:
            if self.world.options.check_answers:
                self.check_answer(call, result)
            response = Response(200, json.dumps(
                result, separators=(",", ":")).encode())
        response.verdict = "ok"
        return self.finish(call, response)

    @staticmethod
    def check_answer(call, result):
        try:
            models.load(call.service).check_output(call.operation, result)
        except models.Invalid as error:
            raise RuntimeError("a wrong answer: %s" % error) from None

    def invalid(self, call, error):
        code = INVALID.get(call.service, "ValidationException")
        call.notes["invalid"] = True
        return self.failed(call, Failure(
            code, "1 validation error detected: %s" % error))

    def failed(self, call, error):
        if call.service is None and "authorization" in call.request.headers:
            try:
                call.claim = sigv4.Claim(call.request.headers["authorization"])
                call.service = call.claim.service
            except sigv4.Refused:
                pass
        if call.operation is None:
            call.operation = call.request.headers.get(
                "x-amz-target", "").rpartition(".")[2] or None
        return self.finish(call, self.shape(call, error))

    def shape(self, call, error):
        """An error as this service words it."""
        refused = isinstance(error, sigv4.Refused)
        if call.service in XML:
            response = self.services[call.service].error(call, error)
        else:
            key = "Message" if error.code in CAPITAL else "message"
            response = Response(
                400 if refused else error.status,
                json.dumps({"__type": error.code, key: error.text}).encode())
            if call.service == "sqs":
                response.headers["x-amzn-query-error"] = "%s;Sender" % \
                    getattr(error, "legacy", error.code)
        if response.code >= 500 and call.fault == "error500_after":
            self.stamp(call, response)
        if refused:
            response.verdict = "refused"
        elif call.notes.pop("invalid", False):
            response.verdict = "invalid"
        elif call.fault in ("throttle", "rate", "error500_before",
                            "error503_before"):
            response.verdict = "fault"
        else:
            response.verdict = "error"
        response.error = error.code
        retry = self.world.faults.retry_after
        if retry is not None and (response.code >= 500 or
                                  call.fault in ("throttle", "rate")):
            response.headers[self.world.faults.retry_header] = "%g" % retry
            self.world.journal.fault("retry_after")
        return response

    def stamp(self, call, response):
        headers = response.headers
        headers["Date"] = formatdate(self.world.now(), usegmt=True)
        if call.service in ("s3", "sts"):
            headers["x-amz-request-id"] = call.id
        else:
            headers["x-amzn-RequestId"] = call.id
        if call.service in JSON_VERSION and "Content-Type" not in headers:
            headers["Content-Type"] = "application/x-amz-json-" + \
                JSON_VERSION[call.service]

    def finish(self, call, response):
        self.stamp(call, response)
        self.record(call, response, response.verdict)
        return response

    def record(self, call, response, verdict):
        line = {"event": "request", "id": call.id, "service": call.service,
                "op": call.operation, "verdict": verdict,
                "code": 0 if response.drop else response.code}
        if call.job is not None:
            line["job"] = call.job
        if response.error is not None:
            line["error"] = response.error
        if call.fault is not None:
            line["fault"] = call.fault
        if call.acted:
            line["acted"] = True
        if call.over:
            line["over"] = True
        line["ms"] = round((time.monotonic() - call.started) * 1000, 2)
        line.update(call.notes)
        self.world.journal.write(line)


def broken(kind):
    if kind == "error503_before":
        return Failure("ServiceUnavailable", "The service is temporarily "
                       "unavailable.", 503)
    return Failure("InternalFailure", "The request processing has failed "
                   "because of an unknown error.", 500)


def denied(call):
    if call.service in XML:
        return Failure("AccessDenied", "Access Denied", 403)
    return Failure("AccessDeniedException", "User: arn:aws:iam::123456789012:"
                   "user/canary is not authorized to perform: %s:%s" % (
                       call.service, call.operation))


def form(request):
    """The pairs of a form body."""
    return dict(parse_qsl(request.body.decode("utf-8", "replace"),
                          keep_blank_values=True))
