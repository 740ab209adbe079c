"""What a request over hpotune mcp takes beside a busy server, in milliseconds.

door.py [-n REQUESTS] PROGRAM...: the server is that of the first program; then a
door of each program gets the same requests, by turns.  Prints the median and the
90th of 100 for each.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"}}
STUDY = {
    "study": "door", "objective": {"metric": "loss", "goal": "minimize"},
    "parameters": {"x": {"type": "float", "min": 0, "max": 1},
                   "lr": {"type": "float", "min": 1e-5, "max": 1,
                          "scale": "log"},
                   "kind": {"type": "choice", "values": ["a", "b"]}},
    "stopping": "median",
    "trial": {"command": ["python3", "trial.py", "{x}"]},
    "limits": {"trials": 100000, "parallel": 4}}
# A report each 10 ms, for a second.
TRIAL = """import sys, time
for step in range(1, 101):
    loss = abs(float(sys.argv[1]) - 0.3) + 1 / step
    print(f"hpotune: step={step} loss={loss}", flush=True)
    time.sleep(0.01)
"""
ASKED = [("ping", {}), ("status", {}), ("why", {"trial": 1}),
         ("log", {"trial": 1}), ("verdict", {}),
         ("sql", {"query": "SELECT trial, objective FROM best"}),
         ("enqueue", {"params": {"x": 0.25}}),
         ("ask", {}), ("tell", {"step": 1, "values": {"loss": 1}}),
         ("end", {"end": "stopped"})]


class Door:
    def __init__(self, program, study):
        self.process = subprocess.Popen(
            [program, "mcp", study], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE)
        self.trial = None  # of the last ask

    def ask(self, tool, arguments):
        if tool in ("tell", "end"):
            tool, arguments = "tell", {**arguments, "trial": self.trial}
        method, params = "tools/call", {"name": tool, "arguments": arguments}
        if tool == "ping":
            method, params = tool, {}
        line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method,
                           "params": {**params, "_meta": META}})
        begin = time.perf_counter()
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        took = time.perf_counter() - begin
        if answer["result"].get("isError"):
            raise SystemExit(f"{tool}: {answer}")
        if tool == "ask":
            text = answer["result"]["content"][0]["text"]
            self.trial = json.loads(text)["trial"]
        return took

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def measure(programs, n, folder):
    study = folder / "door.json"
    study.write_text(json.dumps(STUDY))
    (folder / "trial.py").write_text(TRIAL)
    server = subprocess.Popen([programs[0], "start", "--quiet", study],
                              cwd=folder)
    try:
        time.sleep(10)
        doors = [Door(program, study) for program in programs]
        took = {}
        for _ in range(n):
            for d, door in enumerate(doors):
                for tool, arguments in ASKED:
                    took.setdefault((tool, d), []).append(
                        door.ask(tool, arguments))
        for door in doors:
            door.close()
    finally:
        server.terminate()
        server.wait()
    for tool, _ in ASKED:
        print(tool.ljust(8), *(
            f"{statistics.median(t) * 1000:8.2f} "
            f"{sorted(t)[n * 9 // 10] * 1000:8.2f}"
            for t in (took[tool, d] for d in range(len(programs)))))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", type=int, default=100)
    parser.add_argument("programs", nargs="+")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        measure(asked.programs, asked.n, pathlib.Path(folder))


main()
