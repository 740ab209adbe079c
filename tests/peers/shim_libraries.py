"""Trainings whose library logs by its own integration with a tracker.

shim_libraries.py PROGRAM: the program, as users write one.
shim_libraries.py PROGRAM kept: writes what the packages have kept of it in this
folder into the file HISTORY: {metric: [[step, value]]}.
"""

import fnmatch
import glob
import json
import os
import struct
import sys

import reader

LR = float(os.environ.get("LR", "0.5"))  # of the program, not of the trial
EPOCHS = 3


def wandb_begin(**more):
    import wandb
    return wandb.init(project="demo", config={"lr": LR, "kind": "test"}, **more)


def torch_points():
    import torch
    torch.manual_seed(1)
    torch.set_num_threads(1)
    x, y = reader.points(100)
    return torch.tensor(x), torch.tensor(y)


def numpy_points():
    import numpy
    x, y = reader.points(100)
    return numpy.array(x, "float32"), numpy.array(y)


def transformers(report_to, rate):
    import torch
    from transformers import (PretrainedConfig, PreTrainedModel, Trainer,
                              TrainingArguments)

    class Line(PreTrainedModel):
        config_class = PretrainedConfig

        def __init__(self, config):
            super().__init__(config)
            self.line = torch.nn.Linear(2, 2)
            self.post_init()

        def _init_weights(self, module):
            pass

        def forward(self, x, labels):
            out = self.line(x)
            return {"loss": torch.nn.functional.cross_entropy(out, labels),
                    "logits": out}

    x, y = torch_points()
    data = [{"x": a, "labels": b} for a, b in zip(x, y)]
    trainer = Trainer(
        Line(PretrainedConfig()),
        TrainingArguments(
            "out", num_train_epochs=EPOCHS, report_to=[report_to],
            per_device_train_batch_size=20, eval_strategy="epoch",
            logging_strategy="epoch", save_strategy="epoch", learning_rate=rate,
            use_cpu=True),
        train_dataset=data, eval_dataset=data[:50],
        compute_metrics=lambda p: {"mean": float(p.predictions.mean())})
    trainer.train()
    print(trainer.evaluate())


def wandb_transformers():
    import wandb
    wandb_begin()
    transformers("wandb", wandb.config.lr)
    wandb.finish()


def wandb_transformers_alone():
    """Trainer begins the run, and nobody ends it."""
    transformers("wandb", 0.25)


def tensorboard_transformers():
    transformers("tensorboard", LR)


def mlflow_transformers():
    transformers("mlflow", LR)


def lightning(logger, rate):
    import lightning.pytorch as L
    import torch

    class Line(L.LightningModule):
        def __init__(self, rate):
            super().__init__()
            self.save_hyperparameters()
            self.line = torch.nn.Linear(2, 2)

        def loss(self, batch):
            return torch.nn.functional.cross_entropy(self.line(batch[0]), batch[1])

        def training_step(self, batch, i):
            loss = self.loss(batch)
            self.log("train_loss", loss, on_epoch=True, on_step=True)
            return loss

        def validation_step(self, batch, i):
            self.log("val_loss", self.loss(batch))

        def test_step(self, batch, i):
            self.log("test_loss", self.loss(batch))

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=self.hparams.rate)

    data = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(*torch_points()), batch_size=20)
    trainer = L.Trainer(accelerator="cpu", max_epochs=EPOCHS, log_every_n_steps=2,
                        logger=logger, callbacks=[
                            L.callbacks.LearningRateMonitor("epoch")])
    model = Line(rate)
    trainer.fit(model, data, data)
    trainer.test(model, data)


def wandb_lightning():
    from lightning.pytorch.loggers import WandbLogger
    logger = WandbLogger(project="demo", name="a", log_model=True,
                         config={"lr": LR})
    lightning(logger, logger.experiment.config.lr)


def wandb_lightning_begun():
    from lightning.pytorch.loggers import WandbLogger
    run = wandb_begin()
    lightning(WandbLogger(), run.config.lr)


def tensorboard_lightning():
    from lightning.pytorch.loggers import TensorBoardLogger
    lightning(TensorBoardLogger("logs", name="a", default_hp_metric=False), LR)


