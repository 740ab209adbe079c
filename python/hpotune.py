"""hpotune from Python, without dependencies.  A program that is a trial:

    p = hpotune.params({"lr": 0.01})      # these when it is run by hand
    for epoch in range(20):
        hpotune.report(epoch, loss=train(p["lr"]))
        if hpotune.stopping():            # SIGTERM has come
            break

A program that runs its trials itself:

    while trial := hpotune.ask("study.json"):
        with trial:                       # an exception ends it as failed
            for epoch in range(20):
                if trial.tell(epoch, loss=evaluate(trial.params)) == "stop":
                    break

A function, for a script or a notebook:

    study = hpotune.optimize(function, {"lr": (1e-5, 0.1, "log")}, trials=50)

LightningCallback, TrainerCallback (transformers) and KerasCallback report by
themselves.  hpotune needs none of this: see hpotune-trial(7).
"""

import atexit
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys


class Error(Exception):
    """A request that hpotune did not accept; the text is its reason."""
    def __init__(self, text, status=1):
        super().__init__(text)
        self.status = status  # as that of the program


_now = None  # the trial of optimize() whose function this process runs


def params(default=None):
    """The parameters of this trial, a dict; outside of a trial default."""
    if _now:
        return dict(_now.params)
    if "HPOTUNE_PARAMS" not in os.environ:
        return dict(default or {})
    with open(os.environ["HPOTUNE_PARAMS"], encoding="utf-8") as file:
        return json.load(file)


def checkpoint_dir(default=None):
    """The folder of the trial's checkpoints; outside of one default, created."""
    if _now:
        return _now.checkpoint_dir
    path = os.environ.get("HPOTUNE_CHECKPOINT_DIR", default)
    if path is not None:
        os.makedirs(path, exist_ok=True)
    return path


def _values(step, metrics, values=(), skip=False):
    """All as floats, numpy and torch scalars too; skip what is no number."""
    found = {} if step is None else {"step": int(step)}
    for name, value in {**(metrics or {}), **dict(values)}.items():
        try:
            found[name] = float(value)
        except (TypeError, ValueError):
            if not skip:
                raise
    return found


def report(step=None, metrics=None, **values):
    """Report metrics of a step, an integer from 0; without it from 1 on.

    Names that are no Python names are given as a dict: report(3, {"val/f1": x}).
    Outside of a trial it is printed.  Of several ranks the first one reports.
    """
    if _now:
        _now.report(step, metrics, **values)
        return
    found = _values(step, metrics, values)
    if "HPOTUNE_METRICS" in os.environ:
        with open(os.environ["HPOTUNE_METRICS"], "ab", buffering=0) as file:
            file.write((json.dumps(found) + "\n").encode())  # one write
    elif os.environ.get("RANK", "0") == "0":
        print("hpotune:", *(f"{k}={v!r}" for k, v in found.items()), flush=True)


_stop = {}  # "asked", once there is a handler: whether SIGTERM has come


def stopping():
    """Whether this trial was asked to end: write a checkpoint and exit.

    The first call, in the main thread, begins to catch SIGTERM.
    """
    if _now:
        return _now.should_stop
    if not _stop:
        before = signal.getsignal(signal.SIGTERM)
        def on_sigterm(number, frame):
            _stop["asked"] = True
            if callable(before):
                before(number, frame)
        signal.signal(signal.SIGTERM, on_sigterm)
        _stop.setdefault("asked", False)
    return _stop["asked"]


