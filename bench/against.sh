#!/bin/sh
# against.sh BEFORE [ROUNDS]: the path of a report beside an earlier build, by
# turns in one run, so that a dearer path is seen when it comes.  BEFORE is the
# hpotune of that build, in its folder:
#	git worktree add ../before COMMIT && cd ../before &&
#	    autoreconf -fi && ./configure -q && make -s -j2
# Each figure is the median of the rounds; ratios are ours to theirs.
. "$(dirname "$0")/bench-lib.sh"

before=${1:?is the hpotune of an earlier build}
rounds=${2:-3}
case $before in /*) ;; *) before=$OLDPWD/$before ;; esac
ours=$HPOTUNE

# Milliseconds of a processor, of the server, its supervisors and 64 writers.
flood() { # name
	study flood "[\"$BENCH_TRIAL\", \"reports\", \"20000\"]" 64 64 \
	    '"stopping": { "rule": "median", "warmup_steps": 19000 }' 20001
	rm -rf flood.db* flood.d
	"${BENCH_METER:?is bench/meter}" "$HPOTUNE" start flood.json --quiet \
	    >meter.txt
	awk '{ print $1 }' meter.txt >>"$1.cpu"
	stat -c %s flood.db >>"$1.bytes"
}

stops() { # name
	study stops "[\"$BENCH_TRIAL\", \"stopme\", \"$bench_dir/$1.lat\"]" 100 2 \
	    '"stopping": { "rule": "threshold", "upper": 1, "warmup_steps": 0 }'
	rm -rf stops.db* stops.d
	"$HPOTUNE" start stops.json --quiet
}

with() { # program, command …
	HPOTUNE=$1 HPOTUNE_SHIM=$(dirname "$1")/hpotune-shim
	export HPOTUNE_SHIM
	shift
	"$@"
}

i=0
while [ $i -lt "$rounds" ]; do
	i=$((i + 1))
	for what in flood stops; do
		with "$before" $what theirs
		with "$ours" $what ours
	done
done

compare() { # what, file, percentile, divisor, target
	a=$(percentile "$3" <"ours.$2") b=$(percentile "$3" <"theirs.$2")
	row "$1" "$(calc "$a / $4")" "before: $(calc "$b / $4")" \
	    "$(calc "$a / $b")" "$5"
}
compare '1.28 million reports of 64 writers, s of a processor' cpu 50 1e3 '≤ 1'
compare 'the same, MB of the database' bytes 50 1e6 '≤ 1'
compare 'stop latency p50, ms' lat 50 1e3 '≤ 1'
compare 'stop latency p90, ms' lat 90 1e3 '≤ 1'