def mlflow_lightning():
    from lightning.pytorch.loggers import MLFlowLogger
    lightning(MLFlowLogger(experiment_name="demo", run_name="a", log_model=True,
                           tracking_uri=os.environ.get("MLFLOW_TRACKING_URI")),
              LR)


def accelerate(log_with, rate):
    import torch
    from accelerate import Accelerator
    accelerator = Accelerator(cpu=True, log_with=log_with, project_dir="out")
    accelerator.init_trackers("demo", config={"lr": LR, "name": "a"})
    if rate is None:
        rate = accelerator.get_tracker("wandb", unwrap=True).config["lr"]
    x, y = torch_points()
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    model, optimizer = accelerator.prepare(model, optimizer)
    for step in range(EPOCHS):
        loss = torch.nn.functional.cross_entropy(model(x), y)
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        accelerator.log({"loss": loss.item(), "half": step / 2}, step=step)
    accelerator.log({"last": float(loss)}, step=EPOCHS)
    accelerator.end_training()


def wandb_accelerate():
    accelerate("wandb", None)


def tensorboard_accelerate():
    accelerate("tensorboard", LR)


def mlflow_accelerate():
    accelerate("mlflow", LR)


def skorch(rate, logger):
    import torch
    from skorch import NeuralNetClassifier
    torch_points()

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.line = torch.nn.Linear(2, 2)

        def forward(self, x):
            return torch.softmax(self.line(x), -1)

    x, y = numpy_points()
    NeuralNetClassifier(Net, criterion=torch.nn.NLLLoss, lr=rate, batch_size=20,
                        max_epochs=EPOCHS, callbacks=[logger]).fit(x, y)


def wandb_skorch():
    from skorch.callbacks import WandbLogger
    run = wandb_begin()
    skorch(run.config.lr, WandbLogger(run))


def tensorboard_skorch():
    from skorch.callbacks import TensorBoard
    from torch.utils.tensorboard import SummaryWriter
    skorch(LR, TensorBoard(SummaryWriter("logs")))


def mlflow_skorch():
    import mlflow
    from skorch.callbacks import MlflowLogger
    with mlflow.start_run():
        skorch(LR, MlflowLogger())


def ignite(rate, logger):
    import torch
    from ignite.engine import (Events, create_supervised_evaluator,
                               create_supervised_trainer)
    from ignite.handlers import global_step_from_engine
    from ignite.metrics import Accuracy, Loss
    data = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(*torch_points()), batch_size=20)
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    of = torch.nn.functional.cross_entropy
    trainer = create_supervised_trainer(model, optimizer, of)
    evaluator = create_supervised_evaluator(
        model, metrics={"accuracy": Accuracy(), "nll": Loss(of)})
    logger.attach_output_handler(
        trainer, event_name=Events.ITERATION_COMPLETED(every=2), tag="training",
        output_transform=lambda loss: {"loss": loss})
    logger.attach_output_handler(
        evaluator, event_name=Events.EPOCH_COMPLETED, tag="validation",
        metric_names=["nll", "accuracy"],
        global_step_transform=global_step_from_engine(
            trainer, Events.ITERATION_COMPLETED))
    logger.attach_opt_params_handler(
        trainer, event_name=Events.ITERATION_STARTED(every=4), optimizer=optimizer)
    trainer.add_event_handler(Events.EPOCH_COMPLETED,
                              lambda engine: evaluator.run(data))
    trainer.run(data, max_epochs=EPOCHS)
    logger.close()


def wandb_ignite():
    from ignite.handlers.wandb_logger import WandBLogger
    logger = WandBLogger(project="demo", name="a", config={"lr": LR},
                         tags=["ignite"])
    ignite(logger.config.lr, logger)


def tensorboard_ignite():
    from ignite.handlers.tensorboard_logger import TensorboardLogger
    ignite(LR, TensorboardLogger(log_dir="logs"))


def mlflow_ignite():
    from ignite.handlers.mlflow_logger import MLflowLogger
    logger = MLflowLogger()
    logger.log_params({"lr": LR})
    ignite(LR, logger)


