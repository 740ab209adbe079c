"""A program of Keras with the callback of hpotune.py."""

import os
import time

import keras
import numpy

import hpotune

slow = float(os.environ.get("SLOW", "0"))


class Slow(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        time.sleep(slow)


keras.utils.set_random_seed(1)
model = keras.Sequential([keras.layers.Input((1,)), keras.layers.Dense(1)])
model.compile(keras.optimizers.SGD(hpotune.params()["lr"]), loss="mse")
x = numpy.linspace(0, 1, 64).reshape(-1, 1)
model.fit(x, 2 * x, epochs=10, shuffle=False, validation_data=(x, 2 * x),
          verbose=0, callbacks=[
              Slow(), hpotune.KerasCallback(), keras.callbacks.BackupAndRestore(
                  hpotune.checkpoint_dir(), delete_checkpoint=False)])
