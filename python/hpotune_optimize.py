"""hpotune.optimize: a Python function as the program of a study.

    def train(params, trial):
        for epoch in range(20):
            ...
            if trial.report(epoch, loss=loss) == "stop":
                break
        return loss

    study = hpotune.optimize(train, {"lr": (1e-5, 0.1, "log"), "opt": ["sgd", "adam"]},
                             trials=100, parallel=4, study="mnist")
    print(study.best)

A server of the study, "hpotune start --asked", has the database; this process and
its workers ask it for trials and tell it of them over its socket.
"""

import contextlib
import ctypes
import functools
import html
import inspect
import json
import math
import multiprocessing
import multiprocessing.connection
import numbers
import operator
import os
import pickle
import random
import re
import shutil
import signal
import socket
import sqlite3
import sys
import threading
import time
import traceback
import urllib.parse

import hpotune
from hpotune import Error

_MARK = "// Written by hpotune.optimize: the call has what is said here.\n"
_SERVER_TRIES = 20  # starts of a server that ends at once, or is not reached
_LOOK = 0.5  # seconds between two looks at a study that runs
_PAUSE_MAX = 1.0  # seconds between two asks while no trial can begin
_FIRST_FAILURES = 5  # that end a call in which nothing has succeeded
_DEATHS = 10  # of workers in a row that end a call


class Stopped(Exception):
    """Raised by a function: the trial ends here, as stopped."""


# ---- the space, and the study ---------------------------------------------------

def _plain(value):
    """Scalars of numpy and torch as those of Python."""
    return value.item() if hasattr(value, "item") else value


def _is_number(value):
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _range_of(name, form):
    """(min, max), (min, max, step) or (min, max, "log")."""
    form = [_plain(v) for v in form]
    if len(form) not in (2, 3) or not all(map(_is_number, form[:2])):
        raise Error(f"parameter {name}: expected (min, max), (min, max, step) or "
                    '(min, max, "log"); the values of a choice are a list')
    whole = all(isinstance(v, numbers.Integral) for v in form if _is_number(v))
    kind = int if whole else float
    found = {"type": kind.__name__, "min": kind(form[0]), "max": kind(form[1])}
    if len(form) == 3:
        found["step" if _is_number(form[2]) else "scale"] = form[2]
    return found


def _parameter(name, form):
    """A parameter in the words of study.json, from a short form."""
    form = _plain(form) if not isinstance(form, (dict, list, tuple, range)) else form
    if isinstance(form, dict):
        return form
    if isinstance(form, range):
        if len(form) == 0 or form.step < 1:
            raise Error(f"parameter {name}: {form} is no range of values")
        return {"type": "int", "min": form[0], "max": form[-1], "step": form.step}
    if isinstance(form, tuple):
        return _range_of(name, form)
    if isinstance(form, list):
        return {"type": "choice", "values": [_plain(v) for v in form]}
    if form is None or isinstance(form, (str, bool)) or _is_number(form):
        return {"type": "fixed", "value": form}
    raise Error(f"parameter {name}: {form!r} is no space: expected a tuple, a list, "
                "a range, one value, or a dict in the words of study.json")


def when(form, condition=None, **values):
    """A parameter that exists under a condition: another one has this value, or
    one of these; or a text as in study.json.  when((0, 0.99), opt="sgd")"""
    one = {k: v if isinstance(v, list) else [v] for k, v in values.items()}
    if (condition is None) == (not one):
        raise Error("when: expected a condition")
    return {**_parameter("of when", form), "when": condition or one}


def _goals(metric, goal):
    """Objectives: names of metrics with their goals."""
    names = [metric] if isinstance(metric, str) else list(metric)
    goals = [goal] * len(names) if isinstance(goal, str) else list(goal)
    if len(names) != len(goals):
        raise Error("goal: expected one for each metric")
    return [{"metric": m, "goal": g} for m, g in zip(names, goals)]


def _merge(into, more):
    for key, value in more.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            into[key] = {**into[key], **value}
        else:
            into[key] = value


def _definition(space, trials, parallel, study, goal, metric, retries, more):
    aims = _goals(metric, goal)
    found = {"study": study}
    if len(aims) == 1:
        found["objective"] = {**aims[0], "value": "last"}
    else:
        found["objectives"] = aims
    found["parameters"] = {k: _parameter(k, v) for k, v in space.items()}
    found["limits"] = {"parallel": parallel}
    if trials is not None:
        found["limits"]["trials"] = trials
    if retries is not None:
        found["trial"] = {"retries": retries}
    for key, name in (("strategy", "name"), ("stopping", "rule")):
        if isinstance(more.get(key), str):
            more[key] = {name: more[key]}
    _merge(found, more)
    return found