def wandb_fastai():
    import torch
    from fastai.callback.wandb import WandbCallback
    from fastai.data.core import DataLoaders
    from fastai.data.load import DataLoader
    from fastai.learner import Learner
    from fastai.metrics import accuracy
    run = wandb_begin()
    loader = DataLoader(torch.utils.data.TensorDataset(*torch_points()), bs=20,
                        num_workers=0)
    Learner(DataLoaders(loader, loader), torch.nn.Linear(2, 2),
            loss_func=torch.nn.functional.cross_entropy, lr=run.config.lr,
            metrics=accuracy, cbs=WandbCallback(log_preds=False)).fit(EPOCHS)
    run.finish()


def wandb_xgboost():
    import xgboost
    from wandb.integration.xgboost import WandbCallback
    run = wandb_begin()
    x, y = numpy_points()
    data = xgboost.DMatrix(x, y)
    xgboost.train({"objective": "binary:logistic", "eta": run.config.lr,
                   "eval_metric": ["logloss", "error"]}, data, 5,
                  evals=[(data, "train"), (data, "eval")],
                  early_stopping_rounds=3, callbacks=[WandbCallback()])
    run.finish()


def wandb_lightgbm():
    import lightgbm
    import wandb
    from wandb.integration.lightgbm import log_summary, wandb_callback
    wandb_begin()
    x, y = numpy_points()
    data = lightgbm.Dataset(x, y)
    model = lightgbm.train(
        {"objective": "binary", "learning_rate": wandb.config.lr, "verbose": -1,
         "metric": ["binary_logloss", "auc"], "num_threads": 1}, data, 5,
        valid_sets=[data], valid_names=["fit"], callbacks=[wandb_callback()])
    log_summary(model)
    wandb.finish()


def wandb_catboost():
    import catboost
    from wandb.integration.catboost import WandbCallback, log_summary
    run = wandb_begin()
    x, y = numpy_points()
    model = catboost.CatBoostClassifier(
        iterations=5, learning_rate=run.config.lr, verbose=False, thread_count=1,
        custom_metric=["Accuracy"])
    model.fit(x, y, eval_set=(x, y), callbacks=[WandbCallback()])
    log_summary(model)
    run.finish()


def wandb_sb3():
    import gymnasium
    from stable_baselines3 import PPO
    from stable_baselines3.common.monitor import Monitor
    from wandb.integration.sb3 import WandbCallback
    run = wandb_begin(sync_tensorboard=True, monitor_gym=True, save_code=True)
    torch_points()
    env = Monitor(gymnasium.make("CartPole-v1"))
    model = PPO("MlpPolicy", env, n_steps=64, n_epochs=2, seed=1, device="cpu",
                learning_rate=run.config.lr / 100, tensorboard_log="runs",
                policy_kwargs={"net_arch": [8]})
    model.learn(64 * EPOCHS, log_interval=1, callback=WandbCallback(
        model_save_path="models", gradient_save_freq=100))
    run.finish()


def tensorboard_sb3():
    import gymnasium
    from stable_baselines3 import A2C
    torch_points()
    A2C("MlpPolicy", gymnasium.make("CartPole-v1"), seed=1, device="cpu",
        learning_rate=LR / 100, tensorboard_log="logs", n_steps=64,
        policy_kwargs={"net_arch": [8]}).learn(64 * EPOCHS, log_interval=1)


def wandb_writer(module):
    import importlib
    run = wandb_begin(sync_tensorboard=True)
    writer = importlib.import_module(module).SummaryWriter("runs/one")
    for step in range(EPOCHS):
        writer.add_scalar("loss", run.config.lr / (step + 1), step)
        writer.add_scalar("val/acc", step / 8, step)
        writer.add_text("note", "a text", step)
        writer.add_histogram("h", numpy_points()[0], step)
    writer.close()
    run.finish()


def wandb_writers(patched=False):
    """The folder of a writer comes before its names."""
    import wandb
    from torch.utils.tensorboard import SummaryWriter
    if patched:
        wandb.tensorboard.patch(root_logdir="runs")
    run = wandb_begin(sync_tensorboard=not patched)
    writers = [SummaryWriter("runs/" + name) for name in ("train", "val/sub")]
    for step in range(EPOCHS):
        for writer in writers:
            writer.add_scalar("loss", run.config.lr / (step + 1), step)
    for writer in writers:
        writer.close()
    run.finish()


