"""What the callers of bench/search-loop share."""

import json
import os
import subprocess


class Program:
    """bench/search-loop, one line there and one back."""

    def __init__(self, path):
        self.child = subprocess.Popen([path], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, text=True)

    def say(self, **message):
        self.child.stdin.write(json.dumps(message) + "\n")
        self.child.stdin.flush()
        return self.child.stdout.readline().strip()

    def close(self):
        self.child.stdin.close()
        self.child.wait()


def strategy_of(tool):
    """The strategy block: tpe+n_ei_candidates=24 has one option."""
    name, *options = tool.split("+")
    block = {"name": name}
    for option in options:
        key, _, value = option.partition("=")
        try:
            block[key] = json.loads(value)
        except ValueError:
            block[key] = value
    return block


class Runs:
    """The runs made so far, kept in a file when there is one."""

    def __init__(self, path):
        self.path, self.known = path, {}
        if path and os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                for line in f:
                    *key, values = json.loads(line)
                    self.known[tuple(key)] = values

    def get(self, key, make):
        """The run of this key, a tuple: the known one, or that of make()."""
        if key not in self.known:
            self.known[key] = make()
            if self.path:
                with open(self.path, "a", encoding="utf-8") as f:
                    f.write(json.dumps([*key, self.known[key]]) + "\n")
        return self.known[key]