def _write(path, definition):
    """Write the file of the study, unless it says the same."""
    text = _MARK + json.dumps(definition, indent=2, ensure_ascii=False) + "\n"
    with contextlib.suppress(FileNotFoundError):
        with open(path, encoding="utf-8") as file:
            old = file.read()
        if not old.startswith(_MARK):
            raise Error(f"{path} is a study of another kind: choose another name "
                        "for the study, or another folder")
        if old == text:
            return
    with open(f"{path}.{os.getpid()}.new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(file.name, path)


# ---- the results ----------------------------------------------------------------

class _Row(dict):
    """A trial as a dict, whose keys are attributes, too; number is that of "trial"."""

    def __getattr__(self, name):
        try:
            return self["trial" if name == "number" else name]
        except KeyError:
            raise AttributeError(f"a trial has no {name}: it has "
                                 + ", ".join(self)) from None


def _trials_of(rows):
    for row in rows:
        row["params"] = json.loads(row["params"])
    return [_Row(row) for row in rows]


def _sqlite_check():
    """Whether the SQLite of this Python reads the tables of a study."""
    if sqlite3.sqlite_version_info < (3, 37, 0):
        raise Error(f"the SQLite of this Python is {sqlite3.sqlite_version}: a study is "
                    "read by 3.37 and newer")


class Study:
    """A study and its results: its name, or the path of its NAME.db."""

    def __init__(self, study="study", folder="."):
        study = os.fspath(study)
        base = re.sub(r"\.(db|json)$", "", study)
        self.path = os.path.abspath(os.path.join(folder, base + ".db"))
        self.name = os.path.basename(base)

    def query(self, sql, *values):
        """Rows of the database as dicts; hpotune-db(5) has its views."""
        _sqlite_check()
        for mode in ("rw", "ro"):  # one that may write leaves no files behind
            uri = f"file:{urllib.parse.quote(self.path)}?mode={mode}"
            try:
                with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=10)) as db:
                    db.execute("PRAGMA query_only = 1")
                    db.row_factory = sqlite3.Row
                    return [dict(row) for row in db.execute(sql, values)]
            except sqlite3.Error as e:
                why = e
        raise Error(f"{self.path}: {why}")

    @property
    def state(self):
        """The row of view study, a dict; None when there is no study yet."""
        if not os.path.exists(self.path):
            return None
        return next(iter(self.query("SELECT * FROM study")), None)

    @property
    def trials(self):
        """All trials, a list of dicts."""
        return _trials_of(self.query(
            "SELECT trial, state, objective AS value, step, params, attempts, started, "
            "ended, seconds, why FROM trials WHERE NOT forgotten ORDER BY trial"))

    @property
    def best(self):
        """The best trial, a dict: None while there is none."""
        return next(iter(_trials_of(self.query(
            "SELECT trial, state, objective AS value, step, params, seconds FROM trials "
            "WHERE trial = (SELECT best_trial FROM study)"))), None)

    best_trial = best  # as Optuna has it

    @property
    def best_params(self):
        return (self.best or {}).get("params")

    @property
    def best_value(self):
        return (self.best or {}).get("value")

    @property
    def front(self):
        """The Pareto front of several objectives; of one the best trial."""
        return self.query("SELECT * FROM front ORDER BY trial")

    def curve(self, trial):
        """What a trial reported of its objective: (step, value)."""
        return [(row["step"], row["value"]) for row in self.query(
            "SELECT step, value FROM curves WHERE trial = ? ORDER BY step", trial)]

    def frame(self):
        """The trials as a DataFrame of pandas, one column for each parameter."""
        import pandas
        rows = [{**{k: v for k, v in t.items() if k != "params"},
                 **{"params_" + k: v for k, v in t["params"].items()}}
                for t in self.trials]
        return pandas.DataFrame(rows).set_index("trial") if rows else pandas.DataFrame()

    def importance(self, method=None):
        """How much each parameter influences the objective, a dict."""
        words = [] if method is None else ["--method=" + method]
        found = hpotune._run(["importance", "--json", *words, "--", self.path])
        return found["importance"]

    def plot(self, kind="history", ax=None):
        """Draw with matplotlib: "history", "curves", "importance", or a parameter."""
        import matplotlib.pyplot as pyplot
        ax = ax if ax is not None else pyplot.subplots()[1]
        state = self.state
        if kind == "importance":
            found = sorted(self.importance().items(), key=lambda item: item[1])
            ax.barh([k for k, _ in found], [v for _, v in found])
            ax.set_xlabel("importance")
            return ax
        ax.set_ylabel(state["metric"].split(", ")[0])
        done = [t for t in self.trials if t["value"] is not None]
        if kind == "history":
            better = max if state["goal"].startswith("max") else min
            ends = [t for t in done if t["state"] == "completed"]
            ax.plot([t["trial"] for t in done], [t["value"] for t in done], ".")
            ax.plot([t["trial"] for t in ends], functools.reduce(
                lambda so_far, t: so_far + [better([t["value"], *so_far[-1:]])], ends, []))
            ax.set_xlabel("trial")
        elif kind == "curves":
            for t in done:
                ax.plot(*zip(*self.curve(t["trial"])), lw=0.8)
            ax.set_xlabel("step")
        else:
            having = [t for t in done if kind in t["params"]]
            if not having:
                raise Error(f"{kind} is no plot and no parameter of the study: expected "
                            "history, curves, importance or a parameter")
            ax.plot([t["params"][kind] for t in having], [t["value"] for t in having], ".")
            ax.set_xlabel(kind)
        return ax

    def _words(self, state):
        """Its state in words, and its best trial, or None."""
        ends = ", ".join(f"{state[k]} {k}" for k in
                         ("running", "completed", "stopped", "failed") if state[k])
        text = f"{state['state']}: {state['trials']} trials" + (ends and ": " + ends)
        best = self.best
        if best is None or best["value"] is None:
            return text, None
        values = ", ".join(f"{k}={_short(v)}" for k, v in best["params"].items())
        return text, f"{_short(best['value'])} (trial {best['trial']}): {values}"

    def __repr__(self):
        state = self.state
        if state is None:
            return f"study {self.name}: no trial yet"
        text, best = self._words(state)
        return f"study {self.name}: {text}" + (f"; best {best}" if best else "")

    def _repr_html_(self):
        state = self.state
        if state is None:
            return f"<p>{html.escape(repr(self))}</p>"
        text, best = self._words(state)
        down = "DESC" if state["goal"].startswith("max") else "ASC"
        rows = self.query(
            "SELECT trial, state, objective AS value, step, params FROM trials WHERE "
            f"objective IS NOT NULL AND NOT forgotten ORDER BY objective {down} LIMIT 8")
        names = sorted({k for row in rows for k in json.loads(row["params"])})
        cells = ["".join(f"<th>{html.escape(k)}</th>" for k in
                         ["trial", "state", state["metric"].split(", ")[0], *names])]
        for row in rows:
            values = json.loads(row["params"])
            cells.append("".join(f"<td>{html.escape(_short(v))}</td>" for v in [
                row["trial"], row["state"], row["value"],
                *(values.get(k, "") for k in names)]))
        return (f"<p><b>{html.escape(self.name)}</b> {html.escape(text)}"
                + (f"<br>best {html.escape(best)}" if best else "") + "</p><table>"
                + "".join(f"<tr>{c}</tr>" for c in cells) + "</table>")


