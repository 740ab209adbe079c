"""A program of Keras with its usual output; CALLBACKS names callbacks that print."""

import os

os.environ.setdefault("KERAS_BACKEND", "torch")
import keras
import numpy as np

import reader

chosen = os.environ.get("CALLBACKS", "").split("-")
validation = "novalidation" not in chosen
x, y = (np.array(v, "float32") for v in reader.points())


class Slow(keras.callbacks.Callback):
    epoch = 0

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

    def on_train_batch_end(self, batch, logs=None):
        reader.wait()
        if batch == 3:
            reader.cut(self.epoch + 1)


class Note(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print("my note", epoch)


class Save(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        done = reader.load("epochs.json", {})
        for name in ("loss", "accuracy", "val_loss", "val_accuracy"):
            if name in logs:
                done.setdefault(name, {})[epoch + 1] = float(logs[name])
        self.model.save(reader.place("model.keras"))
        reader.save("epochs.json", done)


keras.utils.set_random_seed(1)
if reader.saved("model.keras"):
    model = keras.models.load_model(reader.place("model.keras"))
else:
    model = keras.Sequential([keras.Input((2,)),
                              keras.layers.Dense(4, "relu"),
                              keras.layers.Dense(1, "sigmoid")])
    model.compile(keras.optimizers.Adam(0.02), "binary_crossentropy",
                  metrics=["accuracy"])
first = max((int(e) for e in reader.load("epochs.json", {}).get("loss", {})),
            default=0)
callbacks = [Slow()]
if "checkpoint" in chosen:
    callbacks.append(keras.callbacks.ModelCheckpoint(
        reader.place("best.keras"), verbose=1, save_best_only=True))
if "plateau" in chosen:
    callbacks.append(keras.callbacks.ReduceLROnPlateau(
        "val_loss" if validation else "loss", patience=1, min_delta=1,
        verbose=1))
if "print" in chosen:
    callbacks.append(Note())
if "stop" in chosen:
    callbacks.append(keras.callbacks.EarlyStopping(
        "val_loss" if validation else "loss", patience=2, verbose=1))
if "csv" in chosen:
    callbacks.append(keras.callbacks.CSVLogger("keras.csv", append=first > 0))
callbacks.append(Save())
model.fit(x, y, batch_size=20, epochs=reader.epochs, initial_epoch=first,
          validation_data=(x[:50], y[:50]) if validation else None,
          callbacks=callbacks, verbose=int(os.environ.get("VERBOSE", "1")))
if "evaluate" in chosen:
    model.evaluate(x, y, batch_size=20)
reader.history(reader.load("epochs.json", {}))
