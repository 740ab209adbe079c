# Sourced by the tests of the trainers: skips everything without the data set.

fashion_set=/usr/share/datasets/fashion-mnist

if ! [ -r $fashion_set/train-images-idx3-ubyte.gz ]; then
	echo "1..0 # SKIP $fashion_set is missing: install dataset-fashion-mnist"
	exit 0
fi

# The first 3,000 pictures, unpacked, in the folder data: they load in no time.
fashion_small() {
	mkdir data
	{
		printf '\0\0\010\003\0\0\013\270\0\0\0\034\0\0\0\034'
		zcat $fashion_set/train-images-idx3-ubyte.gz | tail -c +17 | head -c 2352000
	} >data/train-images-idx3-ubyte
	{
		printf '\0\0\010\001\0\0\013\270'
		zcat $fashion_set/train-labels-idx1-ubyte.gz | tail -c +9 | head -c 3000
	} >data/train-labels-idx1-ubyte
}

# A port that nobody listens on, in $port, below those that trials are lent.
fashion_port() {
	port=$((14000 + $$ * 7 % 10000))
	while cat /proc/net/tcp /proc/net/tcp6 2>/dev/null |
	    grep -q "$(printf ':%04X' $port) "; do
		port=$((port + 1))
	done
}
# A rank of $mlp with the options $small.
rank() { # name rank ranks [option …]
	rank_name=$1 rank_number=$2 rank_all=$3
	shift 3
	# shellcheck disable=SC2086 # words of a list
	background "$rank_name-$rank_number" env RANK="$rank_number" \
	    WORLD_SIZE="$rank_all" MASTER_PORT=$port "$mlp" $small "$@"
}
steps() { # file …: the later report of a step counts
	cat "$@" | sed -n 's/^hpotune: step=//p' |
	    awk '{ line[$1] = $0 } END { for (n in line) print line[n] }' |
	    sort -n
}
# What is added up in another order is a little different.
near() { # file file: curves
	paste "$1" "$2" | awk '
	function off(a, b) {
		sub(/.*=/, "", a)
		sub(/.*=/, "", b)
		return a > b ? a - b : b - a
	}
	$1 != $5 || off($2, $6) > 0.0041 || off($3, $7) > 0.005 ||
	    off($4, $8) > 0.005 { bad = 1; print "# " $0 >"/dev/stderr" }
	END { exit bad || NR == 0 }'
}
said() { # file pattern
	grep -q "$2" "$1"
}