def _short(value):
    return f"{value:.6g}" if isinstance(value, float) else str(value)


# ---- the talk with the server ---------------------------------------------------

def _real_base(study):
    """The path of a study without .json or .db: one study has one."""
    return os.path.splitext(os.path.realpath(study))[0]


class _Engine:
    """The server of the study: started where there is none, and again when it dies.

    A request whose answer is lost is sent again: an ask gets the attempt that was
    begun, and a report or an end that is recorded is not recorded twice.
    """

    def __init__(self, path, study, until):
        self.path, self.study, self.until = path, study, until
        self.folder = path[:-len(".json")] + ".d"
        self.socket, self.owner = None, 0  # a connection, and whose it is

    def __getstate__(self):
        return {**self.__dict__, "socket": None}

    def start(self):
        hpotune._run(["start", "--asked", "--detach", "--quiet",
                      f"--until-exit={self.until}", "--", self.path], plain=True)

    def begin(self):
        """Start the server, unless one is there for programs that ask."""
        tries = 3  # the server that was in the way may end before it is looked at
        while True:
            try:
                return self.start()
            except Error:
                if self.is_left():
                    time.sleep(0.05)
                    continue
                try:
                    self.exchange({"command": "none"})
                except OSError:
                    pass
                else:
                    return None
                tries -= 1
                if tries == 0:
                    raise

    def is_left(self):
        """Whether the server is that of a program that is gone: it ends soon."""
        try:
            with open(os.path.join(self.folder, "lock"), encoding="utf-8") as file:
                pid = re.match("pid ([0-9]+) ", file.read())[1]
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                until = re.search(rb"--until-exit=([0-9]+)", file.read())[1].decode()
        except (OSError, TypeError):
            return False
        try:
            with open(f"/proc/{until}/stat", encoding="utf-8") as file:
                return file.read().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            return True

    def connect(self):
        s = socket.socket(socket.AF_UNIX)
        try:
            fd = os.open(self.folder, os.O_PATH | os.O_DIRECTORY)
            try:
                s.connect(f"/proc/self/fd/{fd}/control")
            finally:
                os.close(fd)
        except BaseException:
            s.close()
            raise
        self.socket, self.owner = s, os.getpid()

    def disconnect(self):
        s, self.socket = self.socket, None
        if s is not None:
            s.close()

    def exchange(self, line):
        """The answer of the server; OSError: there is none, or it has died."""
        if self.socket is None or self.owner != os.getpid():
            self.connect()
        text = b""
        try:
            self.socket.sendall(json.dumps({**line, "keep": True}).encode() + b"\n")
            while not text.endswith(b"\n"):
                more = self.socket.recv(65536)
                if not more:
                    raise ConnectionResetError
                text += more
            return json.loads(text)
        except BaseException:  # an answer may come that nobody waits for
            self.disconnect()
            raise

    def ended(self):
        """How many trials have ended well."""
        state = self.study.state
        return state["completed"] + state["stopped"] if state else 0

    def is_over(self):
        """Whether its server has ended by itself, or was asked to."""
        state = self.study.state
        return state is not None and state["state"] not in ("running", "paused")

    def call(self, command, trial, params):
        """An answer; None: the study is over, and no server answers."""
        line = {"command": command, "params": params}
        if trial:
            line["trial"] = trial
        why = None
        for n in range(_SERVER_TRIES):
            known = self.socket is not None and self.owner == os.getpid()
            try:
                return self.exchange(line)
            except OSError as e:
                why = why or e
            params["again"] = True
            if known:  # another one may be there already
                continue
            if self.is_over():
                return None
            try:
                self.start()
            except Error as e:  # another one has started it, or it cannot start
                why = e
                time.sleep(0.1 + 0.05 * n)
        raise Error(f"the server of {self.path} does not answer: {why}")

    def ask(self):
        """A trial, as ask --json prints it, or None."""
        pause = 0.02
        while True:
            has = [number for study, number in list(hpotune._open)
                   if _real_base(study) == _real_base(self.path)]
            asker = {**hpotune._asker(os.getpid()), "sure": True}
            answer = self.call("ask", 0, {"asker": asker, "has": has, "log": True})
            if answer is None:
                return None
            if answer["ok"]:
                return answer["data"][0]
            if not (answer.get("data") or {}).get("later"):
                return None
            time.sleep(pause)
            pause = min(2 * pause, _PAUSE_MAX)

    def tell(self, number, attempt, found, end=None, why=None):
        """Report, or end; the server's answer as a dict."""
        params = {"lines": [json.dumps(found)] if found else [], "strict": True,
                  "attempt": attempt, "asker": hpotune._asker(os.getpid())}
        params.update((k, v) for k, v in (("end", end), ("why", why)) if v is not None)
        answer = self.call("tell", number, params)
        if answer is None:
            return self.tell_alone(number, found, end, why)
        if not answer["ok"]:
            raise Error(answer["text"])
        return answer["data"]

    def tell_alone(self, number, found, end, why):
        """Without a server, whose study is over: its last words."""
        words = [] if end is None else ["--" + end]
        if why is not None and end not in ("done", "interrupted"):
            words.append("--why=" + why)
        words += ["--", self.path, str(number)]
        words += [f"{k}={v!r}" for k, v in found.items()]
        if end is None and not found:
            return {"verdict": "stop", "state": "running"}
        try:
            told = hpotune._run(["tell", "--json", *words])
        except Error as e:
            if end is not None and "has ended already" in str(e):
                return {"verdict": None, "state": None}
            raise
        if end is None:
            told["verdict"] = "stop"
        return told

    def give_back(self, pids):
        """What these processes, which are gone or halted, have begun."""
        with contextlib.suppress(Error):
            for t in self.running():
                if t["pid"] in pids:
                    self.tell(t["trial"], t["attempt"], {}, "interrupted")

    def running(self, state="state IN ('starting', 'running', 'stopping')"):
        """The attempts that processes of this machine run."""
        return self.study.query("SELECT trial, attempt, asker_pid AS pid FROM attempts "
                                f"WHERE {state} AND asker_host = ?", socket.gethostname())

    def stop(self):
        """Let the server end, unless somebody else has trials of it."""
        with contextlib.suppress(OSError, Error, ValueError):
            if not self.running():
                self.exchange({"command": "stop"})
                self.wait()

    def wait(self):
        """Wait until the server has ended."""
        for _ in range(500):
            if not os.path.exists(os.path.join(self.folder, "control")):
                break
            time.sleep(0.02)


