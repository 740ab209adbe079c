#!/usr/bin/env python3
"""Clients of hpotune web, good and bad, for tests/scenario/web/web.t.

SITE is the path of a socket, HOST:PORT, or http://HOST:PORT/SECRET/ with the
first part of each path.

table SITE          requests, each a line of the standard input:
		    STATUS METHOD TARGET [NAME:VALUE ...] [=BODY]
                    a blank in a VALUE or BODY is ~; prints those answered by
                    another status, or without the headers of all answers
get SITE TARGET [NAME:VALUE ...]
post SITE TARGET BODY [NAME:VALUE ...]
                    prints the status; files head and body have the rest
beside SITE TARGET OTHER ...
                    asks for TARGET, then for the OTHERs one after another, which
                    must be answered by 200 before TARGET is; prints its status;
                    file body has the rest
lease FILE          holds a lease on a file, so that opening it waits; prints
                    "held" or why there is none
form SITE TARGET    the form token of a page
check FILE          what is wrong with a page: XML, one script, no styles
raw SITE            sends the standard input; prints the first line that comes
events SITE TARGET PATTERN
                    prints events until one matches, or for 100 seconds
many SITE PID KIND  300 bad clients of a KIND; prints what was not as it should
deaf SITE TARGET PID FILE
                    reads nothing of an answer until FILE is there; prints how
                    the process grew, in MiB
"""
import os
import re
import select
import socket
import sys
import time

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; "
    "style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def connect(site):
    if site.startswith("http://"):
        site = site.split("/")[2]
    if "/" in site:
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(300)
        s.connect(site)
        return s
    host, port = site.rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout=300)


class Answer:
    """What http.client has of one, which takes several times as long to load
    as all else that a client does."""

    def __init__(self, file):
        self.status = int(file.readline().split()[1])
        self.fields = []
        for line in iter(file.readline, b"\r\n"):
            name, value = line.decode("latin-1").split(":", 1)
            self.fields.append((name, value.strip()))

    def getheader(self, name):
        return ", ".join(v for n, v in self.fields
                         if n.lower() == name.lower()) or None

    def read(self, file):
        if (self.getheader("Transfer-Encoding") or "") != "chunked":
            return file.read(int(self.getheader("Content-Length") or -1))
        data = b""
        while n := int(file.readline(), 16):
            data += file.read(n)
            file.readline()
        return data


def ask(site, method, target, headers, body=None):
    if site.startswith("http://"):
        target = "/" + site.split("/")[3] + target
    s = connect(site)
    fields = {"Host": "localhost", **dict(h.split(":", 1) for h in headers)}
    if body is not None:
        fields["Content-Length"] = str(len(body))
    lines = [f"{n}: {v}\r\n" for n, v in fields.items() if v]
    s.sendall(f"{method} {target} HTTP/1.1\r\n{''.join(lines)}\r\n".encode(
        "latin-1") + (body or b""))
    file = s.makefile("rb")
    answer = Answer(file)
    empty = method == "HEAD" or answer.status in (204, 304)
    data = b"" if empty else answer.read(file)
    s.close()
    return answer, data


def ask_again(site, method, target, headers, body=None):
    """A reader that stands still for a second, which cuts a page that was begun,
    is one on a busy machine, unless it does so again and again."""
    for last in False, False, True:
        try:
            answer, data = ask(site, method, target, headers, body)
        except ValueError:  # a page without its end
            if last:
                raise
            continue
        if b"did not answer within" not in data:
            break
    return answer, data


def table(site):
    for line in sys.stdin:
        status, method, target, *rest = line.split()
        body = None
        if rest and rest[-1].startswith("="):
            body = rest.pop()[1:].replace("~", " ").encode()
        answer, data = ask_again(site, method, target,
                                 [h.replace("~", " ") for h in rest], body)
        if answer.status != int(status):
            print(f"{answer.status} {line}{data[:200]}")
        if answer.status in (400, 501) and not answer.getheader(
                "Cache-Control"):
            continue  # of the library: nothing of ours in it
        for name, value in HEADERS.items():
            if answer.getheader(name) != value:
                print(f"{name} {answer.getheader(name)}: {line}")
        if answer.getheader("Set-Cookie"):
            print(f"a cookie: {line}")


def save(answer, data):
    print(answer.status)
    open("head", "w").write(
        "".join(f"{n}: {v}\n" for n, v in answer.fields))
    open("body", "wb").write(data)


def beside(site, target, *others):
    slow = connect(site)
    slow.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n"
                 "\r\n".encode())
    for other in others:
        answer, _ = ask(site, "GET", other, [])
        if answer.status != 200:
            print(answer.status, other)
        if select.select([slow], [], [], 0)[0]:
            print("slower than", target, other)
    file = slow.makefile("rb")
    answer = Answer(file)
    save(answer, answer.read(file))


