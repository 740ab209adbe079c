#!/bin/sh
# mlp --pack: trials by lines.  Each has the same curve as alone, whatever runs
# beside it, and however often it was stopped.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/fashion.sh"

unset HPOTUNE_CHECKPOINT_DIR SM_CHANNEL_TRAIN HPOTUNE_UNTIL_STEP
mlp=$TOP_BUILDDIR/examples/fashion-mnist/mlp
small='--device=cpu --data=data --train-size=2500 --validation-size=500'
fashion_small
mkdir 1 2 3 4

a='--lr=0.01 --hidden=20 --momentum=0.8 --batch=16 --dropout=0.2'
b='--optimizer=adam --layers=2 --hidden=30 --batch=40'
json() { # options: as params
	printf '%s\n' "$1" | sed 's/--\([a-z-]*\)=\([0-9.]*\)\( \|$\)/"\1": \2, /g
	    s/--\([a-z-]*\)=\([a-z]*\)\( \|$\)/"\1": "\2", /g; s/, $//'
}
start() { # trial attempt options
	echo "{\"start\": $1, \"attempt\": $2, \"params\": {$(json "$3")},
	    \"checkpoint_dir\": \"$dir/$1\", \"output_dir\": \"$dir/$1\"}" |
	    tr -d '\n\t' >&3
	echo >&3
}
pack() { # name [option …]: a program, with its input on 3
	pack_name=$1
	shift
	rm -f in
	mkfifo in
	background "$pack_name" sh -c 'exec "$@" <in' sh "$mlp" --pack $small "$@"
	exec 3>in
}
curve() { # file trial: the later report of a step counts
	tr -d '" {},:' <"$1" | sed -n "s/^trial$2attempt[0-9]*\(step.*\)/\1/p" |
	    awk '{ n = $0; sub(/val_.*/, "", n); line[n] = $0 }
	    END { for (n in line) print line[n] }' | sort
}

"$mlp" $small --epochs=4 $a | sed 's/^hpotune: //' | tr -d ' =' >a.curve
"$mlp" $small --epochs=4 $b | sed 's/^hpotune: //' | tr -d ' =' >b.curve
is "$(cat a.curve b.curve | wc -l)" 8 'two runs, each alone'

# ---- a conversation ------------------------------------------------------------

pack one --epochs=4 --threads=2
# All in one piece: none has ended before the third is heard.
{
	echo '{"hpotune": 1, "places": 2}' >&3
	start 1 1 "$a"
	start 2 1 "$b"
	start 3 1 "$b"
} 3>lines
cat lines >&3
ok 'a third for two places' retry said one.out \
    '"trial":3,"attempt":1,"end":1,"why":"all places are taken"'
ok 'the others end' retry said one.out '"trial":1,"attempt":1,"end":0'
ok '… both' retry said one.out '"trial":2,"attempt":1,"end":0'
is "$(curve one.out 1)" "$(cat a.curve)" 'the first has the curve of a run alone'
is "$(curve one.out 2)" "$(cat b.curve)" 'the second has the curve of a run alone'
start 4 7 "--hid=3"
ok 'a wrong setting ends that trial' retry said one.out \
    '"trial":4,"attempt":7,"end":1,"why":"--hid=3: no such option'
start 4 8 "--train-size=100"
ok 'pictures of its own' retry said one.out \
    '"attempt":8,"end":1,"why":"packed trials have the same pictures'
echo 'nonsense' >&3
ok 'nonsense is passed over' retry said one.out '"log":"not a JSON object'
start 1 2 "$a --seed=2"
ok "another trial's checkpoint" retry said one.out \
    '"attempt":2,"end":1,"why":".*is of a run with seed=1'
mkdir 5
echo "{\"start\": 5, \"attempt\": 1, \"params\": {\"hidden\": 4},
    \"checkpoint_dir\": \"$dir/5\", \"until_step\": 2}" | tr -d '\n' >&3
