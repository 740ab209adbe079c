"""What wandb.integration has for libraries: callbacks that log, as the package does.

The library is imported when the first of its names is used.
"""

import functools
import importlib
import os
import struct
import sys

import hpotune_shim as shim


def wandb():
    return sys.modules["wandb"]


def begun():
    if wandb().run is None:
        raise wandb().Error("You must call wandb.init() before the callback")


def keras(name):
    base = shim.keras_callback()

    class WandbMetricsLogger(base):
        def __init__(self, log_freq="epoch", initial_global_step=0, *args,
                     **kwargs):
            super().__init__()
            begun()
            self.log_freq = 1 if log_freq == "batch" else log_freq
            self.logging_batch_wise = isinstance(self.log_freq, int)
            self.global_batch, self.global_step = 0, initial_global_step
            kind, step = "epoch", "epoch/epoch"
            if self.logging_batch_wise:
                kind, step = "batch", "batch/batch_step"
            wandb().define_metric(kind + "/*", step_metric=step)

        def _log(self, kind, step, logs):
            rate = self.model.optimizer.learning_rate
            if callable(rate) and not hasattr(rate, "shape"):
                rate = rate(self.global_step)
            if hasattr(rate, "numpy"):
                rate = rate.numpy()
            found = {f"{kind}/{k}": v for k, v in (logs or {}).items()}
            wandb().log({**found, **step, kind + "/learning_rate": rate})

        def on_epoch_end(self, epoch, logs=None):
            self._log("epoch", {"epoch/epoch": epoch}, logs)

        def on_train_batch_end(self, batch, logs=None):
            self.global_step += 1
            if self.logging_batch_wise and batch % self.log_freq == 0:
                self._log("batch", {"batch/batch_step": self.global_batch}, logs)
                self.global_batch += self.log_freq

    class WandbCallback(base):
        def __init__(self, *args, **kwargs):
            super().__init__()
            begun()

        def on_epoch_end(self, epoch, logs=None):
            wandb().log({"epoch": epoch, **(logs or {})}, step=epoch)

    class WandbModelCheckpoint(base):
        def __init__(self, *args, **kwargs):
            super().__init__()

    class WandbEvalCallback(base):
        """Tables of predictions, which are not kept."""

        def __init__(self, *args, **kwargs):
            super().__init__()
            self.data_table = self.pred_table = shim.Nothing()
            self.data_table_ref = shim.Nothing()

    return locals().get(name)


def xgboost(name):
    xgb = importlib.import_module("xgboost")

    class WandbCallback(xgb.callback.TrainingCallback):
        def __init__(self, *args, **kwargs):
            super().__init__()
            begun()

        def before_training(self, model):
            wandb().config.update(shim.json.loads(model.save_config()))
            return model

        def after_iteration(self, model, epoch, evals_log):
            values = {f"{data}-{metric}": log[-1]
                      for data, metrics in evals_log.items()
                      for metric, log in metrics.items()}
            wandb().log({**values, "epoch": epoch})
            return False

        def after_training(self, model):
            best = {k: model.attr(k) for k in ("best_score", "best_iteration")}
            if best["best_score"] is not None:
                wandb().log({k: float(v) for k, v in best.items()})
            return model

    def wandb_callback():
        def callback(env):
            wandb().log(dict(env.evaluation_result_list))
        return callback

    return locals().get(name)


def lightgbm(name):
    def wandb_callback(log_params=True, define_metric=True):
        begun()

        def callback(env):
            if log_params and env.iteration == env.begin_iteration:
                wandb().config.update(env.params)
            values = {"iteration": env.iteration}
            for result in env.evaluation_result_list:
                if len(result) == 4:
                    values["_".join(result[:2])] = result[2]
                else:
                    of = "_".join(result[1].split())
                    values[of + "-mean"], values[of + "-stdv"] = \
                        result[2], result[4]
            wandb().log(values)
        callback.order, callback.before_iteration = 20, False
        return callback

    def log_summary(model, *args, **kwargs):
        begun()
        wandb().run.summary["best_iteration"] = model.best_iteration
        wandb().run.summary["best_score"] = model.best_score

    return locals().get(name)


def catboost(name):
    class WandbCallback:
        def __init__(self, metric_period=1):
            begun()
            self.metric_period, self.seen = metric_period, 0

        def after_iteration(self, info):
            """Called in each iteration, with values of some."""
            logs = {f"{data}-{metric}": log
                    for data, metrics in info.metrics.items()
                    for metric, log in metrics.items()}
            seen = sum(map(len, logs.values()))
            if seen > self.seen:
                period = f"iteration@metric-period-{self.metric_period}"
                wandb().log({**{k: log[-1] for k, log in logs.items()},
                             period: info.iteration})
            self.seen = seen
            return True

    def log_summary(model, log_all_params=True, *args, **kwargs):
        begun()
        if log_all_params:
            wandb().config.update(model.get_all_params())
        wandb().run.summary["best_iteration"] = model.get_best_iteration()
        wandb().run.summary["best_score"] = model.get_best_score()

    return locals().get(name)


