"""STS, and the services from which a machine or container gets its credentials.

keys.py creates the sessions."""

import json
import os
import re
import time
from xml.sax.saxutils import escape

from front import form
from wire import Response
from world import Failure

NAMESPACE = "https://sts.amazonaws.com/doc/2011-06-15/"
ROLE = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:role/[\w+=,.@/-]+")
NAME = re.compile(r"[\w+=,.@-]{2,64}")


def stamp(at):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))


class STS:
    def __init__(self, world):
        self.world = world
        self.actions = {"GetCallerIdentity": self.identity,
                        "AssumeRole": self.assume}

    def route(self, call):
        fields = form(call.request)
        call.operation = fields.get("Action")
        act = self.actions.get(call.operation)
        if act is None or fields.get("Version") != "2011-06-15":
            raise Failure("InvalidAction", "Could not find operation %s for "
                          "version %s" % (call.operation,
                                          fields.get("Version")))
        return lambda: act(fields, call)

    def identity(self, fields, call):
        del fields
        own = call.claim.key in self.world.keys.own
        arn = "arn:aws:iam::%s:user/standin" % self.world.account if own else \
            "arn:aws:sts::%s:assumed-role/standin/session" \
            % self.world.account
        return answer("GetCallerIdentity", call,
                      "<Arn>%s</Arn><UserId>AIDASTANDIN</UserId>"
                      "<Account>%s</Account>" % (arn, self.world.account))

    def assume(self, fields, call):
        return answer("AssumeRole", call, self.session(fields))

    def assume_web(self, fields, call):
        """Unsigned: the token is the proof; any text is one."""
        if not fields.get("WebIdentityToken"):
            raise Failure("InvalidIdentityToken", "No token was given")
        return answer("AssumeRoleWithWebIdentity", call, self.session(fields))

    def session(self, fields):
        role = fields.get("RoleArn", "")
        name = fields.get("RoleSessionName", "")
        seconds = fields.get("DurationSeconds", "3600")
        if not ROLE.fullmatch(role):
            raise Failure("ValidationError", "%s is invalid" % role)
        if not NAME.fullmatch(name):
            raise Failure("ValidationError", "RoleSessionName is invalid")
        if not seconds.isdigit() or not 900 <= int(seconds) <= 43200:
            raise Failure("ValidationError", "DurationSeconds is invalid")
        life = self.world.options.session_life or int(seconds)
        key, secret, token, end = self.world.keys.session(
            role.rpartition("/")[2], life)
        return "<Credentials><AccessKeyId>%s</AccessKeyId><SecretAccessKey>" \
            "%s</SecretAccessKey><SessionToken>%s</SessionToken>" \
            "<Expiration>%s</Expiration></Credentials><AssumedRoleUser>" \
            "<AssumedRoleId>AROASTANDIN:%s</AssumedRoleId><Arn>%s</Arn>" \
            "</AssumedRoleUser>" % (key, secret, escape(token), stamp(end),
                                    escape(name), escape(role))

    def error(self, call, error):
        body = '<ErrorResponse xmlns="%s"><Error><Type>Sender</Type>' \
            "<Code>%s</Code><Message>%s</Message></Error><RequestId>%s" \
            "</RequestId></ErrorResponse>" % (
                NAMESPACE, escape(CODES.get(error.code, error.code)),
                escape(error.text), call.id)
        status = getattr(error, "status", 403)
        return Response(status, body.encode(), {"Content-Type": "text/xml"})


CODES = {"UnrecognizedClientException": "InvalidClientTokenId",
         "ExpiredTokenException": "ExpiredToken",
         "MissingAuthenticationTokenException": "MissingAuthenticationToken"}


def answer(action, call, inside):
    return Response(200, (
        '<%sResponse xmlns="%s"><%sResult>%s</%sResult><ResponseMetadata>'
        "<RequestId>%s</RequestId></ResponseMetadata></%sResponse>"
        % (action, NAMESPACE, action, inside, action, call.id,
           action)).encode(), {"Content-Type": "text/xml"})


class OpenDoors:
    """What is asked without a signature: IMDSv2, container, web identity."""

    def __init__(self, world, sts, control):
        self.world = world
        self.sts = sts
        self.control = control
        self.tokens = {}

    def route(self, call):
        """A function for a request without signature, None when it needs
        one."""
        request = call.request
        if request.path.startswith("/latest/"):
            call.service = "imds"
            call.operation = request.path
            return lambda: self.imds(request)
        if request.path.startswith("/v2/credentials"):
            call.service = "container"
            call.operation = request.path
            return lambda: self.container(request)
        if request.path.startswith("/standin/"):
            call.service = "standin"
            call.operation = request.path.split("/")[2]
            return lambda: self.control.act(request)
        if request.method == "POST" and request.path == "/" and \
                b"AssumeRoleWithWebIdentity" in request.body:
            fields = form(request)
            if fields.get("Action") == "AssumeRoleWithWebIdentity":
                call.service = "sts"
                call.operation = fields["Action"]
                return lambda: self.sts.assume_web(fields, call)
        return None

    def imds(self, request):
        if request.path == "/latest/api/token":
            life = request.headers.get("x-aws-ec2-metadata-token-ttl-seconds",
                                       "")
            if request.method != "PUT" or not life.isdigit() or \
                    not 1 <= int(life) <= 21600:
                return Response(400)
            token = os.urandom(16).hex()
            self.tokens[token] = time.time() + int(life)
            return Response(200, token.encode(), {
                "x-aws-ec2-metadata-token-ttl-seconds": life})
        if self.tokens.get(request.headers.get("x-aws-ec2-metadata-token"),
                           0) < time.time():
            return Response(401)
        base = "/latest/meta-data/iam/security-credentials/"
        if request.path == "/latest/meta-data/placement/region":
            return Response(200, (self.world.region or "us-east-1").encode())
        if request.path in (base, base[:-1]):
            return Response(200, b"standin-role")
        if request.path == base + "standin-role":
            return self.credentials("standin-role",
                                    {"Code": "Success", "Type": "AWS-HMAC",
                                     "LastUpdated": stamp(time.time())})
        return Response(404)

    def container(self, request):
        wanted = self.world.options.container_token
        if wanted and request.headers.get("authorization") != wanted:
            return Response(401, b'{"code":"AccessDenied"}')
        return self.credentials("container-role", {"RoleArn": "arn:aws:iam::"
                                "%s:role/container" % self.world.account})

    def credentials(self, role, more):
        key, secret, token, end = self.world.keys.session(
            role, self.world.options.session_life or 3600)
        return Response(200, json.dumps(dict(
            more, AccessKeyId=key, SecretAccessKey=secret, Token=token,
            Expiration=stamp(end))).encode(),
            {"Content-Type": "application/json"})
