#!/bin/sh
# hpotune web: time to the first byte and to the first paint of a large study,
# an event from report to screen, 20 clients, a list of 1,000 studies, trials a
# second with and without 5 followers; with $BENCH_DASHBOARD, a program
# optuna-dashboard, $BENCH_MLFLOW, a program mlflow, and $BENCH_AIM, a python
# that has Aim and stands beside its program aim, the same study there; MLflow
# and Aim have it up to 1,000 trials, because they take minutes to be given them.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/bench-lib.sh"
pages='' server=''
# shellcheck disable=SC2086 # none, one or two
trap 'kill $pages $server 2>/dev/null || :; rm -rf "$bench_dir"' EXIT

pages() { # what follows --port 0: address in $address, process in $pages
	: >pages.out
	"$HPOTUNE" web --port 0 "$@" >pages.out 2>pages.err &
	pages=$!
	until grep -q '^web: ' pages.out; do sleep 0.1; done
	address=$(sed -n 's/^web: //p' pages.out)
}
pages_end() {
	kill "$pages"
	wait "$pages" || :
	pages=
}
measure() { # what …: of web.py
	python3 "$here/web.py" "$@"
}

large() { # name trials
	cat >"$1.json" <<-END
	{ "study": "$1",
	  "objective": { "metric": "acc", "goal": "maximize" },
	  "parameters": {
	    "lr": { "type": "float", "min": 1e-4, "max": 0.3, "scale": "log" },
	    "layers": { "type": "int", "min": 1, "max": 4 },
	    "opt": { "type": "choice", "values": ["sgd", "adam"] },
	    "beta": { "type": "float", "min": 0.9, "max": 0.99 },
	    "wd": { "type": "float", "min": 1e-6, "max": 0.1, "scale": "log" } },
	  "strategy": { "name": "random", "seed": 5 }, "stopping": "median",
	  "trial": { "command": ["true"], "max_steps": 100, "retries": 0 },
	  "backend": { "name": "pretend", "seconds_per_step": 0.0001,
	    "noise": 0.02 },
	  "limits": { "trials": $2, "parallel": 16 } }
	END
	"$HPOTUNE" start -q "$1.json"
}

bench_first() {
	first 1000
	first 10000
}

first() { # trials
	large "big$1" "$1"
	pages "big$1.json"
	ours=$(measure bytes "$address" "/s/big$1")
	row "$1 trials: first bytes of the page, ms" "${ours% *}" - - "≤ 100"
	row "$1 trials: the whole page at the client, ms" "${ours#* }" - - -
	ours=$(measure paint "$address" "/s/big$1")
	row "$1 trials: first paint in Chromium, ms" "${ours% *}" - - "≤ 400"
	row "$1 trials: charts and table are drawn, ms" "${ours#* }" - - -
	pages_end
	[ -z "${BENCH_DASHBOARD-}" ] || peer_dashboard "$1"
	[ "$1" -le 1000 ] || return 0
	[ -z "${BENCH_MLFLOW-}" ] || peer_mlflow "$1"
	[ -z "${BENCH_AIM-}" ] || peer_aim "$1"
}

