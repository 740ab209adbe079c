"""hpotune from Python, without dependencies.  A program that is a trial:

    p = hpotune.params({"lr": 0.01})      # these when it is run by hand
    for epoch in range(20):
        hpotune.report(epoch, loss=train(p["lr"]))
        if hpotune.stopping():            # SIGTERM has come
            break

A program that runs its trials itself:

    while trial := hpotune.ask("study.json"):
        for epoch in range(20):
            if trial.tell(epoch, loss=evaluate(trial.params)) == "stop":
                break
        trial.end()

LightningCallback, TrainerCallback (transformers) and KerasCallback report by
themselves.  hpotune needs none of this: see hpotune-trial(7).
"""

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


def params(default=None):
    """The parameters of this trial, a dict; outside of a trial default."""
    if "HPOTUNE_PARAMS" not in os.environ:
        return dict(default or {})
    with open(os.environ["HPOTUNE_PARAMS"], encoding="utf-8") as file:
        return json.load(file)


def checkpoint_dir(default=None):
    """The folder of the trial's checkpoints; outside of one default, created."""
    path = os.environ.get("HPOTUNE_CHECKPOINT_DIR", default)
    if path is not None:
        os.makedirs(path, exist_ok=True)
    return path


def _values(metrics, values, skip=False):
    """All as floats, numpy and torch scalars too; skip what is no number."""
    found = {}
    for name, value in {**(metrics or {}), **values}.items():
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
    found = _values(metrics, values)
    if step is not None:
        found = {"step": int(step), **found}
    if "HPOTUNE_METRICS" in os.environ:
        with open(os.environ["HPOTUNE_METRICS"], "ab", buffering=0) as file:
            file.write((json.dumps(found) + "\n").encode())  # one write
    elif os.environ.get("RANK", "0") == "0":
        print("hpotune:", *(f"{k}={v!r}" for k, v in found.items()), flush=True)


_stop = None  # None: no handler yet


def stopping():
    """Whether this trial was asked to end: write a checkpoint and exit.

    The first call, in the main thread, begins to catch SIGTERM.
    """
    global _stop
    if _stop is None:
        before = signal.getsignal(signal.SIGTERM)
        def on_sigterm(number, frame):
            global _stop
            _stop = True
            if callable(before):
                before(number, frame)

        signal.signal(signal.SIGTERM, on_sigterm)
        _stop = False
    return _stop


def _over_socket(study, line):
    """The answer of the running server, or None without one."""
    folder = os.path.splitext(study)[0] + ".d"
    try:
        if not study.endswith(".db"):
            with open(study, encoding="utf-8") as file:
                name = re.search(r'"study"\s*:\s*"([^"]+)"', file.read())[1]
            folder = os.path.join(os.path.dirname(study), name + ".d")
        fd = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    except (OSError, TypeError, UnicodeDecodeError):
        return None
    try:
        with socket.socket(socket.AF_UNIX) as s:
            try:  # by the descriptor: a path may be longer than an address
                s.connect(f"/proc/self/fd/{fd}/control")
            except OSError:
                return None
            s.sendall(json.dumps(line).encode() + b"\n")
            with s.makefile("rb") as answer:
                text = answer.readline()
    finally:
        os.close(fd)
    if not text:
        raise Error(f"{study}: the server has ended without an answer")
    return json.loads(text)


def _request(study, line, words):
    """The data of an answer: of the server, or of the program without one."""
    answer = _over_socket(study, line)
    if answer is not None:
        if not answer["ok"]:
            raise Error(answer["text"])
        return answer["data"]
    program = os.path.join(os.path.dirname(sys.executable), "hpotune")
    if not os.access(program, os.X_OK):  # not installed by a wheel
        program = shutil.which("hpotune")
    if program is None:
        raise Error("hpotune is not in PATH", 127)
    done = subprocess.run([program, words[0], "--json", *words[1:]],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, encoding="utf-8")
    if done.returncode != 0:
        why = done.stderr.strip().rpartition("\n")[2] or "failed"
        raise Error(re.sub("^hpotune: ", "", why), done.returncode)
    return json.loads(done.stdout)


class Trial:  # more: all that "ask --json" prints
    def __init__(self, study, more):
        self.study, self.more = study, more
        self.number, self.params = more["trial"], more["params"]

    def tell(self, step=None, metrics=None, **values):
        """Report metrics of a step; "keep" or "stop", the rules' verdict."""
        return tell(self.study, self.number, step, metrics, **values)["verdict"]

    def end(self, end="done", why=None):
        """It has completed ("done"), was "stopped", or "failed" by its setting.
        """
        return tell(self.study, self.number, end=end, why=why)