def sb3(name):
    base = importlib.import_module("stable_baselines3.common.callbacks")

    class WandbCallback(base.BaseCallback):
        """The logs of the library are those of TensorBoard, which init takes."""

        def __init__(self, verbose=0, model_save_path=None, model_save_freq=0,
                     gradient_save_freq=0, log="all"):
            super().__init__(verbose)
            begun()
            self.model_save_path = model_save_path
            self.model_save_freq = model_save_freq
            if model_save_path is not None:
                os.makedirs(model_save_path, exist_ok=True)

        def _init_callback(self):
            wandb().config.setdefaults(
                {"algo": type(self.model).__name__, **vars(self.model)})

        def _on_step(self):
            if self.model_save_freq > 0 and \
                    self.n_calls % self.model_save_freq == 0:
                self.save_model()
            return True

        def _on_training_end(self):
            self.save_model()

        def save_model(self):
            if self.model_save_path is not None:
                self.model.save(os.path.join(self.model_save_path, "model.zip"))

    return locals().get(name)


class Events:
    """Scalars of writers of events are reports, from when it is opened on."""

    MODULES = ("tensorboard.summary.writer.event_file_writer",
               "tensorboardX.event_file_writer")

    def __init__(self, root=""):
        self.root = os.path.abspath(root) if root else ""
        self.seen, self.folders = 0, []
        self.modules = shim.AfterImport(dict.fromkeys(self.MODULES, self.patch))

    def patch(self, module):
        writer = getattr(module, "EventFileWriter", None)
        if writer is None or hasattr(writer, "of_hpotune"):
            return
        begin, add = writer.__init__, writer.add_event

        def __init__(this, logdir, *args, **kwargs):
            if events is not None:
                events.folders.append(os.path.abspath(logdir))
            begin(this, logdir, *args, **kwargs)

        def add_event(this, event, *args, **kwargs):
            add(this, event, *args, **kwargs)
            if events is not None and wandb().run is not None:
                events.take(os.path.abspath(this.get_logdir()), event)
        writer.__init__, writer.add_event = __init__, add_event
        writer.of_hpotune = True

    def take(self, folder, event):
        """The folder of a writer, below that of all, is before its names."""
        root = self.root or os.path.commonpath([*self.folders, folder])
        below = os.path.relpath(folder, root)
        before = "" if below == "." or below.startswith("..") else below + "/"
        values = {before + v.tag: event_number(v) for v in event.summary.value}
        values = {k: v for k, v in values.items() if v is not None}
        if values:
            self.seen += 1
            wandb().run._report(values, event.step)


def event_number(value):
    """The number of a value of an event, or None."""
    if value.HasField("simple_value"):
        return float(value.simple_value)
    if not value.HasField("tensor"):
        return None
    tensor = value.tensor
    if any(dim.size != 1 for dim in tensor.tensor_shape.dim):
        return None
    for numbers in tensor.float_val, tensor.double_val, tensor.int_val:
        if len(numbers) == 1:
            return float(numbers[0])
    kind = {4: "<f", 8: "<d"}.get(len(tensor.tensor_content))
    return struct.unpack(kind, tensor.tensor_content)[0] if kind else None


events = None


def tensorboard_patch(save=True, tensorboard_x=None, pytorch=None, root_logdir=""):
    """The scalars of TensorBoard's writers are what a program logs."""
    global events
    if events is None:
        events = Events(root_logdir)
        events.modules.open()


def tensorboard_unpatch():
    global events
    if events is not None:
        events.modules.close()
    events = None


def tensorboard_end():
    of_hpotune = hasattr(sys.modules.get("tensorboard"), "_shim")
    if events is not None and events.seen == 0 and not of_hpotune:
        print("hpotune stands in the place of wandb, and no writer of "
              "tensorboard or tensorboardX has written a scalar: trial.metrics "
              "reads the files of others", file=sys.stderr)


def ultralytics(name):
    """Pictures and tables; numbers are logged by Ultralytics itself."""
    return {"add_wandb_callback": lambda model, *args, **kwargs: model}.get(name)


def tensorboard(name):
    return {"patch": tensorboard_patch, "unpatch": tensorboard_unpatch}.get(name)


LIBRARIES = {"keras": keras, "xgboost": xgboost, "lightgbm": lightgbm,
             "catboost": catboost, "sb3": sb3, "tensorboard": tensorboard,
             "ultralytics": ultralytics}


@functools.cache
def made(library, name):
    """A class is the same in all modules that have it."""
    return LIBRARIES[library](name)


def find(module, name):
    """What a module has of a name that a library's own class is the base of."""
    parts = module.split(".")
    if parts[0] == "integration":
        del parts[0]
    if not parts or parts[0] not in LIBRARIES or name in parts:
        return None
    return made(parts[0], name)


def refuses(module):
    """Integrations that log by themselves, and that are not here."""
    parts = module.split(".")
    if parts[0] == "integration":
        return len(parts) > 1 and parts[1] not in (
            *LIBRARIES, "torch", "gym", "sagemaker")
    return parts[0] in ("tensorflow", "sacred", "fastai", "ray", "beta")
