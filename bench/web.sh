#!/bin/sh
# hpotune web: time to the first byte and to the first paint of a large study,
# an event from report to screen, 20 clients, a list of 1,000 studies; with
# $BENCH_DASHBOARD, a program optuna-dashboard, the same study there.
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

bench_first() { # trials
	large "big$1" "$1"
	pages "big$1.json"
	ours=$(measure bytes "$address" "/s/big$1")
	row "$1 trials: first bytes of the page, ms" "${ours% *}" - - "≤ 100"
	row "$1 trials: the whole page at the client, ms" "${ours#* }" - - -
	ours=$(measure paint "$address" "/s/big$1")
	row "$1 trials: first paint in Chromium, ms" "${ours% *}" - - "≤ 400"
	row "$1 trials: charts and table are drawn, ms" "${ours#* }" - - -
	pages_end
	[ -n "${BENCH_DASHBOARD-}" ] || return 0
	"$HPOTUNE" export --format optuna --output "optuna$1.db" "big$1.json"
	"$BENCH_DASHBOARD" --port 18473 "sqlite:///optuna$1.db" \
	    >dashboard.out 2>&1 &
	dashboard=$!
	theirs=$(timeout 120 python3 "$here/web.py" dashboard \
	    http://127.0.0.1:18473 || echo '- -')
	kill $dashboard
	wait $dashboard || :
	row "$1 trials: first paint in Chromium, ms" "${ours% *}" \
	    "optuna-dashboard ${theirs% *}" - -
	row "$1 trials: charts are drawn, ms" "${ours#* }" \
	    "optuna-dashboard ${theirs#* }" - -
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
	ours=$(measure bytes "$address" /)
	pages_end
	row 'a list of 1,000 studies, ms (median of 9)' "${ours#* }" - - "≤ 100"
}

bench_list
bench_live
bench_first 1000
bench_first 10000
