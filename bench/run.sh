#!/bin/sh
# All figures of hpotune in one table, peers beside ours in the same run.
# Peers are installed into a virtual environment of their own (build/peers of
# the folder it is called in); without them their columns are empty.
#	BENCH_DATA is a folder with taskset/*.csv.gz for the rows of stopping.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
venv=$(pwd)/build-peers

if [ -z "${BENCH_PYTHON-}" ] && command -v python3 >/dev/null; then
	[ -x "$venv/bin/python" ] || python3 -m venv "$venv" || :
	"$venv/bin/python" -m pip install -q optuna 'syne-tune[basic]' \
	    >/dev/null 2>&1 || echo "no peers: their package index was not reached" >&2
	"$venv/bin/python" -m pip install -q rustuna >/dev/null 2>&1 ||
	    echo "no rustuna: it has no package for this machine" >&2
	"$venv/bin/python" -m pip install -q onnxruntime numpy \
	    >/dev/null 2>&1 || echo "no LCBench: onnxruntime was not found" >&2
	BENCH_PYTHON=$venv/bin/python
	export BENCH_PYTHON
fi

echo '| what | ours | peer | ratio | to reach |'
echo '|---|---|---|---|---|'
"$here/speed.sh"
"$here/scale.sh"
"$here/slots.sh"
"$here/tpe.sh"
"$here/ask.sh"
"$here/gp.sh"
"$here/search.sh"
"$here/gpu.sh"
"$here/sagemaker.sh"
"$here/slurm.sh" 100
"$here/pack.sh"
[ ! -x "$here/replay.sh" ] || "$here/replay.sh"
if command -v chromium >/dev/null; then
	"$here/web.sh"
fi
echo
"$here/growth.sh" 1000 10000 100000
