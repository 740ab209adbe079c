#!/usr/bin/env python3
"""Writes the files of this folder with the libraries that they stand for.

    python3 -m venv v
    v/bin/pip install tensorboardX tensorboard lightgbm xgboost fasttext-wheel
    KERAS_BACKEND=jax v/bin/pip install keras jax
    v/bin/python tests/data/metrics/record.py [FILE ...]

CatBoost, scikit-learn, skorch, spaCy, MMEngine, stable-baselines3, transformers and
tqdm: standard output of tests/peers/reader_NAME.py.  A file whose library is missing is left as it is.  The tests use the recorded
files; run this again when a library changes what it writes.

The scripts of tests/peers wrote others: reader_catboost.py catboost-*.tsv,
reader_mmengine.py mmengine.json (scalars.json), reader_sb3.py sb3.csv (progress.csv)
and sb3-monitor.csv, reader_tensorboard.py hparams*.tfevents, reader_ultralytics.py
ultralytics.csv (results.csv).
"""
import contextlib
import os
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True


def place(name):
    return os.path.join(HERE, name)


def take_events(folder, name):
    """The one event file below a folder; the corpus of the fuzzer has it too."""
    found = [os.path.join(at, f) for at, _, files in os.walk(folder)
             for f in files if "tfevents" in f]
    assert len(found) == 1, found
    shutil.copyfile(found[0], place(name))
    corpus = os.path.join(HERE, "..", "..", "fuzz", "corpus", "events")
    shutil.copyfile(found[0], os.path.join(corpus, name))


def events_tensorboardx():
    """SummaryWriter of tensorboardX: simple_value; a histogram and a text."""
    from tensorboardX import SummaryWriter
    with tempfile.TemporaryDirectory() as folder:
        with SummaryWriter(folder, write_to_disk=True) as w:
            for step in range(5):
                now = 1700000000.25 + step
                w.add_scalar("val/loss", 1.0 / (1 + step), step, walltime=now)
                w.add_scalar("acc top 1", 0.5 + 0.1 * step, step, walltime=now)
            w.add_histogram("weights", [1.0, 2.0, 2.0, 3.0], 4,
                            walltime=1700000005.0)
            w.add_text("note", "a text", 4, walltime=1700000005.0)
            w.add_scalar("val/loss", float("nan"), 5, walltime=1700000006.0)
        take_events(folder, "tensorboardx.tfevents")


def events_tensor():
    """Summaries as TF 2 and Keras write them: tensors with metadata."""
    from tensorboard.compat.proto import (event_pb2, summary_pb2, tensor_pb2,
                                          tensor_shape_pb2, types_pb2)
    from tensorboard.plugins.scalar import metadata
    from tensorboard.summary.writer.event_file_writer import EventFileWriter
    from tensorboard.util import tensor_util
    import numpy
    with tempfile.TemporaryDirectory() as folder:
        writer = EventFileWriter(folder)

        def write(tag, step, tensor):
            value = summary_pb2.Summary.Value(
                tag=tag, tensor=tensor,
                metadata=metadata.create_summary_metadata("", ""))
            writer.add_event(event_pb2.Event(
                wall_time=1700000100.5 + step, step=step,
                summary=summary_pb2.Summary(value=[value])))

        for step in range(3):
            write("epoch_loss", step, tensor_util.make_tensor_proto(
                numpy.float32(0.5 / (1 + step))))
        scalar = tensor_shape_pb2.TensorShapeProto()
        write("content", 7, tensor_pb2.TensorProto(
            dtype=types_pb2.DT_FLOAT, tensor_shape=scalar,
            tensor_content=struct.pack("<f", 0.25)))
        write("double", 8, tensor_pb2.TensorProto(
            dtype=types_pb2.DT_DOUBLE, tensor_shape=scalar,
            double_val=[0.125]))
        write("whole", 9, tensor_pb2.TensorProto(
            dtype=types_pb2.DT_INT64, tensor_shape=scalar, int64_val=[-3]))
        write("many", 10, tensor_util.make_tensor_proto(
            numpy.array([1.0, 2.0], dtype=numpy.float32)))
        writer.close()
        take_events(folder, "tensor.tfevents")


def data():
    import numpy
    rng = numpy.random.default_rng(1)
    x = rng.normal(size=(200, 4))
    y = (x[:, 0] + 0.1 * rng.normal(size=200) > 0).astype(float)
    return x, y


@contextlib.contextmanager
def output_to(name):
    """What this process and its children print, into a file."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [os.dup(1), os.dup(2)]
    with open(place(name), "wb") as f:
        os.dup2(f.fileno(), 1)
        os.dup2(f.fileno(), 2)
        try:
            yield
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os.dup2(kept[0], 1)
            os.dup2(kept[1], 2)


def log_lightgbm():
    import lightgbm
    x, y = data()
    train = lightgbm.Dataset(x[:150], y[:150])
    valid = lightgbm.Dataset(x[150:], y[150:], reference=train)
    with output_to("lightgbm.txt"):
        lightgbm.train(
            {"objective": "binary", "metric": ["binary_logloss", "auc"],
             "num_leaves": 4}, train, 3, valid_sets=[train, valid],
            valid_names=["train", "valid"],
            callbacks=[lightgbm.log_evaluation(1)])


def log_xgboost():
    import xgboost
    x, y = data()
    train = xgboost.DMatrix(x[:150], y[:150])
    valid = xgboost.DMatrix(x[150:], y[150:])
    with output_to("xgboost.txt"):
        xgboost.train({"objective": "binary:logistic",
                       "eval_metric": ["logloss", "error"]}, train, 3,
                      evals=[(train, "train"), (valid, "eval")])


def log_fasttext():
    import fasttext
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "train.txt")
        with open(path, "w") as f:
            for i in range(2000):
                f.write("__label__a good fine nice\n__label__b bad worse\n")
        with output_to("fasttext.txt"):
            fasttext.train_supervised(path, epoch=5, thread=1)


KERAS = """
import numpy, keras, sys
keras.utils.set_random_seed(1)
rng = numpy.random.default_rng(1)
x = rng.normal(size=(256, 4)).astype("float32")
y = (x[:, 0] > 0).astype("float32")
model = keras.Sequential([keras.layers.Dense(4, activation="relu"),
                          keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
callbacks = []
if len(sys.argv) > 2:
    callbacks = [keras.callbacks.CSVLogger(sys.argv[2])]
model.fit(x, y, epochs=3, validation_split=0.25, verbose=sys.argv[1],
          callbacks=callbacks)
"""


def keras(verbose, *more):
    env = dict(os.environ, KERAS_BACKEND="jax")
    return subprocess.run([sys.executable, "-c", KERAS.replace(
        "sys.argv[1]", str(verbose)), "x", *more], env=env, check=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def log_keras():
    import keras as _
    for verbose in (1, 2):
        out = keras(verbose)
        with open(place("keras-%d.txt" % verbose), "wb") as f:
            f.write(out)


def csv_keras():
    import keras as _
    keras(0, place("keras.csv"))


RECORDERS = (events_tensorboardx, events_tensor, log_lightgbm, log_xgboost,
             log_fasttext, log_keras, csv_keras)

if __name__ == "__main__":
    for recorder in RECORDERS:
        if len(sys.argv) > 1 and recorder.__name__ not in sys.argv[1:]:
            continue
        try:
            recorder()
            print("recorded:", recorder.__name__)
        except ImportError as why:
            print("left:", recorder.__name__, why)
