"""A program of Lightning with the callback of hpotune.py."""

import os
import time

import lightning.pytorch as L
import torch

import hpotune

slow = float(os.environ.get("SLOW", "0"))


class Line(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.line = torch.nn.Linear(1, 1)

    def loss(self, batch):
        return ((self.line(batch[0]) - batch[1]) ** 2).mean()

    def training_step(self, batch, i):
        time.sleep(slow if i == 0 else 0)
        loss = self.loss(batch)
        self.log("loss", loss, on_epoch=True, on_step=False)
        return loss

    def validation_step(self, batch, i):
        self.log("val_loss", self.loss(batch))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=hpotune.params()["lr"])


torch.manual_seed(1)
x = torch.linspace(0, 1, 64).reshape(-1, 1)
data = torch.utils.data.DataLoader(
    torch.utils.data.TensorDataset(x, 2 * x), batch_size=16)
callback = hpotune.LightningCallback()
L.Trainer(accelerator="cpu", callbacks=[callback],
          check_val_every_n_epoch=int(os.environ.get("EVERY", "1")),
          enable_checkpointing=False, enable_progress_bar=False, logger=False,
          max_epochs=10).fit(Line(), data, data, ckpt_path=callback.checkpoint)
