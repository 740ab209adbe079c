"""A program of transformers.Trainer with the callback of hpotune.py."""

import os
import time

import torch
import transformers

import hpotune

slow = float(os.environ.get("SLOW", "0"))


class Line(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.line = torch.nn.Linear(1, 1)

    def forward(self, x, labels=None):
        time.sleep(slow / 8)  # four batches and eight evaluations
        y = self.line(x)
        return {"loss": ((y - labels) ** 2).mean(), "logits": y}


torch.manual_seed(1)
data = [{"x": torch.tensor([i / 64]), "labels": torch.tensor([i / 32])}
        for i in range(64)]
folder = hpotune.checkpoint_dir()
args = transformers.TrainingArguments(
    disable_tqdm=True, eval_strategy="epoch",
    learning_rate=hpotune.params()["lr"], logging_strategy="epoch",
    num_train_epochs=10, output_dir=folder, per_device_train_batch_size=16,
    report_to=[], save_strategy="epoch", use_cpu=True)
transformers.Trainer(
    Line(), args, train_dataset=data, eval_dataset=data,
    callbacks=[hpotune.TrainerCallback()]).train(
        resume_from_checkpoint=transformers.trainer_utils.get_last_checkpoint(
            folder))
