"""A program of skorch: its table; the checkpoint continues with partial_fit."""

import numpy as np
import torch
from skorch import NeuralNetClassifier
from skorch.callbacks import Callback, Checkpoint, EpochScoring, LoadInitState

import reader


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.line = torch.nn.Linear(2, 2)

    def forward(self, x):
        return torch.softmax(self.line(x), -1)


class Cut(Callback):
    def on_batch_end(self, net, **kwargs):
        reader.wait()
        if len(net.history[-1]["batches"]) == 3:
            reader.cut(len(net.history))


torch.manual_seed(1)
torch.set_num_threads(1)
x, y = reader.points()
x, y = np.array(x, "float32"), np.array(y)
checkpoint = Checkpoint(dirname=reader.saves, monitor=None)
net = NeuralNetClassifier(
    Net, criterion=torch.nn.NLLLoss, lr=0.1, batch_size=20,
    callbacks=[EpochScoring("accuracy", name="train_acc", on_train=True,
                            lower_is_better=False), Cut(), checkpoint])
net.initialize()
if reader.saved("params.pt"):
    net.load_params(checkpoint=checkpoint)
net.partial_fit(x, y, epochs=reader.epochs - len(net.history))
reader.history({name: {row["epoch"]: float(row[name]) for row in net.history}
                for name in ("train_loss", "train_acc", "valid_loss", "valid_acc")})
