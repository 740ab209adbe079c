"""Many settings of one network in one process of PyTorch, for trial.pack.

    hpotune.torch_pack(make_model, loss, (x, y), epochs=20,
                       evaluate={"val_loss": loss}, held=(x_val, y_val))

make_model(params) returns a module; loss(output, y) a mean.  The weights of all
running trials whose modules have the same form are stacked, and one call of vmap
trains them; each trial has its own batches, optimizer and checkpoints, and its
curve is that of a run alone but for rounding.
"""

import json
import math
import os
import select
import signal
import sys
import time

import torch

try:
    from torch.func import functional_call, grad_and_value, vmap
except ImportError:  # before 2.0
    from functorch import grad_and_value, vmap
    from torch.nn.utils.stateless import functional_call

SAVE_SECONDS = 30  # between two checkpoints of a trial that goes on


def _say(**line):
    text = json.dumps(line, allow_nan=True) + "\n"
    while text:
        text = text[os.write(_out, text.encode()):]  # ASCII: a byte a character


_out = 1


class _Trial:
    """A setting: what it is between the steps in which it is a row of a pack."""

    def __init__(self, message, job):
        self.number, self.attempt = message["start"], message.get("attempt", 1)
        self.params = message["params"]
        self.saved = os.path.join(message["checkpoint_dir"], "state.pt")
        self.epochs = job.epochs(self.params) if callable(job.epochs) \
            else job.epochs
        self.epochs = min(self.epochs, message.get("until_step") or self.epochs)
        setting = {"lr": 0.01, "momentum": 0.0, "weight_decay": 0.0,
                   "beta1": 0.9, "beta2": 0.999, "eps": 1e-8}
        setting.update({n: v for n, v in self.params.items() if n in setting})
        self.optimizer = self.params.get("optimizer", job.optimizer)
        if self.optimizer not in ("sgd", "adam", "adamw"):
            raise ValueError(f"optimizer {self.optimizer!r} is not sgd, adam "
                             "or adamw")
        self.setting = {n: float(v) for n, v in setting.items()}
        self.batch = int(self.params.get("batch_size", job.batch_size))
        self.seed = int(self.params.get("seed", 1))
        with torch.random.fork_rng():
            torch.manual_seed(self.seed)
            self.model = job.make_model(self.params).to(job.device)
        state = {n: t.detach().clone()
                 for n, t in self.model.named_parameters()}
        self.state = {
            "epoch": 0, "steps": 0, "weights": state,
            "buffers": {n: t.detach().clone()
                        for n, t in self.model.named_buffers()},
            "first": {n: torch.zeros_like(t) for n, t in state.items()},
            "second": {n: torch.zeros_like(t) for n, t in state.items()}
            if self.optimizer != "sgd" else {}}
        if os.path.exists(self.saved):
            self.state = torch.load(self.saved, map_location=job.device)
        self.saved_at = time.monotonic()
        self.key = self.optimizer, self.batch, _form(self.model)

    def say(self, **line):
        _say(trial=self.number, attempt=self.attempt, **line)

    def save(self):
        with open(self.saved + ".new", "wb") as file:
            torch.save(self.state, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(self.saved + ".new", self.saved)
        self.saved_at = time.monotonic()


def _form(model):
    """What must be the same in modules that one call of vmap runs."""
    parts = [repr(model)]
    for tensors in model.named_parameters(), model.named_buffers():
        parts += [(n, tuple(t.shape), t.dtype) for n, t in tensors]
    for name, module in model.named_modules():
        parts.append((name, type(module)))
        parts += [(n, v if isinstance(v, (int, float, str, tuple, type(None)))
                   else id(v)) for n, v in sorted(vars(module).items())
                  if not n.startswith("_")]
    return str(parts)


class _Pack:
    """Trials of one form: their tensors, stacked."""

    def __init__(self, job, trials):
        self.job, self.trials = job, trials
        self.model = trials[0].model
        states = [t.state for t in trials]
        self.kinds = {kind: {n: torch.stack([s[kind][n] for s in states])
                             for n in states[0][kind]}
                      for kind in ("weights", "buffers", "first", "second")}
        self.setting = {n: torch.tensor([t.setting[n] for t in trials],
                                        device=job.device)
                        for n in trials[0].setting}

    def loss(self, weights, buffers, x, y):
        output = functional_call(self.model, {**weights, **buffers}, (x,))
        return self.job.loss(output, y)

    def per_trial(self, values, like):
        return values.reshape(-1, *[1] * (like.dim() - 1))

    def orders(self):
        """The order of the examples in this epoch of each trial."""
        n = len(self.job.x)
        rows = []
        for trial in self.trials:
            rng = torch.Generator().manual_seed(
                trial.seed * 1000003 + trial.state["epoch"])
            rows.append(torch.randperm(n, generator=rng))
        return torch.stack(rows).to(self.job.device)

    def learn(self):
        """An epoch; the mean loss of each trial."""
        self.model.train()
        step = vmap(grad_and_value(self.loss), randomness="different")
        order, batch = self.orders(), self.trials[0].batch
        total, count = 0, 0
        for at in range(0, order.shape[1], batch):
            index = order[:, at:at + batch]
            slopes, losses = step(self.kinds["weights"], self.kinds["buffers"],
                                  self.job.x[index], self.job.y[index])
            for trial in self.trials:
                trial.state["steps"] += 1
            with torch.no_grad():
                self.move(slopes)
            total, count = total + losses.detach(), count + 1
        return total / count

    def move(self, slopes):
        """As torch.optim.SGD, Adam and AdamW."""
        s, name = self.setting, self.trials[0].optimizer
        first, second = self.kinds["first"], self.kinds["second"]
        steps = torch.tensor([float(t.state["steps"]) for t in self.trials],
                             device=self.job.device)
        for n, w in self.kinds["weights"].items():
            lr, decay, beta1, beta2, eps = (
                self.per_trial(s[k], w)
                for k in ("lr", "weight_decay", "beta1", "beta2", "eps"))
            slope = slopes[n]
            if name == "adamw":
                w.mul_(1 - lr * decay)
            else:
                slope = slope + decay * w
            if name == "sgd":
                first[n].mul_(self.per_trial(s["momentum"], w)).add_(slope)
                w.sub_(lr * first[n])
                continue
            t = self.per_trial(steps, w)
            first[n].mul_(beta1).add_((1 - beta1) * slope)
            second[n].mul_(beta2).add_((1 - beta2) * slope * slope)
            size = (second[n] / (1 - beta2 ** t)).sqrt_().add_(eps)
            w.sub_(lr / (1 - beta1 ** t) * first[n] / size)

    def judge(self):
        """The values of each metric on the data that are held out."""
        if not self.job.evaluate:
            return {}
        self.model.eval()
        x, y = self.job.held

        def one(weights, buffers):
            output = functional_call(self.model, {**weights, **buffers}, (x,))
            return {n: f(output, y) for n, f in self.job.evaluate.items()}

        with torch.no_grad():
            return vmap(one, randomness="different")(
                self.kinds["weights"], self.kinds["buffers"])

    def unstack(self, i):
        """Give trial i its tensors back, as its checkpoint has them."""
        for kind, tensors in self.kinds.items():
            self.trials[i].state[kind] = {n: t[i].detach().clone()
                                          for n, t in tensors.items()}

    def epoch(self):
        """An epoch of all, and a report of each; the trials that are over."""
        values = {"loss": self.learn(), **self.judge()}
        values = {n: t.double().tolist() for n, t in values.items()}
        over = []
        for i, trial in enumerate(self.trials):
            trial.state["epoch"] += 1
            line = {n: v[i] for n, v in values.items()}
            if not all(map(math.isfinite, line.values())):
                trial.say(end=1, why="a value is not finite after epoch %d"
                          % trial.state["epoch"])
                over.append(trial)
                continue
            trial.say(step=trial.state["epoch"], **line)
            done = trial.state["epoch"] >= trial.epochs
            if done or time.monotonic() - trial.saved_at > SAVE_SECONDS:
                self.unstack(i)
                trial.save()
            if done:
                trial.say(end=0)
                over.append(trial)
        return over

    def save(self, trial):
        self.unstack(self.trials.index(trial))
        trial.save()


class _Job:
    """What torch_pack was given, and the trials that run."""

    def __init__(self, **given):
        self.__dict__.update(given)
        self.trials, self.packs = {}, []
        self.rest, self.ended = b"", False

    def leave(self, trials):
        for trial in trials:
            self.trials.pop(trial.number, None)
        self.stack()

    def stack(self):
        """Packs of those that run now."""
        for pack in self.packs:
            for i, trial in enumerate(pack.trials):
                if trial.number in self.trials:
                    pack.unstack(i)
        groups = {}
        for trial in self.trials.values():
            groups.setdefault(trial.key, []).append(trial)
        self.packs = [_Pack(self, g) for g in groups.values()]

    def start(self, message):
        try:
            trial = _Trial(message, self)
        except Exception as e:
            _say(trial=message["start"], attempt=message.get("attempt", 1),
                 end=1, why=f"{type(e).__name__}: {e}")
            return
        if trial.state["epoch"] >= trial.epochs:
            trial.say(end=0)
            return
        self.trials[trial.number] = trial

    def stop(self, number):
        if number not in self.trials:
            return
        trial = self.trials.pop(number)
        for pack in self.packs:
            if trial in pack.trials:
                pack.save(trial)
        trial.say(end=0)

    def hear(self):
        """What has come; without a trial, wait for it."""
        before = set(self.trials)
        while not self.ended and \
                select.select([0], [], [], 0 if self.trials else None)[0]:
            data = os.read(0, 65536)
            self.ended = not data
            *lines, self.rest = (self.rest + data).split(b"\n")
            for message in map(json.loads, lines):
                if "start" in message:
                    self.start(message)
                elif "stop" in message:
                    self.stop(message["stop"])
        if set(self.trials) != before:
            self.stack()

    def serve(self):
        # At the end of the input all are saved; the signal that comes with it
        # must not be earlier.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            self.hear()
            if self.ended:
                for number in list(self.trials):
                    self.stop(number)
                return
            over = [t for pack in self.packs for t in pack.epoch()]
            if over:
                self.leave(over)


class _Alone(_Job):
    """A trial that is not packed: the same program, for one setting."""

    def serve(self):
        with open(os.environ["HPOTUNE_PARAMS"], encoding="utf-8") as file:
            params = json.load(file)
        until = os.environ.get("HPOTUNE_UNTIL_STEP")
        trial = _Trial({"start": 0, "params": params,
                        "until_step": int(until) if until else None,
                        "checkpoint_dir": os.environ["HPOTUNE_CHECKPOINT_DIR"]},
                       self)
        self.status, told = 0, []
        signal.signal(signal.SIGTERM, lambda *_: told.append(1))
        trial.say = self.said
        pack = _Pack(self, [trial])
        over = trial.state["epoch"] >= trial.epochs
        while not over and not told:
            over = pack.epoch()
        if not over:
            pack.save(trial)
        sys.exit(self.status)

    def said(self, end=None, why=None, **line):
        if why:
            print(why, file=sys.stderr)
        if line:
            print("hpotune:", *("%s=%r" % pair for pair in line.items()),
                  flush=True)
        self.status = end or 0


def torch_pack(make_model, loss, data, *, epochs=10, batch_size=64,
               optimizer="sgd", evaluate=None, held=None, device=None):
    """
    Train the trials of a study with trial.pack, as its program: returns at the
    end of the input.  As an ordinary trial it trains that one.

    make_model(params): a module.  loss(output, y): the mean of a batch.  data,
    held: two tensors, examples and targets.  evaluate: {"name": function(output,
    y)}, on held, else on data.  epochs: a number, or a function of the params.
    Of the parameters, lr, momentum, weight_decay, beta1, beta2, eps, optimizer
    ("sgd", "adam", "adamw"), batch_size and seed are used here; all are given to
    make_model.
    """
    if device is None:
        device = "cuda" if torch.cuda.is_available() else "cpu"
    x, y = (t.to(device) for t in data)
    held = tuple(t.to(device) for t in held) if held is not None else (x, y)
    kind = _Alone if "HPOTUNE_PARAMS" in os.environ else _Job
    kind(make_model=make_model, loss=loss, x=x, y=y, held=held, epochs=epochs,
         batch_size=batch_size, optimizer=optimizer, evaluate=evaluate or {},
         device=device).serve()