echo >&3
ok 'a part of the epochs' retry said one.out '"trial":5,"attempt":1,"end":0'
is "$(curve one.out 5 | wc -l)" 2 'and no more'
exec 3>&-
reap $child
is $? 0 'no more lines: it leaves'

# ---- stopped, and continued in other places ----------------------------------------

rm -rf 1/* 2/*
pack two --epochs=1000
echo '{"hpotune": 1, "places": 3}' >&3
start 1 1 "$a"
ok 'it runs' retry said two.out '"step": 1,'
echo '{"stop": 1, "attempt": 9}' >&3
echo '{"stop": 1, "attempt": 1}' >&3
ok 'it ends when told' retry said two.out '"trial":1,"attempt":1,"end":0'
is "$(ls 1)" fashion.checkpoint 'with a checkpoint'
start 2 1 "$b"
ok 'another takes its place' retry said two.out '"trial": 2.*"step": 1,'
exec 3>&-
reap $child
is $? 0 'the end of the input'
is "$(ls 2)" fashion.checkpoint 'leaves a checkpoint'

pack three --epochs=1000
echo '{"hpotune": 1, "places": 3}' >&3
start 2 2 "$b"
start 1 2 "$a"
# From wherever the end has found them.
ok 'one goes on' retry said three.out '"trial": 2,.*"step": '
ok 'and the other' retry said three.out '"trial": 1,.*"step": '
kill -TERM $child
reap $child
is $? 143 'SIGTERM ends it'
exec 3>&-

pack four --epochs=4
echo '{"hpotune": 1, "places": 2}' >&3
start 1 3 "$a"
start 2 3 "$b"
ok 'to the end' retry said four.out '"trial":1,"attempt":3,"end":0'
ok '… both' retry said four.out '"trial":2,"attempt":3,"end":0'
exec 3>&-
reap $child
cat two.out three.out four.out >all.out
is "$(curve all.out 1 | grep '^step[1-4]val')" "$(cat a.curve)" \
    'the curve of a whole run'
is "$(curve all.out 2 | grep '^step[1-4]val')" "$(cat b.curve)" 'and the other'

# ---- a study ------------------------------------------------------------------

HPOTUNE_GPU_LOCKS=$dir/locks
export HPOTUNE_GPU_LOCKS
json=$(printf '"%s", ' "$mlp" --pack --device=cpu "--data=$dir/data" \
    --train-size=2500 --validation-size=500 --epochs=20)
sed "s|\"./mlp\", .*\"--epochs=20\"|${json%, }|" \
    "$TOP_SRCDIR/examples/fashion-mnist/pack.json" >pack.json
ok 'a study of them' timeout 300 "$HPOTUNE" start --quiet --trials 20 pack.json
is "$(sql fashion-pack.db "SELECT count(*), sum(state = 'stopped') > 0,
    count(DISTINCT step) > 1, max(objective) > 0.7 FROM trials
    WHERE state IN ('completed', 'stopped')")" '20|1|1|1' 'has its trials'
is "$(sql fashion-pack.db 'SELECT count(*) FROM attempts
    WHERE end_class NOT IN ("ok", "stopped")')" 0 'which end well'

# ---- what it cannot use ---------------------------------------------------------

echo '{"start": 1, "attempt": 1, "params": {}}' >early
fails 'no greeting' 1 "$mlp" --pack $small <early 2>err
is "$(cat err)" 'mlp: the first message must be the greeting' 'reported'
echo '{"hpotune": 1, "places": 1}' >hello
fails 'no data' 1 "$mlp" --pack --device=cpu --data=nowhere <hello 2>err
like "$(cat err)" 'no readable nowhere/train' 'reported'
fails 'a device' 2 "$mlp" --device=tpu 2>err
is "$(cat err)" 'mlp: --device=tpu: not auto, cpu or gpu' 'reported'

done_testing
