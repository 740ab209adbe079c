#!/bin/sh
# The sagemaker backend against the stand-in AWS at its published request
# rates: time from a log line to the stop request, of which the stand-in keeps
# the line for 2 s, API calls, CPU; then the dollars of a study on spot machines
# that are taken away.
#	BENCH_PYTHON (or python3) needs botocore, for the stand-in.
#	sagemaker.sh [SECONDS]: how long the jobs are watched (300)
here=$(cd "$(dirname "$0")" && pwd)
. "$here/bench-lib.sh"
seconds=${1:-300}
python=${HPOTUNE_TEST_PYTHON:-${BENCH_PYTHON:-python3}}
if ! "$python" -c 'import botocore' 2>/dev/null; then
	echo "no rows of sagemaker: $python has no botocore" >&2
	exit 0
fi
unset AWS_PROFILE AWS_SESSION_TOKEN http_proxy https_proxy all_proxy
export AWS_CONFIG_FILE=/dev/null AWS_SHARED_CREDENTIALS_FILE=/dev/null \
    AWS_EC2_METADATA_DISABLED=true AWS_ACCESS_KEY_ID=standin \
    AWS_SECRET_ACCESS_KEY=standin-secret
pids=
trap 'kill -9 $pids 2>/dev/null; rm -rf "$bench_dir"' EXIT

standin() { # folder option ...
	mkdir -p "$1"
	"$python" "$here/../tests/standin/standin.py" --dir "$@" >/dev/null \
	    2>"$1/err" &
	pids="$pids $!"
	until [ -s "$1/endpoint" ]; do
		sleep 0.1
	done
	AWS_ENDPOINT_URL=$(cat "$1/endpoint")
	export AWS_ENDPOINT_URL
}

cloud() { # name trials parallel stopping backend-members
	cat >"$1.json" <<END
{ "study": "$1", "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "random", "seed": 1 }, "stopping": $4,
  "trial": { "command": ["train"], "max_steps": 20 },
  "backend": { "name": "sagemaker", "region": "eu-west-1",
    "role": "arn:aws:iam::123456789012:role/Trial",
    "image": "123456789012.dkr.ecr.eu-west-1.amazonaws.com/train:1",
    "instance_type": ["ml.g5.xlarge"], "s3": "s3://standin/hpotune/", $5 },
  "limits": { "trials": $2, "parallel": $3 } }
END
}

cpu_s() { # pid: seconds of CPU so far
	awk -v hz="$(getconf CLK_TCK)" '{ print ($14 + $15) / hz }' \
	    "/proc/$1/stat"
}

# Jobs that train now.
running() { # name
	sqlite3 -readonly "$1.db" "SELECT count(*) FROM trials
	    WHERE state = 'running' AND reports > 0" 2>/dev/null || echo 0
}

# From when most jobs train: CPU and requests.
watch() { # name jobs pid
	until [ "$(running "$1")" -ge $(($2 * 6 / 10)) ]; do
		kill -0 "$3" || return 1
		sleep 1
	done
	began=$(now)
	cpu=$(cpu_s "$3")
	requests=$(grep -c '"event":"request"' "$1.aws/requests.jsonl")
	jobs=0
	n=0
	while [ "$(calc "$(since "$began") < $seconds")" = 1 ]; do
		jobs=$((jobs + $(running "$1")))
		n=$((n + 1))
		sleep 2
	done
	took=$(since "$began")
	requests=$(($(grep -c '"event":"request"' "$1.aws/requests.jsonl") - requests))
	echo "cpu=$(calc "100 * ($(cpu_s "$3") - $cpu) / $took")"
	echo "calls=$(calc "$requests / ($jobs / $n) / ($took / 60)")"
	echo "jobs=$(calc "$jobs / $n")"
	kill -9 "$3"
}

