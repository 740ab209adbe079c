#!/bin/sh
# export --format mlflow, against a stand-in: each run is made once, also when
# the export is repeated or follows a study that runs.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3 python3
unset MLFLOW_TRACKING_URI MLFLOW_TRACKING_TOKEN http_proxy
export PYTHONDONTWRITEBYTECODE=1

mlflow() { # name [option]: its address is $url
	mlflow_name=$1
	shift
	background "$mlflow_name" python3 \
	    "$TOP_SRCDIR/tests/support/sh/mlflow_server.py" "$@"
	retry test -s "$dir/$mlflow_name.out"
	url=http://127.0.0.1:$(cat "$dir/$mlflow_name.out")
}
state() { # what the server has, a line for each run
	python3 -c '
import json, sys, urllib.request
for run in json.loads(urllib.request.urlopen(sys.argv[1] + "/state").read()):
    print(run["name"], run["status"], run["tags"].get("hpotune.state"),
          json.dumps(run["params"], sort_keys=True),
          " ".join("%s@%d=%s" % (m["key"], m["step"], m["value"])
                   for m in run["metrics"][-3:]), len(run["metrics"]))' "$url"
}

cat >study.json <<'END'
{ "study": "flow", "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": {
    "lr": { "type": "fixed", "value": 0.5 },
    "opt": { "type": "fixed", "value": "é \"b\"" },
    "none": { "type": "fixed", "value": null } },
  "stopping": "none", "strategy": { "name": "random", "duplicates": "resample" },
  "enqueue": [ {}, {}, {}, {}, {} ],
  "limits": { "trials": 5 } }
END
for end in --done --failed --stopped ''; do
	trial=$("$HPOTUNE" ask study.json | sed -n 's/^trial=//p')
	for report in 'step=0 loss=0.5 acc@5=0.25' 'step=1 loss=nan' \
	    'step=2 loss=-0.125'; do
		quietly "$HPOTUNE" tell study.json "$trial" $report
	done
	[ -z "$end" ] || quietly "$HPOTUNE" tell study.json "$trial" "$end"
done
mlflow first
MLFLOW_TRACKING_TOKEN=secret quietly "$HPOTUNE" export --format mlflow --url "$url/"
is "$?:$(cat out err)" "0:hpotune: note: $url/: runs sent: 4" \
    'a study is sent'
params='{"lr": "0.5", "none": "null", "opt": "\u00e9 \"b\""}'
state >was
is "$(cat was)" "trial-1 FINISHED completed $params acc_5@0=0.25 loss@1=NaN loss@2=-0.125 4
trial-2 FAILED failed $params acc_5@0=0.25 loss@1=NaN loss@2=-0.125 4
trial-3 FINISHED stopped $params acc_5@0=0.25 loss@1=NaN loss@2=-0.125 4
trial-4 RUNNING running $params acc_5@0=0.25 loss@1=NaN loss@2=-0.125 4" \
    'with its parameters, metrics and states'
is "$(grep -vc ' Bearer secret$' first.err)" 0 'and with the token'
: >first.err
MLFLOW_TRACKING_URI=$url quietly "$HPOTUNE" export --format mlflow
is "$?:$(cat out err)" "0:hpotune: note: $url: runs sent: 1" \
    'sent again, only a trial that runs is sent'
is "$(state)" "$(cat was)" 'no run is made twice'
is "$(grep -c create first.err)" 0 'and none is asked for'

# What has changed: a trial that ends, a new one with more metrics than a batch.
quietly "$HPOTUNE" tell study.json 4 --done
trial=$("$HPOTUNE" ask study.json | sed -n 's/^trial=//p')
awk 'BEGIN { for (i = 0; i < 2100; i++) print "hpotune: step=" i " loss=" i }' |
    quietly "$HPOTUNE" tell study.json "$trial" - --done
quietly "$HPOTUNE" export --format mlflow --url "$url"
is "$(cat err)" "hpotune: note: $url: runs sent: 2" \
    'what is new is sent'
is "$(state | sed -n 's/{.*}//; 4,$p')" \
    'trial-4 FINISHED completed  acc_5@0=0.25 loss@1=NaN loss@2=-0.125 4
trial-5 FINISHED completed  loss@2097=2097 loss@2098=2098 loss@2099=2099 2100' \
    'in several batches where it is much'

# A study that runs is followed to its end.
sed -e 's/"flow"/"live"/' -e 's/"limits"/"trial": { "command": ["sh", "-c",\
    "echo hpotune: step=1 loss=1; until test -e go; do sleep 0.05; done"] },\n&/' \
    study.json >live.json
server live.json -q
running() {
	[ "$(sql live.db "SELECT count(*) > 0 FROM metrics" 2>/dev/null)" = 1 ]
}
ok 'a study runs' retry running
background follow "$HPOTUNE" export --format mlflow --follow --url "$url" live.json
follows=$child
seen() {
	state >seen
	grep -q 'trial-1 RUNNING running .* loss@1=1 1$' seen
}
ok 'a running trial is seen there' retry seen
: >go
reap "$server"
reap "$follows"
is "$?:$(state | grep -c '^trial-[0-9] FINISHED completed.* loss@1=1 1$')" \
    "0:$(sql live.db "SELECT count(*) FROM trials WHERE state = 'completed'")" \
    'after the end of its server all is there, and the export ends'

wrong() { # status error what argument …
	wrong_want="$1:hpotune: $2"
	wrong_what=$3
	shift 3
	quietly "$HPOTUNE" export "$@" flow.db
	is "$?:$(cat err)" "$wrong_want" "$wrong_what"
}
wrong 2 'export: --format mlflow requires --url http://HOST:PORT' \
    'the server must be named' --format mlflow
wrong 2 'export: --url and --follow require --format mlflow' \
    'other formats have no server' --follow
wrong 2 'export: --format mlflow has no --output: a server gets it' \
    'and MLflow has no file' --format mlflow -o x
mlflow refuses --refuse
wrong 1 "$url: experiments/create: HTTP status 403: no right" \
    'a refusal gives its reason' --format mlflow --url "$url"
kill "$child"
wait "$child" 2>/dev/null
quietly "$HPOTUNE" export --format mlflow --url "$url" flow.db
like "$?:$(cat err)" "^1:hpotune: $url: .*" 'a server that is not there'
done_testing