def lease(path):
    import fcntl
    import signal
    signal.signal(signal.SIGIO, signal.SIG_IGN)
    fd = os.open(path, os.O_RDWR)
    try:
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        print("held", flush=True)
    except OSError as why:
        print(why, flush=True)
    signal.pause()


def check(path):
    import xml.etree.ElementTree as ET
    text = open(path, encoding="utf-8", newline="").read()
    root = ET.fromstring(text)
    for e in root.iter():
        name = re.sub(r"\{.*\}", "", e.tag)
        if name == "script" and (not re.fullmatch(
                r"(\./|(\.\./)+)web\.js", e.get("src")) or e.text):
            print("a script", e.attrib)
        if name in ("style", "iframe", "img", "object", "base", "embed"):
            print("an element", name)
        for key, value in e.attrib.items():
            if key.startswith("on") or key == "style":
                print("an attribute", key)
            if key in ("href", "src", "action") and not re.match(
                    r"(\./|(\.\./)+)(?![./])|(\./|(\.\./)+)$|\?|#|data:,$", value):
                print("an address", value)


def first_line(s):
    data = b""
    while b"\n" not in data:
        piece = s.recv(4096)
        if not piece:
            break
        data += piece
    return data.split(b"\r\n")[0].decode("latin-1")


def raw(site):
    s = connect(site)
    s.sendall(sys.stdin.buffer.read())
    if "--half" in sys.argv:
        s.shutdown(socket.SHUT_WR)
    print(first_line(s))


def events(site, target, pattern):
    s = connect(site)
    s.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    until, data = time.monotonic() + 100, b""
    while time.monotonic() < until and not re.search(pattern.encode(), data):
        s.settimeout(max(0.01, until - time.monotonic()))
        try:
            piece = s.recv(65536)
        except socket.timeout:
            break
        if not piece:
            break
        data += piece
    print(data.decode("utf-8", "replace"))


def memory(pid):
    text = open(f"/proc/{pid}/status").read()
    return int(re.search(r"VmRSS:\s*(\d+)", text)[1]) / 1024


def good(site):
    began = time.monotonic()
    answer, _ = ask(site, "GET", "/web.css", ["Connection:close"])
    return answer.status, time.monotonic() - began


def send(s, data):
    try:
        s.send(data)
        return True
    except BlockingIOError:
        return True
    except OSError:
        return False


def many(site, pid, kind):
    """Silent: nothing is sent; slow: a byte now and then; endless: a header
    without end."""
    import threading
    begun = kind != "silent"
    before, began = memory(pid), time.monotonic()
    clients, poller = {}, select.poll()
    for _ in range(300):
        s = connect(site)
        s.setblocking(False)
        if begun:
            send(s, b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ")
        clients[s.fileno()] = s
        poller.register(s, select.POLLIN)

    def leave(fd):
        poller.unregister(fd)
        clients.pop(fd).close()

    got = []
    thread = threading.Thread(target=lambda: got.append(good(site)))
    thread.start()
    most = due = 0
    piece, pause = (b"x" * 1000, 0.2) if kind == "endless" else (b"x", 0.5)
    while clients and time.monotonic() < began + 90:
        most = max(most, len(os.listdir(f"/proc/{pid}/fd")))
        if begun and time.monotonic() >= due:
            due = time.monotonic() + pause
            for fd in [fd for fd, s in clients.items() if not send(s, piece)]:
                leave(fd)
        for fd, _ in poller.poll(pause * 1000):
            try:
                if clients[fd].recv(4096) != b"":
                    continue
            except BlockingIOError:
                continue
            except OSError:
                pass
            leave(fd)
    thread.join()
    if got[0][0] != 200 or got[0][1] > 20:
        print("a good client got", got)
    if clients:
        print(len(clients), "are connected after 90 seconds")
    if most > 450:
        print(most, "descriptors")
    if memory(pid) > before + 24:
        print("memory", before, memory(pid))


def deaf(site, target, pid, path):
    before = memory(pid)
    s = connect(site)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    most = before
    while not os.path.exists(path):
        most = max(most, memory(pid))
        time.sleep(0.05)
    print(int(most - before))


def main(what, site, *more):
    if what == "get":
        save(*ask_again(site, "GET", more[0], more[1:]))
    elif what == "post":
        save(*ask(site, "POST", more[0], more[2:], more[1].encode()))
    elif what == "form":
        _, data = ask_again(site, "GET", more[0], [])
        found = re.search(rb'data-form="([0-9a-f]+)"', data)
        print(found[1].decode() if found else "")
    elif what == "raw":
        raw(site)
    else:
        {"table": table, "check": check, "beside": beside, "lease": lease, "events": events, "many": many,
         "deaf": deaf}[what](site, *more)


main(*sys.argv[1:])