def ask(study="study.json"):
    """Begin a trial and return it; None when no trial may begin.

    study is the path of a study.json or a NAME.db.  Without a server the program
    hpotune is run.  The reason why no trial may begin is on standard error.
    """
    study = os.fspath(study)
    try:
        found = _request(study, {"command": "ask"}, ["ask", "--", study])
    except Error as e:
        if e.status != 1:
            raise
        print("hpotune:", e, file=sys.stderr)
        return None
    return Trial(study, found[0] if isinstance(found, list) else found)


def tell(study, trial, step=None, metrics=None, *, end=None, why=None, **values):
    """Report metrics of a trial, or its end; a dict as "tell --json" prints."""
    study, found = os.fspath(study), _values(metrics, values)
    if found and step is not None:
        found = {"step": int(step), **found}
    asked = {"lines": [json.dumps(found)] if found else [], "strict": True}
    words = [] if end is None else ["--" + end]
    asked.update({} if end is None else {"end": end})
    if why is not None:
        asked["why"] = why
        words.append("--why=" + why)
    words += ["--", study, str(trial), *(f"{k}={v!r}" for k, v in found.items())]
    return _request(study, {"command": "tell", "trial": trial, "params": asked},
                    ["tell", *words])


# Callbacks are made when they are first named: a base class is imported.
def _lightning():
    if "pytorch_lightning" in sys.modules:
        from pytorch_lightning import Callback
    else:
        from lightning.pytorch import Callback

    class LightningCallback(Callback):
        """Report Lightning's metrics, keep a checkpoint, end at SIGTERM.

            c = hpotune.LightningCallback()
            Trainer(callbacks=[c], ...).fit(model, ckpt_path=c.checkpoint)

        A step is an epoch, from 0.
        """
        def __init__(self):
            folder = checkpoint_dir()
            self.path = folder and os.path.join(folder, "hpotune.ckpt")
            there = self.path and os.path.exists(self.path)
            self.checkpoint = self.path if there else None  # or None
            self.validated, self.of_validation = False, set()
            stopping()

        def on_validation_start(self, trainer, module):
            self.before = set(trainer.callback_metrics)

        def on_validation_end(self, trainer, module):
            self.validated = True
            self.of_validation |= set(trainer.callback_metrics) - self.before

        def on_train_batch_end(self, trainer, *rest):
            trainer.should_stop |= stopping()
            self.cut = stopping() and not trainer.is_last_batch

        def on_train_epoch_end(self, trainer, module):
            if self.cut:  # by a stop: the checkpoint before this epoch stays
                return
            found = _values(trainer.callback_metrics, {}, skip=True)
            if not self.validated:  # values of an earlier epoch are not new
                found = {k: found[k] for k in found.keys() - self.of_validation}
            self.validated = False
            if trainer.is_global_zero:
                report(trainer.current_epoch, found)
            if self.path:
                trainer.save_checkpoint(self.path + ".new")
                if trainer.is_global_zero:
                    os.replace(self.path + ".new", self.path)

    return LightningCallback


def _transformers():
    from transformers import TrainerCallback as Base

    class TrainerCallback(Base):
        """Report what transformers.Trainer logs; save and end at SIGTERM.

        A step is Trainer's global_step.  With output_dir=hpotune.checkpoint_dir()
        the next attempt continues: train(resume_from_checkpoint=
        transformers.trainer_utils.get_last_checkpoint(output_dir)).
        """
        def __init__(self):
            stopping()

        def on_log(self, args, state, control, logs=None, **rest):
            if state.is_world_process_zero:
                report(state.global_step, _values(logs, {}, skip=True))

        def on_step_end(self, args, state, control, **rest):
            if stopping():
                control.should_save = control.should_training_stop = True

    return TrainerCallback


def _keras():
    from keras.callbacks import Callback

    class KerasCallback(Callback):
        """Report Keras' metrics at the end of each epoch, and end at SIGTERM.

        A step is an epoch, from 0.  BackupAndRestore(hpotune.checkpoint_dir(),
        delete_checkpoint=False) of Keras keeps and restores a checkpoint.
        """
        def __init__(self):
            super().__init__()
            stopping()

        def on_epoch_end(self, epoch, logs=None):
            report(epoch, _values(logs, {}, skip=True))
            self.model.stop_training |= stopping()

    return KerasCallback


def __getattr__(name):
    made = {"LightningCallback": _lightning, "TrainerCallback": _transformers,
            "KerasCallback": _keras}.get(name)
    if made is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals().setdefault(name, made())
