"""A program of Lightning with its progress bar and CSVLogger."""

import os
import sys

import lightning.pytorch as L
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger

import reader


class Line(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.line = torch.nn.Linear(2, 1)

    def loss(self, batch):
        return torch.nn.functional.binary_cross_entropy_with_logits(
            self.line(batch[0]).squeeze(1), batch[1])

    def training_step(self, batch, i):
        reader.wait()
        if i == 3:
            reader.cut(self.current_epoch)
        loss = self.loss(batch)
        self.log("train_loss", loss, on_epoch=True, on_step=False, prog_bar=True)
        return loss

    def validation_step(self, batch, i):
        self.log("val_loss", self.loss(batch), prog_bar=True)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.5)


class Remember(L.Callback):
    """Lightning's own callback_metrics of each epoch."""

    def on_train_epoch_end(self, trainer, module):
        done = reader.load("epochs.json", {})
        for name, value in trainer.callback_metrics.items():
            done.setdefault(name, {})[trainer.global_step - 1] = float(value)
        reader.save("epochs.json", done)


torch.manual_seed(1)
torch.set_num_threads(1)
x, y = (torch.tensor(v, dtype=torch.float32) for v in reader.points())
data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=20)
trainer = L.Trainer(
    accelerator="cpu", max_epochs=reader.epochs, log_every_n_steps=1,
    logger=CSVLogger(os.environ.get("LOGS", "logs"), name="run"),
    callbacks=[ModelCheckpoint(reader.saves, save_last=True), Remember()],
    enable_model_summary=False)
try:
    trainer.fit(Line(), data, data, ckpt_path=reader.saved("last.ckpt"))
except SystemExit:  # Lightning ends so, with status 0, at SIGTERM
    sys.exit(1)
reader.history(reader.load("epochs.json", {}))
