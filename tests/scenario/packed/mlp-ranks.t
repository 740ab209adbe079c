#!/bin/sh
# mlp in several processes: the curve equals that of one process, they stop
# together, and none waits for one that has exited.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/fashion.sh"
need sqlite3

unset HPOTUNE_CHECKPOINT_DIR SM_CHANNEL_TRAIN HPOTUNE_UNTIL_STEP
unset WORLD_SIZE RANK MASTER_ADDR MASTER_PORT
HPOTUNE_GPU_LOCKS=$dir/locks
export HPOTUNE_GPU_LOCKS
mlp=$TOP_BUILDDIR/examples/fashion-mnist/mlp
small="--device=cpu --data=$dir/data --train-size=2500 --validation-size=500"
fashion_small
fashion_port
options='--epochs=4 --lr=0.02 --momentum=0.5 --batch=16 --dropout=0.2 --layers=2'

# ---- as one -------------------------------------------------------------------

"$mlp" $small $options >one
steps one >one.curve
is "$(wc -l <one.curve)" 4 'a run of one process'
rank a 1 3 $options; a1=$child
rank a 2 3 $options; a2=$child
rank a 0 3 $options; a0=$child
for child in $a0 $a1 $a2; do
	reap "$child"
	is $? 0 'a rank'
done
steps a-0.out >a.curve
ok 'three are as one' near a.curve one.curve
is "$(cat a-1.out a-2.out)" '' 'rank 0 alone reports'

# ---- together -----------------------------------------------------------------

mkdir c
rank b 0 2 $options --epochs=1000 --checkpoint-dir=c; b0=$child
rank b 1 2 $options --epochs=1000 --checkpoint-dir=c; b1=$child
ok 'they run' retry said b-0.out step=2
kill -TERM "$b1"
reap "$b0"
is $? 143 'a signal to one rank'
reap "$b1"
is $? 143 'ends all'
like "$(cat b-0.err)" 'stopped in epoch' 'rank 0 reports it'
is "$(ls c)" fashion.checkpoint 'and has left the checkpoint'
"$mlp" $small $options --checkpoint-dir=c >rest 2>err
like "$(cat err)" 'continuing in epoch' 'one process can continue with it'
steps b-0.out rest | head -n 4 >b.curve
ok 'to the same curve' near b.curve one.curve

rank d 0 3 $options --epochs=1000; d0=$child
rank d 1 3 $options --epochs=1000; d1=$child
rank d 2 3 $options --epochs=1000; d2=$child
ok 'three run' retry said d-0.out step=1
kill -KILL "$d2"
for child in $d0 $d1; do
	reap "$child"
	is $? 1 'a rank that was killed ends the others'
done
reap "$d2"
like "$(cat d-0.err)" 'a rank has exited' 'which say so'

# ---- a study ------------------------------------------------------------------

json=$(printf '"%s", ' "$mlp" $small --epochs=3)
sed "s|\"./mlp\", \"--train-size=30000\", \"--epochs=10\", |$json|" \
    "$TOP_SRCDIR/examples/fashion-mnist/ranks.json" >ranks.json
ok 'a study of them' timeout 300 "$HPOTUNE" start --quiet --trials 2 ranks.json
is "$(sql fashion-ranks.db 'SELECT state, step FROM trials')" 'completed|3
completed|3' 'has its trials'

# ---- what it cannot use ---------------------------------------------------------

WORLD_SIZE=2 fails 'no rank' 1 "$mlp" $small 2>err
is "$(cat err)" "mlp: \$RANK is not set" 'reported'
RANK=2 WORLD_SIZE=2 fails 'no such rank' 1 "$mlp" $small 2>err
is "$(cat err)" "mlp: \$RANK is 2, not a number up to 1" 'reported'
RANK=0 WORLD_SIZE=2 fails 'no port' 1 "$mlp" $small 2>err
is "$(cat err)" "mlp: \$MASTER_PORT is not set" 'reported'

done_testing
