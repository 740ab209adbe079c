#!/bin/sh
# mlp-cuda on a fake GPU, with a fake NCCL in shared memory: equals mlp alone,
# packed and in ranks, and does not wait for ranks that have exited.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/fashion.sh"

mlp=$TOP_BUILDDIR/tests/tools/mlp-fake
[ -x "$mlp" ] || skip_all 'built without CUDA'
unset HPOTUNE_CHECKPOINT_DIR SM_CHANNEL_TRAIN HPOTUNE_UNTIL_STEP
unset WORLD_SIZE RANK LOCAL_RANK MASTER_ADDR MASTER_PORT CUDA_VISIBLE_DEVICES
LD_LIBRARY_PATH=$TOP_BUILDDIR/tests/fake
export LD_LIBRARY_PATH
small="--data=$dir/data --train-size=600 --validation-size=500"
fashion_small
fashion_port
options='--epochs=3 --lr=0.05 --batch=20 --hidden=20 --layers=2 --dropout=0.1'

is "$("$mlp" --which --device=gpu)" 'a GPU that is not there' 'it has a GPU'
"$TOP_BUILDDIR/examples/fashion-mnist/mlp" $small --device=cpu $options >cpu
"$mlp" $small $options >gpu 2>err
is $? 0 'a run'
is "$(cat err)" '' 'without a word'
steps cpu >cpu.curve
steps gpu >gpu.curve
ok 'as on the CPU' near gpu.curve cpu.curve

mkdir c
"$mlp" $small $options --epochs=2 --checkpoint-dir=c >parts
"$mlp" $small $options --checkpoint-dir=c >>parts 2>err
is "$(steps parts)" "$(cat gpu.curve)" 'it continues from its checkpoint'

{
	echo '{"hpotune": 1, "places": 2}'
	for i in 1 2; do
		echo "{\"start\": $i, \"attempt\": 1, \"params\": {\"hidden\":
		    $((10 * i)), \"layers\": 2, \"lr\": 0.05, \"batch\": 20,
		    \"dropout\": 0.1}}" | tr -d '\n\t'
		echo
	done
} >lines
mkfifo in
background packed sh -c 'exec "$@" <in' sh "$mlp" --pack $small --epochs=3
packed=$child
exec 3>in
cat lines >&3
ok 'two at once' retry said packed.out '"trial":2,"attempt":1,"end":0'
exec 3>&-
reap "$packed"
is $? 0 'it leaves'
tr -d '" {},' <packed.out | sed -n 's/:/=/g
    s/^trial=2attempt=1step=\(.*\)/\1/p' | tr -d ' \n' >packed.curve
is "$(cat packed.curve)" "$(tr -d ' \n' <gpu.curve)" 'the curve it has alone'

# ---- ranks ---------------------------------------------------------------------

rank a 0 2 $options; a0=$child
rank a 1 2 $options; a1=$child
for child in $a0 $a1; do
	reap "$child"
	is $? 0 'a rank'
done
if grep -q 'built without NCCL' a-1.err; then
	skip 'sums by NCCL' 'its header was not found'
	done_testing
	exit
fi
like "$(cat a-1.err)" 'fake nccl: rank 1 of 2' 'by NCCL'
unlike "$(cat a-0.err a-1.err)" 'aborted\|mlp:' 'to the end'
steps a-0.out >a.curve
ok 'two are as one' near a.curve cpu.curve

rank b 0 2 $options --epochs=1000; b0=$child
rank b 1 2 $options --epochs=1000; b1=$child
ok 'they run' retry said b-0.out step=1
kill -TERM "$b1"
reap "$b0"
is $? 143 'a signal to one rank'
reap "$b1"
is $? 143 'ends both'
unlike "$(cat b-0.err b-1.err)" aborted 'in good order'

rank d 0 2 $options --epochs=1000; d0=$child
rank d 1 2 $options --epochs=1000; d1=$child
ok 'two run' retry said d-0.out step=1
kill -KILL "$d1"
reap "$d0"
is $? 1 'one that was killed ends the other'
like "$(cat d-0.err)" 'fake nccl: aborted' 'which gives up'
like "$(cat d-0.err)" 'mlp: a rank has exited' 'and reports it'
reap "$d1"

rank e 0 2 $options --epochs=1000; e0=$child
rank e 1 2 $options --epochs=1000; e1=$child
ok 'two run' retry said e-0.out step=1
kill -STOP "$e1"
kill -TERM "$e0"
reap "$e0"
is $? 1 'one that hangs is not waited for when it is time to stop'
like "$(cat e-0.err)" 'fake nccl: aborted' 'by giving up'
kill -KILL "$e1"
reap "$e1"
# What ends one of them for a reason of its own ends the other.
background f-0 env RANK=0 WORLD_SIZE=2 MASTER_PORT="$port" \
    sh -c 'exec "$@" >/dev/full' sh "$mlp" $small $options
f0=$child
rank f 1 2 $options; f1=$child
reap "$f0"
is $? 1 'reports that cannot be written'
reap "$f1"
is $? 1 'end both'
like "$(cat f-1.err)" 'mlp: a rank has exited' 'the other reports it'
rm -f /dev/shm/fake-nccl-$f0 /dev/shm/fake-nccl-$a0 /dev/shm/fake-nccl-$b0 /dev/shm/fake-nccl-$d0 \
    /dev/shm/fake-nccl-$e0

done_testing