# ---- a trial, and the function --------------------------------------------------

class Trial:
    """What a function gets of its trial, beside its parameters."""

    def __init__(self, engine, asked, metrics):
        self.number, self.params = asked["trial"], asked["params"]
        self.attempt = asked.get("attempt", 1)
        self.resume = asked.get("resume")  # the last step of a trial that was stopped
        self.last = {}  # the latest report, and its step
        self.step = None
        self._from = asked.get("from")
        self._engine, self._metrics = engine, metrics
        self._suggests = False  # as functions written for Optuna do
        self._verdict, self._looked = "keep", time.monotonic()
        self._folder = os.path.join(engine.folder, "trials", str(self.number))

    def __repr__(self):
        return f"<trial {self.number}: {self.params}>"

    @property
    def checkpoint_dir(self):
        """Its folder for checkpoints, which its next attempt finds."""
        path = os.path.join(self._folder, "checkpoint")
        if self._from and not os.path.exists(path):
            there = os.path.join(self._engine.folder, "trials", str(self._from),
                                 "checkpoint")
            if os.path.isdir(there):
                new = f"{path}.{os.getpid()}.new"
                shutil.copytree(there, new, symlinks=True)
                os.rename(new, path)
        os.makedirs(path, exist_ok=True)
        return path

    def _tell(self, found, end=None, why=None):
        told = self._engine.tell(self.number, self.attempt, found, end, why)
        self._looked = time.monotonic()
        if told.get("verdict") == "stop":
            self._verdict = "stop"
        return told

    # In functions that were written for Optuna: the space is that of optimize(),
    # not what is given here.

    def suggest_float(self, name, low=None, high=None, *, step=None, log=False):
        """The value of a parameter."""
        form = [None if v is None else float(v) for v in (low, high, step)]
        return self._suggested(name, *form, log)

    def suggest_int(self, name, low=None, high=None, step=1, log=False):
        """The value of a parameter."""
        return self._suggested(name, low, high, None if step == 1 else step, log)

    def suggest_categorical(self, name, choices=()):
        """The value of a parameter."""
        return self._suggested(name, list(choices))

    def _suggested(self, name, low=None, high=None, step=None, log=False):
        self._suggests = True
        if name in self.params:
            return self.params[name]
        if isinstance(low, list):
            form = low
        else:
            form = (low, high, *(["log"] if log else [] if step is None else [step]))
        raise hpotune.Error(f"trial {self.number} has no parameter {name!r}: the space "
                            "is the second argument of optimize(), where it is "
                            f"{name!r}: {form!r}, or has a condition")

    def should_prune(self):
        """As should_stop."""
        return self.should_stop

    def report(self, *given, **values):
        """report(step=None, metrics=None, **values): report metrics of a step, an
        integer from 0, without it of the next one; report(3, 0.25) is that of the
        objective.  After a suggest_...() it is report(0.25, 3), as Optuna has it, unless
        the second is a dict.  Returns "keep" or "stop"."""
        names = ["step", "metrics"]
        if self._suggests and not (given and isinstance(given[-1], dict)):
            names.reverse()
        if len(given) > 2:
            raise TypeError("report: expected a step and metrics")
        for name, value in zip(names, given):
            if name in values:
                raise TypeError(f"report: {name} is given twice")
            values[name] = value
        step, metrics = values.pop("step", None), values.pop("metrics", None)
        if metrics is not None and not isinstance(metrics, dict):
            metrics = {self._metrics[0]: metrics}
        if step is None:
            step = 1 if self.step is None else self.step + 1
        try:
            step = operator.index(_plain(step))
        except TypeError:
            order = "report(step, value)"
            if names[0] == "metrics":
                order = "report(value, step), as in Optuna"
            raise TypeError(f"a step is a whole number, not {step!r}: "
                            f"{order}") from None
        found = hpotune._values(step, metrics, values)
        if len(found) < 2:
            raise TypeError("report: a metric is missing")
        self._tell(found)
        self.step, self.last = step, {**self.last, **found}
        return self._verdict

    @property
    def should_stop(self):
        """Whether it shall end: its rules or its user say so, or a limit."""
        if self._verdict != "stop" and time.monotonic() - self._looked > _LOOK:
            self._tell({})
        return self._verdict == "stop"

    def _result(self, value):
        """What the function returned, as the last report; {}: it is said."""
        if value is None:
            return {}
        if isinstance(value, dict):
            found = value
        elif isinstance(value, (tuple, list)):
            if len(value) != len(self._metrics):
                raise TypeError(f"the function returned {len(value)} values for "
                                f"{len(self._metrics)} objectives")
            found = dict(zip(self._metrics, value))
        elif len(self._metrics) == 1:
            found = {self._metrics[0]: value}
        else:
            raise TypeError(f"the function returned one value for {len(self._metrics)} "
                            "objectives: expected a tuple or a dict")
        found = hpotune._values(None, found)
        if all(self.last.get(k) == v for k, v in found.items()):
            return {}
        return {"step": 1 if self.step is None else self.step + 1, **found}


