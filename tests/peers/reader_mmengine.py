"""A program of MMEngine's Runner with the usual lines of its log."""

import os

# Its checkpoints hold objects that torch 2.6 and later refuse otherwise.
os.environ["TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"] = "1"
import torch
from mmengine.evaluator import BaseMetric
from mmengine.hooks import Hook
from mmengine.model import BaseModel
from mmengine.runner import Runner

import reader


class Line(BaseModel):
    def __init__(self):
        super().__init__()
        self.line = torch.nn.Linear(2, 1)

    def forward(self, x, y, mode):
        out = self.line(x).squeeze(1)
        if mode == "loss":
            return {"loss": torch.nn.functional.binary_cross_entropy_with_logits(
                out, y)}
        return out, y


class Accuracy(BaseMetric):
    def process(self, batch, samples):
        out, y = samples
        self.results.append({"n": len(y), "right": int(((out > 0) == (y > 0.5)).sum())})

    def compute_metrics(self, results):
        return {"accuracy": sum(r["right"] for r in results)
                / sum(r["n"] for r in results)}


class Cut(Hook):
    def after_train_iter(self, runner, batch_idx, data_batch=None, outputs=None):
        reader.wait()
        if batch_idx == 5:
            reader.cut(runner.epoch + 1)


class Remember(Hook):
    """What the runner's message hub holds after each validation."""

    priority = "VERY_LOW"

    def after_val_epoch(self, runner, metrics=None):
        done = reader.load("epochs.json", {})
        for name, value in (metrics or {}).items():
            done.setdefault(name, {})[runner.epoch] = float(value)
        reader.save("epochs.json", done)


torch.manual_seed(1)
torch.set_num_threads(1)
x, y = (torch.tensor(v, dtype=torch.float32) for v in reader.points())
loader = {"batch_size": 20, "dataset": torch.utils.data.TensorDataset(x, y),
          "sampler": {"type": "DefaultSampler", "shuffle": True},
          "collate_fn": {"type": "default_collate"}}
Runner(Line(), os.environ.get("WORK", "work"), train_dataloader=loader,
       val_dataloader={**loader, "sampler": {"type": "DefaultSampler",
                                             "shuffle": False}},
       val_evaluator=[Accuracy()], val_cfg={},
       train_cfg={"by_epoch": True, "max_epochs": reader.epochs},
       optim_wrapper={"optimizer": {"type": "SGD", "lr": 0.5}},
       default_hooks={"logger": {"type": "LoggerHook", "interval": 5},
                      "checkpoint": {"type": "CheckpointHook", "interval": 1}},
       custom_hooks=[Cut(), Remember()], resume=True).train()
reader.history(reader.load("epochs.json", {}))
