"""HTTP/1.1 on asyncio, as far as AWS clients need it.

Requests of one connection are answered in turn."""

import asyncio
from urllib.parse import unquote

REASONS = {200: "OK", 204: "No Content", 206: "Partial Content",
           301: "Moved Permanently", 304: "Not Modified",
           400: "Bad Request", 401: "Unauthorized", 403: "Forbidden",
           404: "Not Found", 405: "Method Not Allowed", 409: "Conflict",
           411: "Length Required", 412: "Precondition Failed",
           413: "Content Too Large", 416: "Range Not Satisfiable",
           429: "Too Many Requests", 500: "Internal Server Error",
           501: "Not Implemented", 503: "Service Unavailable"}
HEAD_MAX = 64 << 10
BODY_MAX = 256 << 20


class Request:
    """One request: names of headers are in lower case."""

    __slots__ = ("method", "target", "path", "query", "headers", "body",
                 "close")

    def __init__(self, method, target, headers):
        self.method = method
        self.target = target
        self.path, _, self.query = target.partition("?")
        self.headers = headers
        self.body = b""
        self.close = False

    def param(self, name, otherwise=None):
        """A parameter of the query, decoded."""
        for part in self.query.split("&"):
            key, _, value = part.partition("=")
            if unquote(key) == name:
                return unquote(value.replace("+", " "))
        return otherwise

    def has(self, name):
        return any(part.partition("=")[0] == name
                   for part in self.query.split("&"))


class Response:
    """One answer; drop means: close the connection, saying nothing."""

    __slots__ = ("code", "headers", "body", "drop", "error", "verdict")

    def __init__(self, code=200, body=b"", headers=None):
        self.code = code
        self.body = body
        self.headers = headers or {}
        self.drop = False
        self.error = None
        self.verdict = "ok"


class BadHead(Exception):
    pass


def parse_head(data):
    """The request whose head (without its blank line) is data."""
    lines = data.decode("latin-1").split("\r\n")
    first = lines[0].split(" ")
    if len(first) != 3 or not first[2].startswith("HTTP/1."):
        raise BadHead("not a request line")
    headers = {}
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        if not colon or name != name.strip() or not name:
            raise BadHead("not a header line")
        name = name.lower()
        value = value.strip(" \t")
        headers[name] = headers[name] + "," + value if name in headers \
            else value
    request = Request(first[0], first[1], headers)
    connection = headers.get("connection", "").lower()
    request.close = connection == "close" or \
        (first[2] == "HTTP/1.0" and connection != "keep-alive")
    return request


def cut_chunks(data, start):
    """(body, end) of a chunked body that starts there, None when cut off."""
    body = bytearray()
    while True:
        end = data.find(b"\r\n", start)
        if end < 0:
            return None
        try:
            size = int(bytes(data[start:end]).split(b";")[0], 16)
        except ValueError as error:
            raise BadHead("not a chunk") from error
        start = end + 2
        if len(data) < start + size + 2:
            return None
        if size == 0:
            return bytes(body), start + 2
        body += data[start:start + size]
        start += size + 2


class Connection(asyncio.Protocol):
    """One client; app(request) gives an answer, or an awaitable of one."""

    def __init__(self, app, connections):
        self.app = app
        self.connections = connections
        self.data = bytearray()
        self.request = None
        self.length = 0
        self.busy = None
        self.transport = None

    def connection_made(self, transport):
        self.transport = transport
        self.connections.add(self)

    def connection_lost(self, error):
        self.connections.discard(self)
        if self.busy is not None:
            self.busy.cancel()

    def data_received(self, data):
        self.data += data
        if self.busy is None:
            self.advance()

    def advance(self):
        """Answers what has arrived whole."""
        try:
            while self.busy is None and self.step():
                pass
        except BadHead as error:
            self.transport.write(b"HTTP/1.1 400 Bad Request\r\n"
                                 b"Content-Length: 0\r\n"
                                 b"Connection: close\r\n\r\n")
            self.transport.close()
            self.data.clear()
            del error

    def step(self):
        if self.request is None and not self.take_head():
            return False
        request = self.request
        if self.length is None:
            cut = cut_chunks(self.data, 0)
            if cut is None:
                return False
            request.body, end = cut
            del self.data[:end]
        else:
            if len(self.data) < self.length:
                return False
            request.body = bytes(self.data[:self.length])
            del self.data[:self.length]
        self.request = None
        answer = self.app(request)
        if isinstance(answer, Response):
            self.answer(request, answer)
        else:
            self.busy = asyncio.ensure_future(answer)
            self.busy.add_done_callback(
                lambda task: self.answered(request, task))
        return True

    def take_head(self):
        end = self.data.find(b"\r\n\r\n")
        if end < 0:
            if len(self.data) > HEAD_MAX:
                raise BadHead("the head is too long")
            return False
        request = parse_head(bytes(self.data[:end]))
        del self.data[:end + 4]
        headers = request.headers
        if headers.get("transfer-encoding", "").lower() == "chunked":
            self.length = None
        else:
            length = headers.get("content-length", "0")
            if not length.isdigit() or int(length) > BODY_MAX:
                raise BadHead("not a length")
            self.length = int(length)
        if headers.get("expect", "").lower() == "100-continue":
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        self.request = request
        return True

    def answered(self, request, task):
        self.busy = None
        if task.cancelled():
            return
        error = task.exception()
        if error is not None:
            self.transport.close()
            raise error
        self.answer(request, task.result())
        self.advance()

    def answer(self, request, response):
        if response.drop or self.transport.is_closing():
            self.transport.abort()
            return
        body = response.body
        head = ["HTTP/1.1 %d %s" % (response.code,
                                    REASONS.get(response.code, "Unknown"))]
        head += ["%s: %s" % item for item in response.headers.items()]
        if "Content-Length" not in response.headers:
            head.append("Content-Length: %d" % len(body))
        if request.close:
            head.append("Connection: close")
        data = ("\r\n".join(head) + "\r\n\r\n").encode("latin-1")
        self.transport.write(data if request.method == "HEAD"
                             else data + body)
        if request.close:
            self.transport.close()
