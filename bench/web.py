"""Measures for bench/web.sh: clients of hpotune web, and Chromium.

bytes ADDRESS PATH        ms to the first bytes and to the last one
paint ADDRESS PATH        ms to the first paint and until all charts are drawn
peer SITE PATH READY      the same of another program's page, which is drawn when
                          the expression READY is true
aim DATABASE              writes the trials of a study into the folder .aim
follow SOCKET PATH N      N followers of a study, as soon as it is there, until
                          it is ended
event ADDRESS PATH FILE   ms from a time in FILE to the change of the curves
clients SOCKET PATH PID N memory in MiB and % of a core with N followers
"""
import http.client
import json
import os
import re
import select
import signal
import socket
import sqlite3
import statistics
import sys
import time
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(__file__),
                                "../tests/scenario/web"))
from devtools import Browser  # noqa: E402


def connection(address):
    """To the host of an address, and what the path of each page begins with."""
    url = urllib.parse.urlsplit(address)
    return http.client.HTTPConnection(url.netloc), url.path.rstrip("/")


def bytes_of(address, path):
    c, base = connection(address)
    first, last = [], []
    for _ in range(9):
        began = time.monotonic()
        c.request("GET", base + path)
        answer = c.getresponse()
        answer.read(1024)
        first.append(time.monotonic() - began)
        answer.read()
        last.append(time.monotonic() - began)
    print(f"{1000 * statistics.median(first):.1f} "
          f"{1000 * statistics.median(last):.1f}")


def timed(b, url, ready):
    """ms from navigation to the first paint, and until ready is true."""
    paints, drawn = [], []
    for _ in range(5):
        b.go("about:blank")
        began = b.js("Date.now()")
        b("Page.navigate", url=url)
        b.until(ready, 120)
        drawn.append(b.js("Date.now()") - began)
        paints.append(b.until("performance.getEntriesByName("
                              "'first-contentful-paint')[0]?.startTime") or 0)
    print(f"{statistics.median(paints):.0f} {statistics.median(drawn):.0f}")


def paint(address, path):
    site = address.rstrip("/")
    b = Browser()
    try:
        b.size(1400, 900)
        b("Page.navigate", url=address)
        b.until("!!document.querySelector('#part-studies')")
        timed(b, site + path, "document.readyState === 'complete' && "
              "!!document.querySelector('#trials table')")
    finally:
        b.close()


def peer(site, path, ready):
    for _ in range(600):
        try:
            urllib.request.urlopen(site, timeout=60).read()
            break
        except OSError:
            time.sleep(0.1)
    b = Browser()
    try:
        b.size(1400, 900)
        timed(b, site + path, ready)
    finally:
        b.close()


def aim(database):
    from aim import Run  # not on each machine
    db = sqlite3.connect(database)
    for trial, params in db.execute("SELECT trial, params FROM trials"):
        run = Run(repo=".", log_system_params=False,
                  capture_terminal_logs=False)
        run["hparams"] = json.loads(params)
        for step, value in db.execute(
                "SELECT step, value FROM curves WHERE trial = ?", (trial,)):
            run.track(value, name="acc", step=step)
        run.close()


def event(address, path, times):
    site = address.rstrip("/")
    b = Browser()
    try:
        b.size(1400, 900)
        b("Page.navigate", url=address)
        b.until("!!document.querySelector('#part-studies')")
        b.go(site + path)
        b.until("document.querySelector('.live').textContent === 'live'")
        b.js("""window.seen = []; new MutationObserver(() =>
            requestAnimationFrame(() => seen.push(Date.now() / 1000))).observe(
            document.querySelector('#part-curves'), { childList: true });
            0""")
        began = time.time()
        b.until("seen.length >= 12", 60)
        seen = b.js("seen")
    finally:
        b.close()
    took = []
    for line in open(times):
        later = [t for t in seen if t >= float(line)]
        if float(line) > began and later:
            took.append(1000 * (later[0] - float(line)))
    print(f"{statistics.median(took):.0f}")


def follower(path, target):
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)
    s.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    return s


def follow(path, target, n):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    while True:
        s = follower(path, target)
        if b" 200 " in s.recv(64):
            break
        time.sleep(0.02)
    sockets = [s] + [follower(path, target) for _ in range(int(n) - 1)]
    while True:
        for s in select.select(sockets, [], [])[0]:
            s.recv(1 << 20)


def clients(path, target, pid, n):
    sockets = [follower(path, target) for _ in range(int(n))]

    def used():
        fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def read(seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for s in select.select(sockets, [], [], 0.1)[0]:
                s.recv(1 << 20)

    read(3)
    began, cpu = time.monotonic(), used()
    read(15)
    share = 100 * (used() - cpu) / (time.monotonic() - began)
    text = open(f"/proc/{pid}/status").read()
    memory = int(re.search(r"VmRSS:\s*(\d+)", text)[1]) / 1024
    print(f"{memory:.1f} {share:.1f}")


{"bytes": bytes_of, "paint": paint, "peer": peer, "aim": aim, "event": event,
 "follow": follow, "clients": clients}[sys.argv[1]](*sys.argv[2:])
