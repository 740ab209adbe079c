"""Chromium over the pipe of its DevTools protocol; for browser.py and bench."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


class Browser:
    def __init__(self, program="chromium"):
        self.folder = tempfile.mkdtemp(prefix="hpotune-chromium.")
        to_read, self.to = os.pipe()
        self.of, of_write = os.pipe()

        def pipes():  # commands are its descriptor 3, answers its 4
            r, w = os.dup(to_read), os.dup(of_write)
            os.dup2(r, 3)
            os.dup2(w, 4)

        self.log = open(os.path.join(self.folder, "log"), "wb")
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--no-first-run", "--disable-sync",
             "--disable-background-networking", "--hide-scrollbars",
             "--disable-component-update", "--remote-debugging-pipe",
             "--user-data-dir=" + self.folder, "about:blank"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
            close_fds=False, preexec_fn=pipes)
        os.close(to_read)
        os.close(of_write)
        self.buffer, self.number, self.session = b"", 0, None
        self.events = []
        target = self("Target.createTarget", url="about:blank")["targetId"]
        self.session = self("Target.attachToTarget", targetId=target,
                            flatten=True)["sessionId"]
        for domain in "Page", "Runtime", "Log", "Network":
            self(domain + ".enable")
        self("Page.setLifecycleEventsEnabled", enabled=True)

    def receive(self, seconds):
        until = time.monotonic() + seconds
        while b"\0" not in self.buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.of], [], [], left)[0]:
                raise TimeoutError("Chromium does not answer")
            piece = os.read(self.of, 1 << 20)
            if not piece:
                raise EOFError("Chromium has ended")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def __call__(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        while True:
            got = self.receive(300)
            if got.get("id") == self.number:
                if "error" in got:
                    raise RuntimeError(f"{method}: {got['error']}")
                return got["result"]
            self.events.append(got)

    def js(self, expression):
        got = self("Runtime.evaluate", expression=expression,
                   awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in got:
            raise RuntimeError(f"{expression}: {got['exceptionDetails']}")
        return got["result"].get("value")

    def until(self, expression, seconds=300):
        """Its value as soon as it is true on a page that has been loaded, or
        its last one."""
        loaded = f"document.readyState === 'complete' && ({expression})"
        end = time.monotonic() + seconds
        while True:
            try:
                value = self.js(loaded)
            except RuntimeError as wrong:  # between two pages
                if "navigated" not in str(wrong) and "null" not in str(wrong):
                    raise
                value = None
            if value or time.monotonic() > end:
                return value
            time.sleep(0.03)

    def go(self, address):
        loader = self("Page.navigate", url=address).get("loaderId")
        # Not the page before, which answers until this one comes.
        while loader and not any(
                e.get("method") == "Page.lifecycleEvent" and
                e["params"]["name"] == "load" and
                e["params"]["loaderId"] == loader for e in self.events):
            self.events.append(self.receive(300))
        self.until("true")

    def size(self, width, height, dark=False, mobile=False):
        self("Emulation.setDeviceMetricsOverride", width=width, height=height,
             deviceScaleFactor=1, mobile=mobile)
        self("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme",
             "value": "dark" if dark else "light"}])

    def mouse(self, kind, x, y, **more):
        self("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y, **more):
        self.mouse("mouseMoved", x, y)
        for kind in "mousePressed", "mouseReleased":
            self.mouse(kind, x, y, button="left", clickCount=1, **more)

    def drag(self, x, y0, y1):
        self.pull(x, y0, x, y1)

    def pull(self, x0, y0, x1, y1):
        """Drag from one place to another one."""
        self.mouse("mouseMoved", x0, y0)
        self.mouse("mousePressed", x0, y0, button="left", clickCount=1)
        for i in range(1, 6):
            self.mouse("mouseMoved", x0 + (x1 - x0) * i / 5,
                       y0 + (y1 - y0) * i / 5, button="left", buttons=1)
        self.mouse("mouseReleased", x1, y1, button="left", clickCount=1)

    def type(self, text):
        self("Input.insertText", text=text)

    def key(self, key, code=0):
        for kind in "keyDown", "keyUp":
            self("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                 windowsVirtualKeyCode=code,
                 **({"text": "\r"} if key == "Enter" and kind == "keyDown"
                    else {}))

    def shot(self, path):
        size = self("Page.getLayoutMetrics")["cssContentSize"]
        got = self("Page.captureScreenshot", captureBeyondViewport=True, clip={
            "x": 0, "y": 0, "width": size["width"],
            "height": min(size["height"], 6000), "scale": 1})
        with open(path, "wb") as f:
            f.write(base64.b64decode(got["data"]))

    def complaints(self):
        """What the console has shown, and exceptions."""
        wrong = []
        for e in self.events:
            if e.get("method") == "Log.entryAdded":
                entry = e["params"]["entry"]
                if entry["level"] in ("error", "warning"):
                    wrong.append(f"{entry['text']} {entry.get('url', '')}")
            elif e.get("method") == "Runtime.exceptionThrown":
                wrong.append(json.dumps(e["params"]["exceptionDetails"])[:400])
        return wrong

    def close(self):
        os.close(self.to)
        os.close(self.of)
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)