def _is_pruned(error):
    """Whether Optuna's way to end a trial was raised."""
    return any(c.__name__ == "TrialPruned" and c.__module__.split(".")[0] == "optuna"
               for c in type(error).__mro__)


def _arguments(function):
    """How the function takes its parameters and its trial."""
    try:
        names = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return lambda trial: function(trial.params)
    names = [p for p in names if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
             and p.default is p.empty or p.name == "trial"]
    if [p.name for p in names] == ["trial"]:
        return lambda trial: function(trial)
    if len(names) == 1:
        return lambda trial: function(dict(trial.params))
    if len(names) == 2 and names[0].name == "trial":
        return lambda trial: function(trial, dict(trial.params))
    if len(names) == 2 and names[1].kind is names[1].KEYWORD_ONLY:
        return lambda trial: function(dict(trial.params), trial=trial)
    if len(names) == 2:
        return lambda trial: function(dict(trial.params), trial)
    raise Error("the function takes its parameters, a dict, and if it wants it the "
                "trial: def train(params, trial), or parameters of the space by name")


class _ByName:
    """A function whose arguments are parameters of the space: def train(lr, width)."""

    def __init__(self, function, names, takes_trial):
        self.function, self.names, self.takes_trial = function, names, takes_trial

    def __call__(self, params, trial):
        # A parameter that does not exist in this trial is None, or has its default.
        given = {name: params[name] if name in params else None
                 for name, optional in self.names if name in params or not optional}
        if self.takes_trial:
            given["trial"] = trial
        return self.function(**given)


