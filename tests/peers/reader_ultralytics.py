"""A program of Ultralytics on a few images that it makes; results.csv."""

import os
import random

os.environ.setdefault("YOLO_OFFLINE", "true")
from PIL import Image
from ultralytics import YOLO

import reader

here = os.path.abspath(".")
run = os.path.join(here, "runs", "train")
last = os.path.join(run, "weights", "last.pt")
chance = random.Random(1)
for part in ("train", "val"):
    for kind in ("images", "labels"):
        os.makedirs(os.path.join("data", kind, part), exist_ok=True)
    for i in range(8):
        image = Image.new("RGB", (32, 32), "black")
        at = chance.randrange(4, 16)
        image.paste((255, 0, 0), (at, at, at + 10, at + 10))
        image.save(f"data/images/{part}/{i}.png")
        with open(f"data/labels/{part}/{i}.txt", "w") as label:
            middle = (at + 5) / 32
            label.write(f"0 {middle} {middle} {10 / 32} {10 / 32}\n")
with open("data.yaml", "w") as file:
    file.write(f"path: {here}/data\ntrain: images/train\nval: images/val\n"
               "names:\n  0: square\n")


def batch(trainer):
    reader.wait()
    reader.cut(trainer.epoch + 1)


def remember(trainer):
    if trainer.epoch >= reader.epochs:
        return  # the last validation, of the best weights
    done = reader.load("epochs.json", {})
    values = {**trainer.label_loss_items(trainer.tloss, prefix="train"),
              **trainer.metrics}
    for name, value in values.items():
        done.setdefault(name, {})[trainer.epoch + 1] = float(value)
    reader.save("epochs.json", done)


resumed = os.path.exists(last)
model = YOLO(last if resumed else "yolov8n.yaml")
model.add_callback("on_train_batch_end", batch)
model.add_callback("on_fit_epoch_end", remember)
model.train(data="data.yaml", epochs=reader.epochs, imgsz=32, batch=4, workers=0,
            device="cpu", plots=False, project=os.path.join(here, "runs"),
            name="train", exist_ok=True, resume=resumed, pretrained=False)
reader.history(reader.load("epochs.json", {}))
