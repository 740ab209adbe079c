#!/bin/sh
# Programs that are written for wandb, MLflow and TensorBoard are trials as they are:
# modules of hpotune in the place of these packages take what is logged as reports.
# The programs are those that tests/peers/shims.t runs with the packages, too.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3 python3

peers=$TOP_SRCDIR/tests/peers
study() { # name shim metric program environment more
	cat >"$1.json" <<END
{ "study": "$1",
  "objective": { "metric": "$3", "goal": "maximize" },
  "parameters": { "lr": { "type": "fixed", "value": 0.75 },
      "epochs": { "type": "fixed", "value": 4 },
      "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "random", "seed": 1 }, "stopping": "none",
  "trial": { "command": ["python3", "$peers/$4"${7-}],
      "shims": ["$2"], "env": { $5 }, "retries": 0 ${6-} },
  "limits": { "trials": 2, "parallel": 1 } }
END
	ok "$1: its trials" "$HPOTUNE" start -q "$1.json" ||
	    diag "$("$HPOTUNE" logs "$1.json" 1 | tail -n 20)"
}
curves() { # study
	sql "$1.db" "SELECT name, group_concat(step || ':' || round(value, 4), ' ')
	    FROM (SELECT * FROM metrics WHERE trial = 2 ORDER BY name, step)
	    GROUP BY name"
}

want='best|1:0.75
last|1:0.0 2:0.0 3:0.0 4:1.0
train.loss|1:1.25 2:0.75 3:0.5833 4:0.5
val_acc|1:-0.25 2:0.25 3:0.4167 4:0.5'
study plain wandb val_acc shim_wandb.py ''
is "$(curves plain)" "$want" 'what wandb.log is given; the parameters come first'
is "$("$HPOTUNE" logs plain.json 2)" 'lr 0.75' 'wandb.config has those of the trial'
study warm wandb val_acc shim_wandb.py '' ', "warm": true'
is "$(curves warm)" "$want" 'the same in a warm start'
study agent wandb val_acc shim_wandb.py '"AGENT": "1"'
is "$(curves agent)" "$want" 'and of the function of an agent, once'
study steps wandb test_acc shim_wandb.py '"MODE": "steps"'
is "$(curves steps)" 'other|0:1.0 10:1.0 20:1.0 30:1.0
test_acc|1:0.5
val_acc|0:0.0 10:0.1 20:0.2 30:0.3' 'steps that the program gives, and its summary'
study defined wandb val_acc shim_wandb.py '"MODE": "defined"'
is "$(curves defined | grep val_acc)" 'val_acc|0:0.1875 1:0.4375 2:0.6875' \
    'the step of a metric is another metric'
study flow mlflow final shim_mlflow.py '' '' ', "--lr={lr}"'
is "$(curves flow)" 'final|3:0.5
loss|0:1.25 1:0.75 2:0.5833 3:0.5
other|0:0.0 1:1.0 2:2.0 3:3.0
val/acc|0:-0.25 1:0.25 2:0.4167 3:0.5' 'what mlflow logs'
want='loss|0:0.5 1:0.3333 2:0.25 3:0.2
val/acc|0:0.0 1:0.5 2:0.6667 3:0.75'
study board tensorboard val/acc shim_tensorboard.py ''
is "$(curves board)" "$want" 'what a writer of tensorboardX adds'
mkdir -p torch/utils/tensorboard
: >torch/__init__.py
: >torch/utils/__init__.py
cat >torch/utils/tensorboard/__init__.py <<'END'
import tensorboard
from .writer import FileWriter, SummaryWriter
from tensorboard.summary.writer.record_writer import RecordWriter
END
study torch tensorboard val/acc shim_tensorboard.py \
    "\"WRITER\": \"torch.utils.tensorboard\", \"PYTHONPATH\": \"$dir\""
is "$(curves torch)" "$want" 'and one of torch, which imports the package first'

# What libraries take from inside of the package, as Lightning and torch do.
cat >torch/utils/tensorboard/summary.py <<'END'
from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
from tensorboard.plugins.custom_scalar import layout_pb2
def hparams(values):
    found = Summary()
    found.hparams["a"].number_value = 1
    data = SummaryMetadata.PluginData(plugin_name="a")
    found.value.extend([Summary.Value(tag="a", metadata=data)])
    return found, layout_pb2.Layout()
END
cat >inside.py <<'END'
from torch.utils.tensorboard import SummaryWriter
from torch.utils.tensorboard.summary import hparams
import tensorboardX.summary
writer = SummaryWriter("runs")
for made in hparams({"a": 1}):
    writer._get_file_writer().add_summary(made)
writer.add_scalar("val/acc", 0.5, 3)
try:
    from tensorboard.backend.event_processing import event_accumulator
except ImportError as e:
    print(e)
END
sed 's/"torch"/"inside"/; s|"[^"]*shim_tensorboard.py"|"inside.py"|' torch.json >inside.json
ok 'inside: its trials' "$HPOTUNE" start -q inside.json ||
    diag "$("$HPOTUNE" logs inside.json 1 | tail -n 20)"
is "$(curves inside)" 'val/acc|3:0.5' 'and what else they take of the package'
is "$("$HPOTUNE" logs inside.json 1)" \
    'hpotune stands in the place of tensorboard, without tensorboard.backend' \
    'files of events are not read, since there are none'

# What is not there says so.
cat >missing.py <<'END'
import importlib.metadata, wandb
print(importlib.metadata.version("wandb"))
wandb.init()
for absent in (lambda: wandb.Api(), lambda: wandb.util.download("a"),
               lambda: wandb.run.use_artifact("a"), lambda: wandb.nothing,
               lambda: wandb.Artifact("a").download()):
    try:
        absent()
    except Exception as e:
        print(type(e).__name__ + ":", e)
for line in ("from wandb.integration.langchain import WandbTracer",
             "import wandb.integration.metaflow",
             "from wandb.integration.torch import OtherCallback"):
    try:
        exec(line)
    except ImportError as e:
        print(e)
try:
    wandb.config.nothing
except AttributeError as e:
    print(e)
wandb.config.lr = 3
print(wandb.config.lr)
wandb.finish()
wandb.log({"a": 1})
END
sed "s|$peers/shim_wandb.py|missing.py|" plain.json >missing.json
sed -i 's/"plain"/"missing"/' missing.json
quietly "$HPOTUNE" start -q missing.json
is "$("$HPOTUNE" logs missing.json 1 | grep -v '^ \|^Traceback')" "0.19.0
Error: hpotune stands in the place of wandb, without wandb.Api
Error: hpotune stands in the place of wandb, without wandb.util.download
Error: hpotune stands in the place of wandb, without run.use_artifact
AttributeError: hpotune stands in the place of wandb, without wandb.nothing
Error: hpotune stands in the place of wandb, without Artifact.download
hpotune stands in the place of wandb, without wandb.integration.langchain
hpotune stands in the place of wandb, without wandb.integration.metaflow
hpotune stands in the place of wandb, without wandb.integration.torch.OtherCallback
'nothing' is neither a parameter of the study nor in the config of the program
0.75
wandb.Error: You must call wandb.init() before it" 'what is missing, and what stays'

program() { # study shim metric, and a program
	cat >"$1.py"
	sed "s|$peers/shim_wandb.py|$1.py|; s/\"plain\"/\"$1\"/
	    s/\"wandb\"/\"$2\"/; s|val_acc|$3|" plain.json >"$1.json"
	ok "$1: its trials" "$HPOTUNE" start -q "$1.json" ||
	    diag "$("$HPOTUNE" logs "$1.json" 1 | tail -n 20)"
}

# What libraries take from the package, and how transformers logs.
program inner wandb eval/loss <<'END'
import sys
import wandb
import wandb.env
import wandb.integration.keras
assert not any(hasattr(m, "__of_inspect__") for m in list(sys.modules.values()))
from wandb.sdk.lib import RunDisabled, telemetry
from wandb.sdk.lib.config_util import ConfigError
from wandb.sdk.wandb_run import Run
from wandb.errors import CommError, term

assert issubclass(ConfigError, wandb.Error) and Run is wandb.Run
assert wandb.AlertLevel.WARN and wandb.env.PROJECT == "WANDB_PROJECT"
assert not isinstance(wandb.init(), RunDisabled)
with telemetry.context(run=wandb.run) as tel:
    tel.feature.some = True
term.termwarn("a text")
wandb.define_metric("train/global_step")
wandb.define_metric("*", step_metric="train/global_step", step_sync=True)
wandb.run._label(code="a")
wandb.plot.line(wandb.Table(data=[]), "a", "b")
with wandb.Artifact("a", type="model").new_file("b") as file:
    file.write(b"")
for step in 5, 10:
    wandb.log({"eval/loss": 1 / step, "train/global_step": step})
wandb.summary["train_loss"] = 0.5
# An epoch of 0.5 is no step; parts of one are numbered.
wandb.define_metric("part", step_metric="epoch")
for i in range(1, 5):
    wandb.log({"part": i, "epoch": i / 2})
run = wandb.run
wandb.finish()
wandb.init().log({"given": 1}, step=3, commit=True)
assert wandb.run.step == 4
END
is "$(curves inner | grep -v '^epoch')" 'eval/loss|5:0.2 10:0.1
given|3:1.0
part|1:1.0 2:2.0 3:3.0 4:4.0
train/global_step|1:5.0 2:10.0
train_loss|10:0.5' 'steps and names as transformers logs them'

# Modules in the place of libraries, as the callbacks know them.
mkdir -p libraries/stable_baselines3/common
cat >libraries/xgboost.py <<'END'
import types
callback = types.SimpleNamespace(TrainingCallback=type("TrainingCallback", (), {}))
def train(params, callbacks=None):
    for epoch in range(2):
        for of in callbacks or ():
            of.after_iteration(None, epoch, {"eval": {"ndcg@1": [9, epoch]}})
END
cat >libraries/keras.py <<'END'
import types
class Callback:
    model = types.SimpleNamespace(optimizer=types.SimpleNamespace(
        learning_rate=0.5, iterations=2))
callbacks = types.SimpleNamespace(Callback=Callback)
class Model:
    def fit(self, x, callbacks=None):
        for of in callbacks or ():
            of.on_epoch_end(x, {"loss": 4})
END
: >libraries/stable_baselines3/__init__.py
: >libraries/stable_baselines3/common/__init__.py
cat >libraries/stable_baselines3/common/callbacks.py <<'END'
class BaseCallback:
    def __init__(self, verbose):
        self.verbose = verbose
END
program callbacks wandb eval-error <<'END'
import collections
import sys
import types
sys.path.insert(0, "libraries")
import wandb
from wandb.integration.catboost import WandbCallback as OfCatboost
from wandb.integration.keras import WandbMetricsLogger, WandbModelCheckpoint
from wandb.integration.lightgbm import log_summary, wandb_callback
from wandb.integration.sb3 import WandbCallback as OfSb3
from wandb.integration.xgboost import WandbCallback

assert wandb.xgboost.WandbCallback is WandbCallback
try:
    WandbCallback()
except wandb.Error as e:
    print(e)
wandb.init()
of = WandbCallback()
for epoch in range(2):
    of.after_iteration(None, epoch, {"eval": {"error": [9, epoch / 2]}})
best = {"best_score": "0.25", "best_iteration": "1"}
of.after_training(types.SimpleNamespace(attr=best.get))
env = collections.namedtuple("Env", "iteration begin_iteration params "
                             "evaluation_result_list")
for i in range(2):
    wandb_callback()(env(i, 0, {"a": 1}, [
        ("fit", "l2", i + 0.5, False), ("cv_agg", "fit l1", i, False, 0.125)]))
log_summary(types.SimpleNamespace(best_iteration=1,
                                  best_score={"fit": {"l2": 0.5}}))
of, log = OfCatboost(), []
for i in range(4):  # a value in every second iteration
    log += [i] if i % 2 == 0 else []
    assert of.after_iteration(types.SimpleNamespace(
        iteration=i, metrics={"learn": {"RMSE": log}}))
assert OfSb3(model_save_path="models")._on_step()
WandbMetricsLogger("batch").on_train_batch_end(0, {"loss": 4})
WandbMetricsLogger().on_train_batch_end(0, {"loss": 4})
WandbMetricsLogger().on_epoch_end(3, {"loss": 2})
assert WandbModelCheckpoint("a.keras")
END
is "$(curves callbacks | grep -v '^epoch|\|^iteration|')" \
    'batch/batch_step|1:0.0
batch/learning_rate|0:0.5
batch/loss|0:4.0
best_iteration|1:1.0
best_score|1:0.25
best_score.fit.l2|1:0.5
epoch/epoch|1:3.0
epoch/learning_rate|3:0.5
epoch/loss|3:2.0
eval-error|1:0.0 2:0.5
fit_l1-mean|1:0.0 2:1.0
fit_l1-stdv|1:0.125 2:0.125
fit_l2|1:0.5 2:1.5
iteration@metric-period-1|1:0.0 2:2.0
learn-RMSE|1:0.0 2:2.0' 'callbacks of wandb.integration'
like "$("$HPOTUNE" logs callbacks.json 1)" 'must call wandb.init' \
    'which begin after init'

# The writers of TensorBoard are what wandb takes with sync_tensorboard.
mkdir -p writers/tensorboard/summary/writer
: >writers/tensorboard/__init__.py
: >writers/tensorboard/summary/__init__.py
: >writers/tensorboard/summary/writer/__init__.py
cat >writers/tensorboard/summary/writer/event_file_writer.py <<'END'
class EventFileWriter:
    def __init__(self, logdir, size=10):
        self.logdir = logdir
    def get_logdir(self):
        return self.logdir
    def add_event(self, event):
        print("written", event.step)
END
program sync wandb val/loss <<'END'
import sys
import types
sys.path.insert(0, "writers")
import wandb
class Value(types.SimpleNamespace):
    def HasField(self, name):
        return name in vars(self)
def event(step, **values):
    return types.SimpleNamespace(step=step, summary=types.SimpleNamespace(
        value=[Value(tag=k, **v) for k, v in values.items()]))
wandb.init(sync_tensorboard=True)
from tensorboard.summary.writer.event_file_writer import EventFileWriter
train, val = EventFileWriter("runs/train"), EventFileWriter("runs/val", size=1)
whole = types.SimpleNamespace(
    tensor_shape=types.SimpleNamespace(dim=[]), float_val=[], double_val=[],
    int_val=[], tensor_content=b"\0\0\0?")
for step in 0, 10:
    train.add_event(event(step, loss={"simple_value": step}, text={}))
    val.add_event(event(step, loss={"tensor": whole}))
wandb.finish()
val.add_event(event(20, loss={"simple_value": 9}))
wandb.tensorboard.unpatch()
wandb.init(sync_tensorboard=True)
END
is "$(curves sync)" 'train/loss|0:0.0 10:10.0
val/loss|0:0.5 10:0.5' 'what its writers write, with the folder'
is "$("$HPOTUNE" logs sync.json 1 | grep -c '^written')" 5 'which they write as ever'
like "$("$HPOTUNE" logs sync.json 1)" 'no writer of tensorboard' \
    'a run without events says so'

program client mlflow val_loss <<'END'
import sys
sys.path.insert(0, "libraries")
import mlflow
mlflow.autolog()
import xgboost
xgboost.train({})
assert mlflow.active_run() is None
mlflow.xgboost.autolog(disable=True)
xgboost.train({}, [])
import keras
keras.Model().fit(6)
from mlflow.entities import Metric, Param, ViewType
from mlflow.exceptions import MlflowException
from mlflow.tracking import MlflowClient, context
from mlflow.tracking.context.registry import resolve_tags
from mlflow.tracking.fluent import log_metric
from mlflow.utils.mlflow_tags import MLFLOW_PARENT_RUN_ID
from mlflow.utils.validation import validate_param_and_metric_name

assert mlflow.utils.validation.MAX_PARAMS_TAGS_PER_BATCH == 100
assert len("a") < mlflow.utils.validation.MAX_PARAM_VAL_LENGTH
assert MLFLOW_PARENT_RUN_ID == "mlflow.parentRunId" and ViewType.ALL
assert resolve_tags({"a": 1}) == {"a": 1} and hasattr(context, "registry")
assert validate_param_and_metric_name("a b/c.d-e:f")
assert not validate_param_and_metric_name("a@b")
assert mlflow.search_experiments() == [] and log_metric is mlflow.log_metric
client = MlflowClient()
found = client.get_experiment_by_name("demo")
assert found.lifecycle_stage != "deleted"
run = client.create_run(found.experiment_id, tags=resolve_tags(None))
client.log_batch(run.info.run_id, params=[Param("a", 1)], metrics=[
    Metric("val loss", 0.5, 0, 4), Metric("other", 1, 0, 4),
    Metric("val loss", 0.25, 0, 8)])
client.set_terminated(run.info.run_id)
assert [m.value for m in client.get_metric_history("", "val loss")] == [0.5, 0.25]
log_metric("begins", 1)
assert mlflow.active_run().data.metrics["val loss"] == 0.25
assert client.get_run("").data.params == {"a": "1"}
of = mlflow.keras.MlflowCallback(log_every_epoch=False, log_every_n_steps=2)
of.on_epoch_end(1, {"loss": 1})
of.on_train_batch_end(1, {"loss": 3})
mlflow.keras.MlflowCallback().on_epoch_end(7, {"loss": 5})
assert mlflow.trace(len) is len and mlflow.trace(name="a")(len) is len
mlflow.sklearn.log_model(1, "a", signature=mlflow.models.infer_signature(1, 2))
mlflow.log_input(mlflow.data.from_numpy(1), context="training")
for absent in (mlflow.evaluate, mlflow.search_runs, client.search_runs,
               mlflow.pyfunc.load_model, lambda: client.nothing()):
    try:
        absent()
    except MlflowException as e:
        print(e)
try:
    mlflow.pytorch.OtherCallback
except ImportError as e:
    print(e)
END
is "$(curves client)" 'begins|1:1.0
eval-ndcg_at_1|0:0.0 1:1.0
loss|2:3.0 6:4.0 7:5.0
other|4:1.0
val_loss|4:0.5 8:0.25' 'what libraries do with a client'
is "$("$HPOTUNE" logs client.json 1 | sed 's/ autolog .*/ autolog .../')" \
    'hpotune stands in the place of mlflow, and autolog ...
hpotune stands in the place of mlflow, without mlflow.evaluate
hpotune stands in the place of mlflow, without mlflow.search_runs
hpotune stands in the place of mlflow, without MlflowClient.search_runs
hpotune stands in the place of mlflow, without mlflow.pyfunc.load_model
hpotune stands in the place of mlflow, without MlflowClient.nothing
hpotune stands in the place of mlflow, without mlflow.pytorch.OtherCallback' \
    'and what would read says that it is not there'

done_testing
