#!/bin/sh
# Row torch_pack: 32 settings of a small network of PyTorch on the CPU, in one process
# by hpotune.torch_pack, and each in a process of its own, as many at a time as there
# are cores.  The program is the same.
set -eu
: "${HPOTUNE:?is the program}"
here=$(cd "$(dirname "$0")/.." && pwd)
python=${BENCH_TORCH:-/usr/bin/python3}
"$python" -c 'import torch' 2>/dev/null || exit 0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export PYTHONPATH="$here/python" OMP_NUM_THREADS=1
cat >train.py <<'END'
import hpotune
import torch

torch.set_num_threads(1)
rng = torch.Generator().manual_seed(3)
x = torch.randn(2400, 20, generator=rng)
y = (torch.tanh(x) @ torch.randn(20, 3, generator=rng)).argmax(1)


def make_model(params):
    return torch.nn.Sequential(torch.nn.Linear(20, 32), torch.nn.ReLU(),
                               torch.nn.Linear(32, 3))


def wrong(output, y):
    return (output.argmax(1) != y).float().mean()


hpotune.torch_pack(make_model, torch.nn.functional.cross_entropy,
                   (x[:2000], y[:2000]), held=(x[2000:], y[2000:]),
                   evaluate={"wrong": wrong}, epochs=20)
END
study() { # name pack parallel
	cat >"$1.json" <<END
{ "study": "$1", "objective": { "metric": "wrong", "goal": "minimize" },
  "parameters": {
    "lr": { "type": "float", "min": 0.001, "max": 0.3, "scale": "log" },
    "momentum": { "type": "float", "min": 0, "max": 0.95 } },
  "strategy": { "name": "random", "seed": 1 }, "stopping": "none",
  "trial": { "command": ["$python", "train.py"] $2 },
  "limits": { "trials": 32, "parallel": $3 } }
END
	began=$(date +%s.%N)
	"$HPOTUNE" start -q "$1.json"
	ended=$(date +%s.%N)
	echo "$1: $(echo "$ended - $began" | bc) s;" "$("$HPOTUNE" sql "$1.json" \
	    "SELECT count(*), min(objective) FROM trials WHERE state = 'completed'" |
	    tail -n 1)"
}
study packed ', "pack": 32' 32
study apart '' "$(nproc)"
