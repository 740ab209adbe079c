"""Programs with bars of tqdm; KIND says which: over the epochs with a postfix
(epochs), one for the batches of each epoch (batches), or both (nested)."""

import os

from tqdm import tqdm

import reader

kind = os.environ.get("KIND", "epochs")
first = reader.load("epoch.json", 0) + 1
done = reader.load("curve.json", {"loss": {}, "val_loss": {}})


def loss(epoch, batch):
    return round(1 / (epoch + batch / 10), 4)


def end(epoch):
    values = {"loss": loss(epoch, 9), "val_loss": loss(epoch, 12)}
    for name, value in values.items():
        done[name][epoch] = value
    reader.save("curve.json", done)
    reader.save("epoch.json", epoch)
    return values


epochs = range(first, reader.epochs + 1)
if kind != "batches":
    epochs = tqdm(epochs, desc="Training", initial=first - 1, total=reader.epochs)
for epoch in epochs:
    batches = range(10)
    if kind != "epochs":
        batches = tqdm(batches, desc=f"Epoch {epoch}/{reader.epochs}",
                       leave=kind == "batches")
    for batch in batches:
        reader.wait()
        if batch == 3:
            reader.cut(epoch)
        if kind != "epochs":
            batches.set_postfix(loss=loss(epoch, batch))
        if kind == "batches" and batch == 9:
            batches.set_postfix(**end(epoch))
    if kind != "batches":
        epochs.set_postfix(**end(epoch))
reader.history(done)
