"""Signature version 4, the server's side, from AWS's published description.

Shares no code with any client, so that both can be checked against each other."""

import calendar
import functools
import hashlib
import hmac
import re
import time
from urllib.parse import quote, unquote

ALGORITHM = "AWS4-HMAC-SHA256"
AUTHORIZATION = re.compile(
    ALGORITHM + r" +Credential=([^, ]+), *SignedHeaders=([^, ]+), *"
    r"Signature=([0-9a-f]{64}) *$")


class Refused(Exception):
    """Why a request is not accepted: an AWS error code and its text."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code
        self.text = text


class Claim:
    """What the Authorization header says; nothing of it is proved yet."""

    __slots__ = ("key", "day", "region", "service", "names", "signature")

    def __init__(self, header):
        match = AUTHORIZATION.match(header)
        scope = match.group(1).split("/") if match else []
        if len(scope) != 5 or scope[4] != "aws4_request":
            raise Refused("IncompleteSignatureException",
                          "Authorization header is not a version 4 signature")
        self.key, self.day, self.region, self.service = scope[:4]
        self.names = match.group(2).split(";")
        self.signature = match.group(3)


@functools.lru_cache(maxsize=256)
def signing_key(secret, day, region, service):
    key = ("AWS4" + secret).encode()
    for part in (day, region, service, "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key


def canonical_path(path, service):
    """S3 keeps a path as it is, others normalise and encode once more."""
    if service == "s3":
        return quote(unquote(path), safe="/-_.~") or "/"
    kept = []
    for part in path.split("/"):
        if part == "..":
            kept = kept[:-1]
        elif part not in ("", "."):
            kept.append(part)
    tail = "/" if kept and path.endswith("/") else ""
    return quote("/" + "/".join(kept) + tail, safe="/-_.~")


def canonical_query(query):
    pairs = []
    for part in query.split("&"):
        if part:
            name, _, value = part.partition("=")
            pairs.append((quote(unquote(name), safe="-_.~"),
                          quote(unquote(value), safe="-_.~")))
    return "&".join("%s=%s" % pair for pair in sorted(pairs))


def header_value(headers, name):
    if name not in headers:
        raise Refused("IncompleteSignatureException",
                      "'%s' is named in SignedHeaders and was not sent" % name)
    return " ".join(headers[name].split())


def check_names(claim, headers):
    """The headers that must be signed are, in the right order."""
    names = claim.names
    if names != sorted(names) or "host" not in names:
        raise Refused("IncompleteSignatureException",
                      "SignedHeaders is not sorted or lacks host")
    loose = [name for name in headers
             if name.startswith("x-amz-") and name not in names]
    if loose:
        raise Refused("AccessDenied" if claim.service == "s3"
                      else "InvalidSignatureException",
                      "There were headers present in the request which were "
                      "not signed: " + ", ".join(loose))


def payload_hash(claim, request):
    """The hash of the body that is part of the canonical request."""
    said = request.headers.get("x-amz-content-sha256")
    if claim.service == "s3":
        if said is None:
            raise Refused("InvalidRequest", "Missing required header for this "
                          "request: x-amz-content-sha256")
        if said == "UNSIGNED-PAYLOAD" or said.startswith("STREAMING-"):
            return said
    real = hashlib.sha256(request.body).hexdigest()
    if said not in (None, real):
        raise Refused("XAmzContentSHA256Mismatch", "The provided "
                      "'x-amz-content-sha256' header does not match what was "
                      "computed.")
    return real


def signature(claim, request, secret):
    """The signature that this request should have, and what was signed."""
    headers = request.headers
    canonical = "\n".join(
        [request.method, canonical_path(request.path, claim.service),
         canonical_query(request.query)]
        + ["%s:%s" % (name, header_value(headers, name))
           for name in claim.names]
        + ["", ";".join(claim.names), payload_hash(claim, request)])
    text = "\n".join(
        [ALGORITHM, headers["x-amz-date"],
         "/".join((claim.day, claim.region, claim.service, "aws4_request")),
         hashlib.sha256(canonical.encode("latin-1")).hexdigest()])
    key = signing_key(secret, claim.day, claim.region, claim.service)
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest(), canonical


def amz_time(at):
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(at))


def check_date(claim, headers, now):
    """The date is in the window: 5 minutes, 15 for S3 and STS."""
    sent = headers.get("x-amz-date", "")
    try:
        then = calendar.timegm(time.strptime(sent, "%Y%m%dT%H%M%SZ"))
    except ValueError:
        raise Refused("IncompleteSignatureException",
                      "Authorization header requires existence of either a "
                      "'X-Amz-Date' or a 'Date' header.") from None
    if not sent.startswith(claim.day):
        raise Refused("InvalidSignatureException",
                      "Credential scope's date is not the request's")
    minutes = 15 if claim.service in ("s3", "sts") else 5
    if abs(then - now) <= minutes * 60:
        return
    if claim.service == "s3":
        raise Refused("RequestTimeTooSkewed", "The difference between the "
                      "request time and the current time is too large.")
    code = "SignatureDoesNotMatch" if claim.service == "sts" \
        else "InvalidSignatureException"
    if then < now:
        raise Refused(code, "Signature expired: %s is now earlier than %s "
                      "(%s - %d min.)" % (sent, amz_time(now - minutes * 60),
                                          amz_time(now), minutes))
    raise Refused(code, "Signature not yet current: %s is still later than %s "
                  "(%s + %d min.)" % (sent, amz_time(now + minutes * 60),
                                      amz_time(now), minutes))


def verify(request, secret_of, now):
    """The proved claim of a request, or Refused.

    secret_of(key, token) gives the secret, or raises Refused."""
    header = request.headers.get("authorization")
    if header is None:
        raise Refused("MissingAuthenticationTokenException",
                      "Missing Authentication Token")
    claim = Claim(header)
    secret = secret_of(claim.key, request.headers.get("x-amz-security-token"))
    check_names(claim, request.headers)
    check_date(claim, request.headers, now)
    want, canonical = signature(claim, request, secret)
    if not hmac.compare_digest(want, claim.signature):
        raise Refused("SignatureDoesNotMatch" if claim.service in
                      ("s3", "sts") else "InvalidSignatureException",
                      "The request signature we calculated does not match the "
                      "signature you provided. Check your AWS Secret Access "
                      "Key and signing method. The canonical request should "
                      "have been '%s'" % canonical)
    return claim
