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

# What is not there says so.
cat >missing.py <<'END'
import importlib.metadata, wandb
print(importlib.metadata.version("wandb"))
wandb.init()
try:
    wandb.Api()
except AttributeError as e:
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
hpotune stands in the place of wandb, without wandb.Api
'nothing' is neither a parameter of the study nor in the config of the program
0.75
wandb.Error: You must call wandb.init() before it" 'what is missing, and what stays'

done_testing
