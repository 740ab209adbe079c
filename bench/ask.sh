#!/bin/sh
# Row ask and tell: one call of each, as a program that runs its own trials
# makes them; beside the command line of Optuna when $BENCH_PYTHON has it.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/bench-lib.sh"
n=${1-100}
peer_n=${2-5}

cat >ask.json <<EOF
{ "study": "ask", "objective": { "metric": "v", "goal": "maximize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 },
    "n": { "type": "int", "min": 1, "max": 9 } },
  "strategy": { "name": "tpe", "seed": 1 },
  "limits": { "trials": $((2 * n + 1)) } }
EOF
"$HPOTUNE" ask ask.json >/dev/null

# each WHAT COUNT: milliseconds of one call, of COUNT of them
each() {
	each_begin=$(now)
	i=0
	while [ "$i" -lt "$2" ]; do
		i=$((i + 1))
		$1 "$i" >/dev/null 2>&1
	done
	calc "1000 * $(since "$each_begin") / $2"
}

ours_ask() {
	"$HPOTUNE" ask ask.json
}
ours_tell() {
	"$HPOTUNE" tell ask.json "$1" v=0.5
}
ours_done() {
	"$HPOTUNE" tell ask.json "$1" --done
}

peer() { # arguments …
	[ -n "${BENCH_PYTHON-}" ] || return 0
	"$(dirname "$BENCH_PYTHON")/optuna" "$@" --storage sqlite:///peer.db
}
space='{"x": {"name": "FloatDistribution", "attributes": {"low": 0.0,
    "high": 1.0}}, "n": {"name": "IntDistribution", "attributes": {"low": 1,
    "high": 9}}}'
peer_ask() {
	peer ask --study-name peer --sampler TPESampler --search-space "$space"
}
peer_done() {
	peer tell --study-name peer --trial-number $(($1 - 1)) --values 0.5
}

ask=$(each ours_ask "$n")
began=$(now)
"$HPOTUNE" ask --count "$n" ask.json >/dev/null
many=$(calc "1000 * $(since "$began") / $n")
tell=$(each ours_tell "$n")
done=$(each ours_done "$n")
their_ask= their_done=
if peer create-study --study-name peer --direction maximize >/dev/null 2>&1 &&
    [ -n "${BENCH_PYTHON-}" ]; then
	their_ask=$(each peer_ask "$peer_n")
	their_done=$(each peer_done "$peer_n")
fi
ratio() { # theirs ours
	[ -z "$1" ] && printf '%s' - || calc "$1 / $2"
}
row 'ask, ms a call' "$ask" "optuna ${their_ask:--}" \
    "$(ratio "$their_ask" "$ask")" 'a few ms'
row "ask --count $n, ms a trial" "$many" - - '≤ 1'
row 'tell a report, ms a call' "$tell" - - 'a few ms'
row 'tell the end, ms a call' "$done" "optuna ${their_done:--}" \
    "$(ratio "$their_done" "$done")" 'a few ms'