def _request(study, line, words):
    """The data of an answer: of the server, or of the program without one."""
    folder = os.path.splitext(study)[0] + ".d"
    with socket.socket(socket.AF_UNIX) as s:
        try:
            if not study.endswith(".db"):
                with open(study, encoding="utf-8") as file:
                    name = re.search(r'"study"\s*:\s*"([^"]+)"', file.read())[1]
                folder = os.path.join(os.path.dirname(study), name + ".d")
            fd = os.open(folder, os.O_PATH | os.O_DIRECTORY)
            try:  # by the descriptor: a path may be longer than an address
                s.connect(f"/proc/self/fd/{fd}/control")
            finally:
                os.close(fd)
        except (OSError, TypeError, UnicodeDecodeError):
            return _run(words)
        try:
            s.sendall(json.dumps(line).encode() + b"\n")
            text = s.makefile("rb").readline()
        except OSError:
            text = b""
    if not text:
        raise Error(f"{study}: the server has ended without an answer")
    answer = json.loads(text)
    if not answer["ok"]:
        raise Error(answer["text"])
    return answer["data"]


def _run(words, plain=False):
    """Run hpotune: the JSON that it prints; plain: nothing."""
    wheel = os.path.dirname(sys.executable)  # installs it there
    program = shutil.which("hpotune", path=wheel) or shutil.which("hpotune")
    if program is None:
        raise Error("hpotune is not in PATH", 127) from None
    done = subprocess.run([program, *words], stdin=subprocess.DEVNULL,
                          capture_output=True, encoding="utf-8")
    if done.returncode != 0:
        why = done.stderr.strip().rpartition("\n")[2] or "failed"
        raise Error(re.sub("^hpotune: ", "", why), done.returncode) from None
    return None if plain else json.loads(done.stdout)


_open = {}  # trials of this process that have not ended


@atexit.register
def _end_all():
    error = getattr(sys, "last_value", None)  # an uncaught exception
    for trial in list(_open.values()):
        trial.__exit__(None, error or "the program ended before its trial", None)


class Trial:  # more: all that "ask --json" prints
    def __init__(self, study, more, pid):
        self.study, self.more, self.pid = study, more, pid
        self.number, self.params = more["trial"], more["params"]
        if pid:
            _open[study, self.number] = self

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        """It has completed; at an exception it has failed, by its text."""
        if _open.get((self.study, self.number)) is None or self.pid != os.getpid():
            return  # it has ended, or this is a fork of the process that asked
        why = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
        try:
            self.end(*["done"] if error is None else ["failed", why[:500]])
        except Error as e:
            if error is None:
                raise
            print("hpotune:", e, file=sys.stderr)

    def tell(self, step=None, metrics=None, **values):
        """Report metrics of a step; "keep" or "stop", the rules' verdict."""
        return tell(self.study, self.number, step, metrics, **values)["verdict"]

    def end(self, end="done", why=None):
        """It has completed ("done"), was "stopped", or "failed" by its setting."""
        return tell(self.study, self.number, end=end, why=why)


def _asker(pid, known=[]):
    """This process, or pid 0 for none, in the words of a request."""
    known[:] = known or [os.stat("/proc/self/ns/pid").st_ino]
    return {"pid": pid, "ns": known[0]}


def ask(study="study.json", keep=False):
    """Begin a trial and return it; None when no trial may begin.

    study: the path of a study.json or a NAME.db.  Without a server the program
    hpotune is run.  Why no trial may begin is on standard error.  A trial ends with
    this process, failed or lost; keep: it outlives it.
    """
    study, pid = os.fspath(study), 0 if keep else os.getpid()
    asker = {**_asker(pid), "sure": True}
    try:
        found = _request(study, {"command": "ask", "params": {"asker": asker}},
                         ["ask", "--json", f"--pid={pid}", "--", study])
    except Error as e:
        if e.status != 1:
            raise
        print("hpotune:", e, file=sys.stderr)
        return None
    return Trial(study, found[0] if isinstance(found, list) else found, pid)


