#!/bin/sh
# The example trainer as a process: interrupted in the middle, it continues to
# bit-identical results, and reports invalid input.  So does mlp, alone:
# tests/scenario/packed/mlp.t sources this with $trainer.

trainer=${trainer:-train}
train=$TOP_BUILDDIR/examples/fashion-mnist/$trainer
unset HPOTUNE_CHECKPOINT_DIR SM_CHANNEL_TRAIN

. "$TOP_SRCDIR/tests/support/sh/fashion.sh"

tests=0
ok() { # what, after a test whose status is judged
	status=$?
	tests=$((tests + 1))
	[ $status -eq 0 ] || printf 'not '
	echo "ok $tests - $1"
}
same() { # got want what
	[ "$1" = "$2" ]
	ok "$3"
	[ "$1" = "$2" ] || printf 'got: %s\nwant: %s\n' "$1" "$2" | sed 's/^/# /'
}
# Waits until a command succeeds, for at most a minute.
await() {
	tries=0
	until "$@"; do
		tries=$((tries + 1))
		[ $tries -lt 3000 ] || return 1
		sleep 0.02
	done
}

dir=$(mktemp -d) || exit 1
child=
trap '[ -z "$child" ] || kill -9 $child 2>/dev/null; rm -rf "$dir"' EXIT
cd "$dir" || exit 1

fashion_small
# Long enough that a signal finds them at it, however late it comes.
images=2500
# With sanitizers a step takes several times as long.
ldd "$train" | grep -q libasan && images=600
small="--data=data --train-size=$images --validation-size=500 --epochs=10"

# The later report of a step is the one that counts.
reports() {
	awk '/^hpotune: / { line[$2] = $0; if (!seen[$2]++) order[++n] = $2 }
	    END { for (i = 1; i <= n; i++) print line[order[i]] }' "$@"
}
# Runs `train` with the options given, sends a signal at the first report of a
# step, and leaves the exit status.  The shell waits in its read, so that it is
# there at once: programs that look again and again may come too late.
interrupt_at() { # signal step --options…
	signal=$1 step=$2
	shift 2
	rm -f pipe
	mkfifo pipe
	"$train" $small "$@" >pipe 2>err &
	child=$!
	while read -r line; do
		echo "$line"
		case $line in
		*"step=$step "*)
			kill -$signal $child
			step=none
			;;
		esac
	done <pipe >out
	wait $child 2>/dev/null
	status=$?
	child=
	cat out >>all
	return $status
}
# Runs `train` with the options given, sends a signal as soon as a command
# succeeds, and leaves the exit status.
interrupt() { # signal command --options…
	signal=$1 until=$2
	shift 2
	: >out
	"$train" $small "$@" >out 2>err &
	child=$!
	await $until
	kill -$signal $child
	wait $child 2>/dev/null
	status=$?
	child=
	cat out >>all
	return $status
}

scenario() { # name, options of the run
	name=$1
	shift
	mkdir whole parts
	rm -f all
	"$train" $small --checkpoint-dir=whole "$@" >whole.out
	ok "$name: a whole run"
	same "$(grep -c '^hpotune: step=[0-9]* val_accuracy=0\.[0-9]* ' \
	    whole.out)" 10 "$name: one report per epoch"

	interrupt_at TERM 1 --checkpoint-dir=parts "$@"
	same $? 143 "$name: SIGTERM ends it"
	grep -q "$trainer: stopped in epoch [0-9]* after [0-9]" err
	ok "$name: and it says where"
	interrupt_at INT 2 --checkpoint-dir=parts "$@"
	same $? 130 "$name: SIGINT as well"
	"$train" $small --checkpoint-dir=parts "$@" >>all 2>err
	ok "$name: it goes on to the end"
	grep -Eq "$trainer: continuing in epoch ([2-9]|10) after" err
	ok "$name: from where it was"
	same "$(reports all)" "$(cat whole.out)" "$name: the same reports"
	cmp -s whole/fashion.checkpoint parts/fashion.checkpoint
	ok "$name: the same state, bit for bit"
	same "$(ls parts)" fashion.checkpoint "$name: one file"
	rm -rf whole parts
}