def wandb_writers_patched():
    wandb_writers(patched=True)


def wandb_writer_torch():
    wandb_writer("torch.utils.tensorboard")


def wandb_writer_x():
    wandb_writer("tensorboardX")


def wandb_keras(**how):
    from wandb.integration.keras import WandbMetricsLogger
    import keras
    run = wandb_begin()
    keras.utils.set_random_seed(1)
    x, y = numpy_points()
    model = keras.Sequential([keras.layers.Dense(2, activation="softmax")])
    model.compile(keras.optimizers.SGD(run.config.lr),
                  "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x, y, 20, EPOCHS, validation_data=(x, y), verbose=0,
              callbacks=[WandbMetricsLogger(**how)])
    run.finish()


def wandb_keras_batch():
    wandb_keras(log_freq=2)


def mlflow_xgboost_autolog():
    import mlflow
    mlflow.autolog()
    import xgboost
    x, y = numpy_points()
    data = xgboost.DMatrix(x, y)
    xgboost.train({"objective": "binary:logistic", "eta": LR,
                   "eval_metric": ["logloss", "error@0.5"]}, data, 5,
                  evals=[(data, "train"), (data, "eval")])


def mlflow_lightgbm_autolog():
    import lightgbm
    import mlflow
    mlflow.lightgbm.autolog()
    x, y = numpy_points()
    with mlflow.start_run():
        lightgbm.LGBMClassifier(learning_rate=LR, n_estimators=5, verbose=-1).fit(
            x, y, eval_set=[(x, y)], eval_metric=["logloss", "auc"])


def mlflow_keras_autolog():
    import keras
    import mlflow
    mlflow.keras.autolog(log_models=False)
    keras.utils.set_random_seed(1)
    x, y = numpy_points()
    model = keras.Sequential([keras.layers.Dense(2, activation="softmax")])
    model.compile(keras.optimizers.SGD(LR), "sparse_categorical_crossentropy",
                  metrics=["accuracy"])
    model.fit(x, y, batch_size=20, epochs=EPOCHS, validation_data=(x, y), verbose=0)


def mlflow_keras():
    import keras
    import mlflow
    keras.utils.set_random_seed(1)
    x, y = numpy_points()
    model = keras.Sequential([keras.layers.Dense(2, activation="softmax")])
    model.compile(keras.optimizers.SGD(LR), "sparse_categorical_crossentropy",
                  metrics=["accuracy"])
    with mlflow.start_run():
        model.fit(x, y, 20, EPOCHS, validation_data=(x, y), verbose=0,
                  callbacks=[mlflow.keras.MlflowCallback()])
        model.evaluate(x, y)


def wandb_ultralytics():
    from PIL import Image
    from ultralytics import YOLO, settings
    settings.update({"wandb": True, "mlflow": False, "tensorboard": False})
    run = wandb_begin()
    here = os.path.abspath(".")
    for part in "train", "val":
        for kind in "images", "labels":
            os.makedirs(os.path.join("data", kind, part), exist_ok=True)
        for i in range(8):
            image = Image.new("RGB", (32, 32), "black")
            image.paste((255, 0, 0), (i + 4, i + 4, i + 14, i + 14))
            image.save(f"data/images/{part}/{i}.png")
            with open(f"data/labels/{part}/{i}.txt", "w") as label:
                label.write(f"0 {(i + 9) / 32} {(i + 9) / 32} 0.3 0.3\n")
    with open("data.yaml", "w") as file:
        file.write(f"path: {here}/data\ntrain: images/train\nval: images/val\n"
                   "names:\n  0: square\n")
    YOLO("yolov8n.yaml").train(
        data="data.yaml", epochs=2, imgsz=32, batch=4, workers=0, device="cpu",
        plots=False, project="runs", name="a", pretrained=False,
        optimizer="SGD", lr0=run.config.lr / 100)