def tell(study, trial, step=None, metrics=None, *, end=None, why=None, **values):
    """Report metrics of a trial, or its end; a dict as "tell --json" prints."""
    study = os.fspath(study)
    found = _values(step, metrics, values) if metrics or values else {}
    asked = {"lines": [json.dumps(found)] if found else [], "strict": True,
             "asker": _asker(os.getpid())}
    asked.update((k, v) for k, v in (("end", end), ("why", why)) if v is not None)
    words = [] if end is None else ["--" + end]
    words += [] if why is None else ["--why=" + why]
    words += ["--", study, str(trial), *(f"{k}={v!r}" for k, v in found.items())]
    told = _request(study, {"command": "tell", "trial": trial, "params": asked},
                    ["tell", "--json", *words])
    if end is not None:
        _open.pop((study, trial), None)
    return told


class _Callback:  # a part of each, before the base class of its library
    def __init__(self):
        super().__init__()
        stopping()


class _Lightning(_Callback):
    """Report Lightning's metrics, keep a checkpoint, end at SIGTERM.

        c = hpotune.LightningCallback()
        Trainer(callbacks=[c], ...).fit(model, ckpt_path=c.checkpoint)

    A step is an epoch, from 0.
    """
    def __init__(self):
        super().__init__()
        folder = checkpoint_dir()
        self.path = os.path.join(folder, "hpotune.ckpt") if folder else None
        self.checkpoint = self.path if os.path.exists(self.path or "") else None
        self.of_validation, self.old = set(), set()

    def on_validation_start(self, trainer, module):
        self.before = set(trainer.callback_metrics)

    def on_validation_end(self, trainer, module):
        self.of_validation |= set(trainer.callback_metrics) - self.before
        self.old = set()

    def on_train_batch_end(self, trainer, *rest):
        trainer.should_stop |= stopping()
        self.cut = stopping() and not trainer.is_last_batch

    def on_train_epoch_end(self, trainer, module):
        if self.cut:  # by a stop: the checkpoint before this epoch stays
            return
        found = _values(None, trainer.callback_metrics, skip=True)
        found = {k: v for k, v in found.items() if k not in self.old}
        self.old = self.of_validation  # values of this epoch are not new again
        if trainer.is_global_zero:
            report(trainer.current_epoch, found)
        if self.path:
            trainer.save_checkpoint(self.path + ".new")
            if trainer.is_global_zero:
                os.replace(self.path + ".new", self.path)


class _Transformers(_Callback):
    """Report what transformers.Trainer logs; save and end at SIGTERM.

    A step is Trainer's global_step.  With output_dir=hpotune.checkpoint_dir()
    the next attempt continues: train(resume_from_checkpoint=
    transformers.trainer_utils.get_last_checkpoint(output_dir)).
    """
    def on_log(self, args, state, control, logs=None, **rest):
        if state.is_world_process_zero:
            report(state.global_step, _values(None, logs, skip=True))

    def on_step_end(self, args, state, control, **rest):
        if stopping():
            control.should_save = control.should_training_stop = True


class _Keras(_Callback):
    """Report Keras' metrics at the end of each epoch, and end at SIGTERM.

    A step is an epoch, from 0.  BackupAndRestore(hpotune.checkpoint_dir(),
    delete_checkpoint=False) of Keras keeps and restores a checkpoint.
    """
    def on_epoch_end(self, epoch, logs=None):
        report(epoch, _values(None, logs, skip=True))
        self.model.stop_training |= stopping()


def __getattr__(name):
    """A callback is made when it is first named: its base class is imported."""
    if name in ("optimize", "when", "Study", "Stopped", "torch_pack"):
        more = "hpotune_torch" if name == "torch_pack" else "hpotune_optimize"
        return globals().setdefault(name, getattr(__import__(more), name))
    part, module, base = {
        "LightningCallback": (_Lightning, "pytorch_lightning" if
            "pytorch_lightning" in sys.modules else "lightning.pytorch", "Callback"),
        "TrainerCallback": (_Transformers, "transformers", "TrainerCallback"),
        "KerasCallback": (_Keras, "keras.callbacks", "Callback"),
    }.get(name, (None, None, None))
    if part is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    bases = part, getattr(__import__(module, fromlist=[base]), base)
    return globals().setdefault(name, type(name, bases, {"__doc__": part.__doc__}))
