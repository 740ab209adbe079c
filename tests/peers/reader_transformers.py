"""A program of transformers' Trainer that evaluates each epoch, and at the end."""

import os

import torch
from transformers import (PretrainedConfig, PreTrainedModel, Trainer,
                          TrainerCallback, TrainingArguments)
from transformers.trainer_utils import get_last_checkpoint

import reader


class Line(PreTrainedModel):
    config_class = PretrainedConfig

    def __init__(self, config):
        super().__init__(config)
        self.line = torch.nn.Linear(2, 1)
        self.post_init()

    def _init_weights(self, module):
        pass

    def forward(self, x, labels):
        out = self.line(x).squeeze(1)
        return {"loss": torch.nn.functional.binary_cross_entropy_with_logits(
            out, labels), "logits": out}


class Cut(TrainerCallback):
    def on_step_end(self, args, state, control, **kwargs):
        reader.wait()
        if state.global_step % 10 == 3:
            reader.cut(state.global_step // 10 + 1)


torch.manual_seed(1)
torch.set_num_threads(1)
x, y = reader.points()
data = [{"x": torch.tensor(a), "labels": torch.tensor(float(b))}
        for a, b in zip(x, y)]
os.makedirs(reader.saves, exist_ok=True)
trainer = Trainer(
    Line(PretrainedConfig()),
    TrainingArguments(
        reader.saves, num_train_epochs=reader.epochs, report_to=[],
        per_device_train_batch_size=20, eval_strategy="epoch",
        save_strategy="epoch", logging_strategy="epoch", learning_rate=0.05,
        save_total_limit=2, use_cpu=True,
        disable_tqdm=os.environ.get("TQDM") == "no"),
    train_dataset=data, eval_dataset=data[:50], callbacks=[Cut()])
trainer.train(resume_from_checkpoint=get_last_checkpoint(reader.saves))
if os.environ.get("EVALUATE", "yes") == "yes":
    print(trainer.evaluate())
curves = {}
for entry in trainer.state.log_history:
    for name in ("loss", "eval_loss"):
        if name in entry:
            curves.setdefault(name, {}).setdefault(round(entry["epoch"]), entry[name])
reader.history(curves)