def _named(function, space):
    """The function, or one that calls it with its arguments by name."""
    try:
        takes = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return function
    takes = [p for p in takes if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    names = [(p.name, p.default is not p.empty) for p in takes if p.name in space]
    if not names or any(p.default is p.empty and p.name != "trial" and p.name not in space
                        for p in takes):
        return function
    return _ByName(function, names, any(p.name == "trial" for p in takes))


class _Failed(Exception):
    """An exception of the function that ends the call."""


class _Runner:
    """Runs trials in this process, one after another."""

    def __init__(self, engine, function, metrics, catch, retried):
        self.engine, self.metrics, self.catch = engine, metrics, catch
        self.function, self.retried = _arguments(function), retried
        self.before = lambda trial: None
        self.failures, self.done = 0, engine.ended()  # before this call

    def fatal(self, error):
        """Why a failure ends the call, or None."""
        if not isinstance(error, (Error, self.catch)):
            return ""
        self.failures += 1
        if self.failures < _FIRST_FAILURES or self.engine.ended() > self.done:
            return None
        return f"the first {self.failures} trials have failed, and none has ended well"

    def log_path(self, trial):
        folder = os.path.join(trial._folder, f"attempt-{trial.attempt}")
        os.makedirs(folder, exist_ok=True)
        return os.path.join(folder, "log")

    def failed(self, trial, error):
        """Its reason is that of the trial, its traceback the end of the log."""
        with open(self.log_path(trial), "a", encoding="utf-8") as file:
            traceback.print_exception(type(error), error, error.__traceback__, file=file)
        why = str(error) if isinstance(error, Error) else (
            traceback.format_exception_only(type(error), error)[-1].strip())
        trial._tell({}, "crashed" if self.retried else "failed", why[:500])
        return why

    def one(self, asked, on_failure):
        """Run a trial to its end, which is told."""
        trial = Trial(self.engine, asked, self.metrics)
        self.before(trial)
        outer, hpotune._now = hpotune._now, trial
        key = (self.engine.path, trial.number)
        hpotune._open[key] = _Kept
        try:
            found = trial._result(self.function(trial))
            end = "stopped" if trial._verdict == "stop" else "done"
        except Stopped:
            found, end = {}, "stopped"
        except (Exception, SystemExit) as e:
            if not _is_pruned(e):
                on_failure(trial, e, self.failed(trial, e))
                return
            found, end = {}, "stopped"
        except BaseException:  # interrupted: it is asked for again
            with contextlib.suppress(Error):
                trial._tell({}, "interrupted")
            raise
        finally:
            hpotune._now = outer
            hpotune._open.pop(key, None)
        try:
            trial._tell(found, end)
        except Error as e:  # it has no result, or one that cannot be recorded
            on_failure(trial, e, self.failed(trial, e))

    def run(self, on_failure, between=lambda: None):
        while (asked := self.engine.ask()) is not None:
            self.one(asked, on_failure)
            between()


class _Kept:  # in hpotune._open, where at the end of the process nothing is to do
    @staticmethod
    def __exit__(kind, error, trace):
        pass


# ---- workers --------------------------------------------------------------------

class _Interrupt(BaseException):
    """SIGTERM in a worker: its trial is given back."""


def _die_with(parent):
    """Be killed when the parent dies, whatever it dies of."""
    PR_SET_PDEATHSIG = 1
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def _own_randomness():
    """Forks of one process would draw the same numbers."""
    random.seed()
    with contextlib.suppress(Exception):
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed()
    with contextlib.suppress(Exception):
        if "torch" in sys.modules:
            sys.modules["torch"].seed()


class _Output:
    """Output of a worker goes to the log of its trial."""

    def __init__(self):
        sys.stdout.flush()
        sys.stderr.flush()
        sys.stdout = open(1, "w", buffering=1, closefd=False, errors="replace")
        sys.stderr = open(2, "w", buffering=1, closefd=False, errors="replace")

    def to(self, path):
        sys.stdout.flush()
        sys.stderr.flush()
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        os.dup2(fd, 1)
        os.dup2(fd, 2)
        os.close(fd)


def _worker(parent, pipe, runner_words, function):
    """The main of a worker: trials until there are no more."""
    _die_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides

    def on_sigterm(number, frame):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise _Interrupt
    hpotune._open.clear()  # of the parent
    hpotune._now = None
    if isinstance(function, bytes):
        function = pickle.loads(function)
    runner = _Runner(*runner_words[:1], function, *runner_words[1:])
    output = _Output()
    _own_randomness()
    runner.before = lambda trial: output.to(runner.log_path(trial))

    def on_failure(trial, error, why):
        fatal = runner.fatal(error)
        pipe.send((trial.number, why, _pickled(error), fatal))
        if fatal is not None:
            raise _Interrupt
    try:
        signal.signal(signal.SIGTERM, on_sigterm)
        runner.run(on_failure)
    except _Interrupt:
        pass
    except Error as e:
        pipe.send((None, str(e), _pickled(e), ""))
    except BaseException as e:
        pipe.send((None, repr(e), _pickled(e), ""))
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()


def _pickled(error):
    """An exception with its traceback as text, for another process."""
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    try:
        data = pickle.dumps(error)
        pickle.loads(data)
    except Exception:
        data = None
    return data, text


def _unpickled(pickled):
    data, text = pickled
    error = Error(text.strip().rpartition("\n")[2])
    with contextlib.suppress(Exception):
        error = pickle.loads(data) if data is not None else error
    error.__cause__ = _Failed("\n" + text)
    return error


def _unsafe():
    """Why this process cannot be forked, or None."""
    torch = sys.modules.get("torch")
    with contextlib.suppress(Exception):
        if torch is not None and torch.cuda.is_initialized():
            return "torch has begun to use CUDA"
    for name in ("jax", "tensorflow"):
        if name in sys.modules:
            return f"{name} has threads"
    return None if sys.platform == "linux" else "this is not Linux"


def _method(start, function, on_line):
    """How workers start, and the function as they take it."""
    why = _unsafe()
    start = start or ("spawn" if why else "fork")
    if start == "fork":
        return start, function
    if why:
        on_line(f"workers are spawned, not forked: {why}")
    try:
        import cloudpickle
        return start, cloudpickle.dumps(function)
    except ImportError:
        pass
    try:
        data = pickle.dumps(function)
    except Exception as e:
        raise Error(f"workers cannot be forked ({why or 'as asked'}), and the function "
                    f"cannot be given to others: {e}; install cloudpickle, define it in "
                    'a module, or use parallel=1 or start="fork"') from None
    return start, data


class _Workers:
    """Workers of one call, which a thread of their own starts and waits for.

    That thread is no thread that has used OpenMP, whose pool a fork would miss, and it
    lives as long as they do: they die with it.
    """

    def __init__(self, engine, n, start, target):
        self.context = multiprocessing.get_context(start)
        self.engine, self.n, self.target = engine, n, target
        self.lock = threading.Lock()  # held while this process must not be forked
        self.list, self.said = {}, []  # pipe: process; what they said
        self.ever, self.cut = set(), set()  # their pids; of those whose trial ends
        self.halted, self.broken = False, None
        self.deaths, self.ended = 0, 0  # in a row: without a trial that ended well
        self.thread = threading.Thread(target=self.supervise, daemon=True)

    def begin(self):
        import warnings
        pipe, theirs = self.context.Pipe(False)
        process = self.context.Process(target=_worker,
                                       args=(os.getpid(), theirs, *self.target))
        with self.lock, warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            process.start()
        theirs.close()
        self.list[pipe] = process
        self.ever.add(process.pid)

    def supervise(self):
        try:
            for _ in range(self.n):
                self.begin()
            while self.list:
                self.hear()
        except BaseException as e:
            self.broken = e

    def hear(self):
        for pipe in multiprocessing.connection.wait(list(self.list)):
            try:
                self.said.append(pipe.recv())
            except (EOFError, OSError):
                process = self.list.pop(pipe)
                process.join()
                pipe.close()
                if process.pid in self.cut and not self.halted:
                    self.begin()
                elif process.exitcode and not self.halted:
                    self.replace(process)

    def replace(self, process):
        """The new worker gets the trial of the old one, if that may be retried."""
        code = process.exitcode
        why = "a worker has ended: " + (
            f"exit status {code}" if code > 0 else f"signal {-code}")
        ended = self.engine.ended()
        self.deaths = 1 if ended != self.ended else self.deaths + 1
        self.ended = ended
        if self.deaths > _DEATHS:
            raise Error(f"{why}, after {_DEATHS} others without a result between them")
        self.said.append((None, why, None, None))
        self.begin()

    def pids(self):
        return [p.pid for p in list(self.list.values())]

    def signal(self, number, pids=None):
        for pid in self.pids():
            if pids is None or pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)

    def halt(self, grace):
        """End all: trials are given back; a second Ctrl-C does not wait."""
        self.halted = True
        try:
            self.signal(signal.SIGTERM)
            self.thread.join(grace)
        except KeyboardInterrupt:
            pass
        self.signal(signal.SIGKILL)
        self.thread.join()
        self.engine.give_back(self.ever)