scenario sgd --optimizer=sgd --momentum=0.9 --lr=0.003 --batch=2 \
    --dropout=0.2 --hidden=48 --weight_decay=0.01
scenario adam --optimizer=adam --layers=2 --batch=3 --dropout=0.3 --hidden=32

# Killed without warning, it goes on from the checkpoint of its timer.
run='--batch=2 --dropout=0.1 --hidden=48'
mkdir parts
rm -f all
interrupt KILL 'test -s parts/fashion.checkpoint' --checkpoint-dir=parts \
    --checkpoint-every=0.01 $run
same $? 137 'SIGKILL ends it'
HPOTUNE_CHECKPOINT_DIR=parts "$train" $small $run >>all 2>err
ok 'it continues, with the folder from the environment'
grep -Eq "$trainer: continuing in epoch [0-9]+ after [0-9]" err
ok 'from where its timer had found it'
"$train" $small $run >whole.out
same "$(reports all)" "$(cat whole.out)" 'to the same reports'

# A run that is done says its last report again, and can be made longer.
same "$("$train" $small --checkpoint-dir=parts $run 2>/dev/null)" \
    "$(tail -n 1 whole.out)" 'a finished run repeats its last report'
same "$("$train" $small --checkpoint-dir=parts $run --epochs=11 2>/dev/null |
    cut -c -16)" 'hpotune: step=10
hpotune: step=11' 'or continues to more epochs'

# In segments, each with settings of its own.
mkdir segments
HPOTUNE_UNTIL_STEP=2 "$train" $small --checkpoint-dir=segments --lr=0.1 \
    --retune >out
same "$(cut -c 10-15 out | tr '\n' ' ')" 'step=1 step=2 ' 'it ends when told'
"$train" $small --checkpoint-dir=segments --lr=0.01 >out 2>err
same $? 1 'another rate is refused'
HPOTUNE_UNTIL_STEP=3 "$train" $small --checkpoint-dir=segments --lr=0.01 \
    --batch=32 --retune >out 2>err
ok 'another batch is accepted with --retune'
same "$(tail -n 1 out | cut -c 10-15)" step=3 'and continues'

# What it cannot use.
"$train" $small --checkpoint-dir=parts $run --seed=2 >out 2>err
same $? 1 'a checkpoint of another run is refused'
same "$(cat err)" "$trainer: parts/fashion.checkpoint is of a run with seed=1, \
this one has seed=2" 'the difference is named'
printf 'x' | dd of=parts/fashion.checkpoint bs=1 seek=500 conv=notrunc \
    2>/dev/null
"$train" $small --checkpoint-dir=parts $run >out 2>err
ok 'a damaged one is passed over'
same "$(cat err)" \
    "$trainer: parts/fashion.checkpoint is damaged; starting anew" 'with a note'
same "$(cat out)" "$(cat whole.out)" 'from the beginning'
"$train" $small --epochs=1 --checkpoint-dir=nowhere >out 2>err
ok 'without its folder it trains all the same'
same "$(cat err)" "$trainer: cannot write nowhere/fashion.checkpoint: No such file or directory" \
    'and reports it'
"$train" --data=nowhere >out 2>err
same $? 1 'no data'
same "$(cat err)" "$trainer: no readable nowhere/train-images-idx3-ubyte.gz (No such file or directory): install the package dataset-fashion-mnist or name its folder with --data" \
    'states what to do'
SM_CHANNEL_TRAIN=data "$train" --train-size=2990 --validation-size=11 >out 2>err
same $? 1 'more pictures than there are'
same "$(cat err)" "$trainer: --train-size=2990 and --validation-size=11 are more than the 3000 pictures there are" \
    'reported'
"$train" --epoch=3 >out 2>err
same $? 2 'a wrong option'
same "$(cat err)" "$trainer: --epoch=3: no such option (--help)" 'reported'
"$train" --data=data --train-size=100 --validation-size=100 >/dev/full 2>err
same $? 1 'a report that cannot be written'
"$train" --help | grep -q -- '--checkpoint-every='
ok 'help'

# The real data, as Debian packs it.
"$train" --train-size=500 --validation-size=200 --epochs=1 --test >out
ok 'the whole data set'
grep -q '^test: accuracy=0\.[3-9]' out
ok 'a test on the pictures kept for it'
echo "1..$tests"