# trials name path ready …: the page of a peer, whose process is $pages
peer_rows() {
	theirs=$(timeout 300 python3 "$here/web.py" peer \
	    http://127.0.0.1:18473 "$3" "$4" || echo '- -')
	pages_end
	row "$1 trials: first paint in Chromium, ms" "${ours% *}" \
	    "$2 ${theirs% *}" - -
	row "$1 trials: charts or table are drawn, ms" "${ours#* }" \
	    "$2 ${theirs#* }" - -
}

peer_dashboard() { # trials
	"$HPOTUNE" export --format optuna --output "optuna$1.db" "big$1.json"
	"$BENCH_DASHBOARD" --port 18473 "sqlite:///optuna$1.db" \
	    >dashboard.out 2>&1 &
	pages=$!
	peer_rows "$1" optuna-dashboard /dashboard/studies/1 \
	    "document.querySelectorAll('.main-svg').length > 0"
}

# Its page draws 10 of the newest 100 runs.
peer_mlflow() { # trials
	"$BENCH_MLFLOW" server --host 127.0.0.1 --port 18473 --workers 1 \
	    --backend-store-uri "sqlite:///$bench_dir/mlflow.db" \
	    >mlflow.out 2>&1 &
	pages=$!
	until curl -s http://127.0.0.1:18473/health >/dev/null; do
		sleep 0.2
	done
	"$HPOTUNE" export --format mlflow --url http://127.0.0.1:18473 \
	    "big$1.json" 2>mlflow.err
	peer_rows "$1" mlflow \
	    '/#/experiments/1/runs?compareRunsMode=CHART' \
	    "document.querySelectorAll('.main-svg').length > 0"
}

# Its table of runs.
peer_aim() { # trials
	aim=$(dirname "$BENCH_AIM")/aim
	"$aim" init >aim.out 2>&1
	"$BENCH_AIM" "$here/web.py" aim "big$1.db" >aim.out 2>&1
	"$aim" up --host 127.0.0.1 --port 18473 --workers 1 >aim.out 2>&1 &
	pages=$!
	peer_rows "$1" aim /runs \
	    "document.querySelectorAll('.Table__cell').length > 20"
}

# Trials a second, alone and with 5 followers of the study, in turn.
bench_followers() {
	for i in 1 2 3 4 5; do
		for with in 0 5; do
			name=over$i-$with
			study $name "[\"$BENCH_TRIAL\", \"reports\", \"5\"]" 1000 8
			if [ $with -gt 0 ]; then
				"$HPOTUNE" web --socket s . >pages.out &
				pages=$!
				until [ -S s ]; do sleep 0.1; done
				python3 "$here/web.py" follow "$bench_dir/s" \
				    "/s/$name/live" $with &
				server=$!
			fi
			began=$(now)
			"$HPOTUNE" start $name.json --quiet
			calc "1000 / $(since "$began")" >>"rate-$with"
			echo >>"rate-$with"
			[ $with -gt 0 ] || continue
			kill $server
			wait $server || :
			server=
			pages_end
		done
	done
	alone=$(percentile 50 <rate-0)
	with=$(percentile 50 <rate-5)
	row 'trials/s with 5 followers (median of 5), beside those without' \
	    "$with" "$alone" "$(calc "$with / $alone")" "1"
}

# A trial that reports each second, or often, and writes down when.
bench_live() {
	cat >often.sh <<-'END'
	#!/bin/sh
	i=1
	while [ -e "$1" ]; do
		echo "hpotune: step=$i v=0.$i"
		[ "$2" != 1.3 ] || date +%s.%N >>"$1"
		i=$((i + 1))
		sleep "$2"
	done
	END
	chmod +x often.sh
	: >"$bench_dir/times"
	study slow "[\"./often.sh\", \"$bench_dir/times\", \"1.3\"]" 1 1 '' 100000
	"$HPOTUNE" start -q slow.json &
	server=$!
	until [ -s times ]; do sleep 0.1; done
	pages slow.json
	row 'an event from report to screen (Chromium), ms, median' \
	    "$(measure event "$address" /s/slow "$bench_dir/times")" - - "≤ 500"
	pages_end
	rm times
	wait $server || :
	server=

	: >"$bench_dir/times"
	study often "[\"./often.sh\", \"$bench_dir/times\", \"0.1\"]" 10 10 '' \
	    100000
	"$HPOTUNE" start -q often.json &
	server=$!
	until [ -e often.db ]; do sleep 0.1; done
	sleep 2
	"$HPOTUNE" web --socket s often.json >pages.out &
	pages=$!
	until [ -S s ]; do sleep 0.1; done
	ours=$(measure clients "$bench_dir/s" /s/often/live "$pages" 20)
	pages_end
	rm times
	wait $server || :
	server=
	row '20 clients, 100 reports/s: memory, MiB' "${ours% *}" - - "≤ 16"
	row '20 clients, 100 reports/s: of a core, %' "${ours#* }" - - "≤ 2"
}

bench_list() {
	large one 20
	mkdir list
	for i in $(seq 1000); do cp one.db "list/study$i.db"; done
	pages list
	first=$(measure bytes "$address" /)
	sleep 10 # until all have been read
	ours=$(measure bytes "$address" /)
	pages_end
	row 'a list of 1,000 studies, ms (median of 9)' "${ours#* }" - - "≤ 100"
	row 'the same, while they are read for the first time' "${first#* }" - - -
}

for bench in ${*:-list live followers first}; do
	"bench_$bench"
done
