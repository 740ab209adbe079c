#!/bin/sh
# Rows pack: 64 small networks, packed in one process and each in a process of its
# own, as many at a time as there are cores: where arithmetic takes most of the time,
# and where a process takes most of it before its first step.  On a GPU when there is
# one and mlp-cuda was built; BENCH_DEVICE=cpu keeps it off.
set -eu
: "${BENCH_MLP:?is examples/fashion-mnist/mlp}"
here=$(cd "$(dirname "$0")" && pwd)
. "$here/bench-lib.sh"
[ -r /usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz ] || exit 0
OPENBLAS_NUM_THREADS=1
export OPENBLAS_NUM_THREADS
[ ! -x "$BENCH_MLP-cuda" ] || BENCH_MLP=$BENCH_MLP-cuda
device=${BENCH_DEVICE:-auto}
n=64 cores=$(nproc)

# The settings of network number i.
lr() { # i
	awk -v i="$1" 'BEGIN { printf "%.6g", 0.005 * 1.05 ^ i }'
}

# All at once; the input ends when each has said its end.
packed() { # how many
	rm -f "in-$1"
	mkfifo "in-$1"
	"$BENCH_MLP" --pack $common <"in-$1" >"packed-$1.out" 2>/dev/null &
	program=$!
	exec 3>"in-$1"
	echo "{\"hpotune\": 1, \"places\": $1}" >&3
	i=1
	while [ $i -le "$1" ]; do
		echo "{\"start\": $i, \"attempt\": 1, \"params\":
		    {\"hidden\": 32, \"lr\": $(lr $i)}}" | tr -d '\n\t' >&3
		echo >&3
		i=$((i + 1))
	done
	until [ "$(grep -c '"end":0' "packed-$1.out")" -eq "$1" ]; do
		kill -0 $program
		sleep 0.05
	done
	exec 3>&-
	wait $program
	sed -n 's/.*"log":"[0-9]* places on \([^"]*\)".*/\1/p' "packed-$1.out" \
	    >device
}

apart() { # how many, at a time
	i=1
	while [ $i -le "$1" ]; do
		echo "--lr=$(lr $i)"
		i=$((i + 1))
	done | xargs -P "$2" -n 1 "$BENCH_MLP" $common --hidden=32 \
	    >apart.out 2>/dev/null
}

# Seconds of CPU that all children have taken, in the file cpu; other work on the
# machine does not change them much.
cpu() {
	times >times
	tail -n 1 times | sed 's/m/ /g; s/s//g' |
	    awk '{ print $1 * 60 + $2 + $3 * 60 + $4 }' >cpu
}

# rows WHAT REACH ARGUMENTS: the rows of networks trained so
rows() {
	common="--device=$device --batch=128 $3"
	cpu; c0=$(cat cpu)
	t=$(now)
	packed $n
	packed_s=$(since "$t")
	cpu; c1=$(cat cpu)
	t=$(now)
	apart $n "$cores"
	apart_s=$(since "$t")
	cpu; c2=$(cat cpu)
	t=$(now)
	packed 1
	one_s=$(since "$t")

	row "pack on $(cat device), $n networks$1, trials/s" \
	    "$(calc "$n / $packed_s")" \
	    "$n processes, $cores at a time $(calc "$n / $apart_s")" \
	    "$(calc "$apart_s / $packed_s")" "$2"
	row "pack on $(cat device), $n networks$1, s of CPU" \
	    "$(calc "$c1 - $c0")" "$n processes $(calc "$c2 - $c1")" \
	    "$(calc "($c2 - $c1) / ($c1 - $c0)")" -
	row "pack on $(cat device), 1 network$1, s" "$one_s" - - -
}

rows '' '≥ 10 on a GPU' '--train-size=10000 --epochs=3'
rows ', one epoch of 1,000 pictures' '≥ 10' \
    '--train-size=1000 --validation-size=1000 --epochs=1'