def wandb_records(path):
    """The records of a file of wandb: blocks as those of LevelDB's log."""
    from wandb.proto import wandb_internal_pb2
    with open(path, "rb") as file:
        data = file.read()
    at, parts = 7, b""
    while at + 7 <= len(data):
        left = 32768 - at % 32768
        if left < 7:
            at += left
            continue
        size, kind = struct.unpack("<HB", data[at + 4:at + 7])
        parts += data[at + 7:at + 7 + size]
        at += 7 + size
        if kind in (1, 4):  # whole, or the last part
            record = wandb_internal_pb2.Record()
            record.ParseFromString(parts)
            parts = b""
            yield record


def wandb_numbers(items):
    """Numbers, without those that belong to a table or an image."""
    def flat(name, value):
        if isinstance(value, dict):
            for k, v in value.items():
                yield from flat(f"{name}.{k}", v)
        else:
            yield name, value
    found = {}
    for item in items:
        name = ".".join(item.nested_key) or item.key
        if not name.startswith("_"):
            found.update(flat(name, json.loads(item.value_json)))
    media = tuple(name[:-len("_type")] for name in found
                  if name.endswith("._type"))
    for name, value in found.items():
        if not name.startswith(media) and (
                isinstance(value, (int, float)) or value in ("NaN", "Infinity")):
            yield name, float(value)


def wandb_kept():
    """Of a metric without a step of its own, reports are numbered from 1."""
    curves, steps, seen, given, summary = {}, [], {}, GIVEN, {}
    for path in sorted(glob.glob("**/wandb/*run-*/run-*.wandb", recursive=True),
                       key=os.path.getmtime):
        for record in wandb_records(path):
            if record.HasField("metric") and record.metric.step_metric:
                steps.append((record.metric.name or record.metric.glob_name,
                              record.metric.step_metric))
            summary.update(wandb_numbers(  # others follow from the history
                i for i in record.summary.update if i.key))
            row = dict(wandb_numbers(record.history.item))
            seen.update(row)
            for name, value in row.items():
                curve = curves.setdefault(name, {})
                at = record.history.step.num if given else len(curve) + 1
                if "global_step" in row and not steps and SYNCED:
                    at = row["global_step"]
                for pattern, by in steps:
                    if by != name and fnmatch.fnmatchcase(name, pattern):
                        at = seen.get(by, at)
                curve[int(at)] = value
    for name, value in summary.items():
        curve = curves.setdefault(name, {})
        if not curve or list(curve.values())[-1] != value:
            at = max(curve, default=0) + 1
            for pattern, by in steps:
                if by != name and fnmatch.fnmatchcase(name, pattern):
                    at = seen.get(by, at)
            curve[int(at)] = value
    if SYNCED:
        curves.pop("global_step", None)
    return {n: sorted(map(list, c.items())) for n, c in curves.items()}


def mlflow_kept():
    import mlflow
    client = mlflow.MlflowClient()
    curves = {}
    for experiment in client.search_experiments():
        for run in client.search_runs([experiment.experiment_id]):
            for name in run.data.metrics:
                found = client.get_metric_history(run.info.run_id, name)
                curves[name] = {m.step: m.value for m in found}
                if len(found) > 1 and len(curves[name]) == 1:  # without steps
                    curves[name] = {i + 1: m.value for i, m in enumerate(found)}
    return {n: sorted(map(list, c.items())) for n, c in curves.items()}


def tensorboard_kept():
    """Of all folders: a writer in the place of the package has one."""
    from tensorboard.backend.event_processing import event_accumulator
    curves = {}
    for path in glob.glob("**/events.out.tfevents.*", recursive=True):
        found = event_accumulator.EventAccumulator(
            path, size_guidance={event_accumulator.SCALARS: 0})
        found.Reload()
        for name in found.Tags()["scalars"]:
            curves.setdefault(name, {}).update(
                (e.step, e.value) for e in found.Scalars(name))
    return {n: sorted(map(list, c.items())) for n, c in curves.items()}


PROGRAM = sys.argv[1]
# Programs that give wandb.log a step, and those whose events are taken.
GIVEN = PROGRAM in ("wandb_accelerate", "wandb_ignite", "wandb_fastai")
SYNCED = PROGRAM == "wandb_sb3" or PROGRAM.startswith("wandb_writer")

if sys.argv[2:] == ["kept"]:
    reader.history(globals()[PROGRAM.partition("_")[0] + "_kept"]())
else:
    globals()[PROGRAM]()