# Seconds from the line at the step of each stop to its first StopTrainingJob.
latencies() { # name
	"$python" - "$1" <<'END'
import json, sqlite3, sys
name = sys.argv[1]
stops = {}
with open(name + ".aws/requests.jsonl") as lines:
    for line in map(json.loads, lines):
        if line.get("op") == "StopTrainingJob" and line.get("acted"):
            trial = int(line["job"].split("-")[-3])
            stops.setdefault(trial, line["time"])
db = sqlite3.connect(name + ".db")
for trial, said in db.execute(
        "SELECT s.trial, min(m.time_us) / 1e6 FROM t_stop AS s "
        "JOIN t_metric AS m ON m.trial = s.trial AND m.step = s.step "
        "WHERE m.name_id = 1 AND s.verdict = 'stop' GROUP BY s.trial"):
    if trial in stops:
        print(stops[trial] - said)
END
}

# Value is a normal noise around 1; the rule stops a share of all reports.
fleet() { # name jobs upper
	cloud "$1" 2000 "$2" "{ \"rule\": \"threshold\", \"upper\": $3 }" \
	    "\"max_run\": \"2h\""
	standin "$1.aws" --speed 1 --enforce-rates --virtual '{ "steps": 2000,
	    "seconds": 5, "line": "hpotune: step=%STEP% loss=%VALUE%",
	    "start": 1, "floor": 1, "noise": 1, "checkpoint": false }'
	"$HPOTUNE" start "$1.json" --quiet >"$1.err" 2>&1 &
	pids="$pids $!"
	watch "$1" "$2" $! >"$1.figures" &
	pids="$pids $!"
	watchers="${watchers-} $!"
}

fleet few 18 2.88
fleet many 200 3.33
# shellcheck disable=SC2086
wait $watchers

for name in few many; do
	eval "$(cat $name.figures)"
	latencies $name >$name.stops
	[ -z "${BENCH_STOPS-}" ] || cp $name.stops "$BENCH_STOPS.$name"
	n=$(wc -l <$name.stops)
	most=3
	[ $name = few ] || most=15
	row "log line to stop request, $jobs jobs, p50, s ($n stops)" \
	    "$(calc "$(percentile 50 <$name.stops)")" - - "≤ $most"
	row "log line to stop request, $jobs jobs, p99, s" \
	    "$(calc "$(percentile 99 <$name.stops)")" - - "≤ $most"
	row "API calls per job and minute, $jobs jobs" "$calls" - - -
	row "server, % of a core, $jobs jobs" "$cpu" - - "≤ 2"
	row "requests above the published rates, $jobs jobs" \
	    "$("$python" "$here/../tests/standin/standin.py" verify $name.aws |
		"$python" -c 'import json, sys
over = json.load(sys.stdin)["over_limit"]
print(sum(over.values()), *over)')" - - 0
done

# 40 trials of 20 steps, 100 min each; a machine is taken 0.15 times an hour.
price=1.408
cloud spot 40 8 '"median"' "\"spot\": true, \"max_run\": \"4h\",
    \"max_wait\": \"24h\", \"pace\": 200, \"price_per_hour\": { \"ml.g5.xlarge\": $price }"
standin spot.aws --speed 200 --run-speed 600 \
    --faults '{ "spot_interrupt": { "p": 1, "per_hour": 0.15 } }' \
    --virtual '{ "steps": 20, "seconds": 0.5, "start": 3, "rate": 0.3,
    "line": "hpotune: step=%STEP% loss=%VALUE%", "noise": 0.02,
    "spread": 1 }'
"$HPOTUNE" start spot.json --quiet 2>spot.err || { cat spot.err >&2; exit 1; }
cost=$(sqlite3 -readonly spot.db 'SELECT sum(cost) FROM attempts')
full=$(calc "40 * 20 * 0.5 * 600 / 3600 * $price")
taken=$("$python" "$here/../tests/standin/standin.py" verify spot.aws |
    sed -n 's/.*"restarted": \([0-9]*\).*/\1/p')
row "dollars, 40 trials of 100 min, median, spot ($taken interrupted)" \
    "$(calc "$cost")" "on-demand, to the end: $full" \
    "$(calc "$full / $cost")" "≥ 2"