# ---- the call -------------------------------------------------------------------

class _Screen:
    """What is seen of a study that runs: in a notebook, or on a terminal."""

    def __init__(self, study, show):
        self.study, self.handle, self.line, self.due = study, None, "", 0
        python = sys.modules.get("IPython")
        self.notebook = show is not False and python is not None and getattr(
            python.get_ipython(), "kernel", None) is not None
        self.terminal = not self.notebook and (
            show or show is None and sys.stderr.isatty())

    def say(self, text):
        sys.stderr.write(("\r\033[K" if self.line else "") + "hpotune: " + text + "\n")
        sys.stderr.flush()
        self.line, self.due = "", 0

    def draw(self, last=False):
        if time.monotonic() < self.due and not last:
            return
        self.due = time.monotonic() + _LOOK
        with contextlib.suppress(Error):
            if self.notebook:
                from IPython.display import display
                if self.handle is None:
                    self.handle = display(self.study, display_id=True)
                else:
                    self.handle.update(self.study)
            elif self.terminal:
                columns = shutil.get_terminal_size().columns - 1
                self.line = repr(self.study)[:columns]
                sys.stderr.write("\r\033[K" + self.line + ("\n" if last else ""))
                sys.stderr.flush()


class _Call:
    """One call of optimize()."""

    def __init__(self, engine, screen, grace):
        self.engine, self.screen, self.grace = engine, screen, grace
        self.stopping = {}  # pids of workers whose trial shall end: since when

    def failed(self, number, why, fatal):
        self.screen.say(f"trial {number} failed: {why}" if number else why)
        if fatal:
            self.screen.say(fatal)

    def here(self, runner):
        """Run trials in this process."""
        def on_failure(trial, error, why):
            fatal = runner.fatal(error)
            self.failed(trial.number, why, fatal)
            if fatal is not None:
                raise error
        try:
            runner.run(on_failure, self.screen.draw)
        except BaseException:
            self.engine.give_back({os.getpid()})
            raise

    def listen(self, workers):
        while workers.said:
            number, why, pickled, fatal = workers.said.pop(0)
            if number or fatal is None:
                self.failed(number, why, fatal)
            if fatal is not None:
                raise _unpickled(pickled)

    def end_stopping(self, workers):
        """End workers whose trial was stopped, and does not look."""
        now = time.monotonic()
        found = {t["pid"] for t in self.engine.running("state = 'stopping'")}
        self.stopping = {pid: self.stopping.get(pid, now) for pid in found}
        late = [pid for pid, t in self.stopping.items() if now - t > self.grace]
        workers.cut.update(late)
        workers.signal(signal.SIGTERM, late)
        late = [pid for pid, t in self.stopping.items() if now - t > 2 * self.grace]
        workers.signal(signal.SIGKILL, late)

    def beside(self, workers):
        """Run trials in workers."""
        workers.thread.start()
        try:
            while workers.thread.is_alive() or workers.said:
                with workers.lock:
                    self.listen(workers)
                    self.end_stopping(workers)
                    self.screen.draw()
                workers.thread.join(0.1 if not workers.said else 0)
            if workers.broken:
                raise workers.broken
        except BaseException:
            workers.halt(self.grace)
            raise


