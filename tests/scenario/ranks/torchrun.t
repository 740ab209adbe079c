#!/bin/sh
# PyTorch's torchrun on the CPU: with shell programs, and with a data parallel
# program.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/launchers.sh"

need sqlite3
# In $torch, by its whole path since names are given to others below: one that
# can speak gloo.
find_torch() {
	for torch in ${HPOTUNE_TEST_TORCH-} python3 /usr/bin/python3; do
		torch=$("$torch" -c 'import sys, torch.distributed as d
print(sys.executable)
sys.exit(not d.is_gloo_available())' 2>/dev/null) && return
	done
	return 1
}

find_torch || skip_all 'NOT RUN: no Python with torch ($HPOTUNE_TEST_TORCH)'
diag "torch of $torch"
mkdir bin
PATH=$dir/bin:$PATH
printf '#!/bin/sh\nexec "%s" "$@"\n' "$torch" >bin/python3
printf '#!/bin/sh\nexec "%s" -m torch.distributed.run "$@"\n' "$torch" \
    >bin/torchrun
chmod +x bin/python3 bin/torchrun
is "$(timeout 300 python3 -c 'print(1)')" 1 'python3 is the one with torch'

# The torchrun of a PyTorch without libuv, as Debian 13's, starts nothing.
if ! "$torch" -c 'import torch.distributed as d
d.TCPStore("127.0.0.1", 0, 1, True)' 2>store.err; then
	like "$(cat store.err)" libuv 'this PyTorch has no libuv'
	make_study none torchrun end 1
	run none.json
	is "$(sql none.db 'SELECT why FROM trials')" \
	    'the launcher ended with status 1: this PyTorch has no libuv, which its torchrun needs: use launcher ranks, with USE_LIBUV=0 in trial.env' \
	    'its torchrun: the reason names what works'
	cp -r "$TOP_SRCDIR/examples/distributed" example
	chmod -R u+w example
	sed -i 's/"launcher": "torchrun"/"launcher": "ranks"/
	    s/"grace": /"env": { "USE_LIBUV": "0" }, &/' \
	    example/data-parallel/study.json
	timeout 300 "$HPOTUNE" start example/data-parallel/study.json --quiet \
	    --trials 1 >run.out 2>run.err || diag "$(cat run.err)"
	is "$(sql example/data-parallel/data-parallel.db \
	    'SELECT state, reports FROM trials')" 'completed|10' 'which works'
	done_testing
fi

launcher torchrun
example data-parallel
example model-parallel
sed -i 's/"values": \[1, 2, 4, 8\]/"values": [4, 8]/' example/pipeline/study.json
example pipeline

# In one piece the same is learnt as in four or eight.
mkdir whole
params=$(sql example/pipeline/pipeline.db "SELECT '--lr=' || (params ->> 'lr') ||
    ' --hidden=' || (params ->> 'hidden') FROM trials")
# shellcheck disable=SC2086
whole=$(HPOTUNE_CHECKPOINT_DIR=whole PET_REDIRECTS=9:3 PET_TEE=9:3 timeout 300 \
    torchrun --nproc_per_node=2 example/pipeline/train.py $params \
    --microbatches=1 --epochs=2 2>/dev/null | sed -n 's/^hpotune: step=2 loss=//p')
is "$(sql example/pipeline/pipeline.db \
    "SELECT abs(value - 0$whole) < 1e-4 FROM curves WHERE step = 2")" 1 \
    'the pieces of a batch change nothing of what is learnt'
done_testing