_running = set()  # the studies of calls in this process
_guard = threading.Lock()


def optimize(function, space, trials=100, parallel=1, study="study", *, goal="minimize",
             metric="value", folder=".", catch=Exception, retries=None, grace=10,
             start=None, show=None, **more):
    """Search for the parameters for which a function returns the best value.

    function: gets the parameters, a dict, and the trial if it takes two arguments; one
    whose arguments are names of parameters gets those, and "trial"; returns the value,
    a tuple of several, a dict, or None when it has reported it.
    space: name to (min, max), (min, max, "log"), a list of choices, a range, a value,
    or a dict in the words of study.json; when() makes one conditional.
    trials: of the study, with those of earlier calls; None: other limits end it.
    parallel: above 1, forked workers, whose output is the log of the trial.
    goal: "minimize" or "maximize"; metric: the name of the value; lists of several.
    catch: exceptions that fail a trial; others end the call, too.
    retries: how often a trial that has failed by an exception is tried again.
    grace: seconds that a worker has to end when its trial shall.
    start: "fork" or "spawn"; show: whether to show what happens, by default in a
    notebook and on a terminal.
    more: further keys of study.json: strategy="gp", stopping={"rule": "median"},
    limits={"wall_time": "1h"}, where=["a < b"], trial={"max_steps": 20} …

    Returns a Study.  The same call continues a study that was interrupted.
    """
    if not callable(function) or not isinstance(space, dict):
        raise Error("optimize: expected a function and a dict, its space")
    if parallel < 1:
        raise Error("optimize: parallel is at least 1")
    _sqlite_check()
    folder = os.path.abspath(folder)
    path = os.path.join(folder, study + ".json")
    if not re.fullmatch("[a-z0-9][a-z0-9-]{0,31}", study):
        raise Error(f"study {study!r}: a name has 1 to 32 lower-case letters, digits "
                    "and -")
    definition = _definition(space, trials, parallel, study, goal, metric, retries, more)
    metrics = [metric] if isinstance(metric, str) else list(metric)
    found = Study(study, folder)
    engine = _Engine(path, found, os.getpid())
    screen = _Screen(found, show)
    runner = (engine, metrics, catch, retries is not None)
    function = _named(function, space)
    _arguments(function)
    if parallel > 1:
        start, target = _method(start, function, screen.say)
    with _guard:
        if path in _running:
            raise Error(f"the study {study} runs in this process already")
        _running.add(path)
    try:
        _write(path, definition)
        engine.begin()
        call = _Call(engine, screen, grace)
        try:
            if parallel == 1:
                call.here(_Runner(engine, function, *runner[1:]))
            else:
                call.beside(_Workers(engine, parallel, start, (runner, target)))
            engine.wait() if engine.is_over() else engine.stop()
            if found.state["state"] == "interrupted":
                screen.say(f"the server was stopped: the same call continues the study "
                           f"{study}")
        except BaseException:
            engine.stop()
            raise
        finally:
            screen.draw(last=True)
    except KeyboardInterrupt:
        screen.say(f"interrupted: the same call continues the study {study}")
        raise
    finally:
        _running.discard(path)
    return found
