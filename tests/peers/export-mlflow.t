#!/bin/sh
# A study sent to a real MLflow server, twice.  MLflow is large: it is not
# installed for the test.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3
for python in ${HPOTUNE_TEST_PYTHON-} python3; do
	command -v "$python" >/dev/null && python_has mlflow && found=1 && break
done
[ -n "${found-}" ] || skip_all 'NOT COMPARED: no Python with mlflow'
unset MLFLOW_TRACKING_URI MLFLOW_TRACKING_TOKEN http_proxy

cat >study.json <<'END'
{ "study": "flow", "objective": { "metric": "val/loss", "goal": "minimize" },
  "parameters": {
    "lr": { "type": "fixed", "value": 0.5 },
    "opt": { "type": "fixed", "value": "é \"b\"" } },
  "stopping": "none", "enqueue": [ {}, {}, {}, {} ], "limits": { "trials": 4 } }
END
for end in --done --failed --stopped ''; do
	trial=$("$HPOTUNE" ask study.json | sed -n 's/^trial=//p')
	for report in 'step=0 val/loss=0.5 acc@5=0.25' 'step=1 val/loss=nan' \
	    'step=2 val/loss=-0.125'; do
		quietly "$HPOTUNE" tell study.json "$trial" $report
	done
	[ -z "$end" ] || quietly "$HPOTUNE" tell study.json "$trial" "$end"
done
port=$("$python" -c '
import socket
with socket.socket() as s:
    s.bind(("127.0.0.1", 0))
    print(s.getsockname()[1])')
background mlflow "$python" -m mlflow server --workers 1 --host 127.0.0.1 \
    --backend-store-uri "sqlite:///$dir/mlflow.db" --port "$port"
url=http://127.0.0.1:$port
sent() { quietly "$HPOTUNE" export --format mlflow --url "$url"; }
RETRY_SECONDS=300
ok 'a study is sent' retry sent || diag "$(cat err)"
is "$(cat err)" "hpotune: note: $url: runs sent: 4" 'all of it'
params='{"lr": "0.5", "opt": "\u00e9 \"b\""}'
metrics='{"acc_5": [[0, 0.25]], "val/loss": [[0, 0.5], [1, "nan"], [2, -0.125]]}'
"$python" "$TOP_SRCDIR/tests/peers/export_mlflow.py" "$url" flow >was 2>errors ||
    diag "$(tail -n 5 errors)"
is "$(cat was)" "trial-1 FINISHED True $params $metrics
trial-2 FAILED True $params $metrics
trial-3 FINISHED True $params $metrics
trial-4 RUNNING False $params $metrics" 'the server has it'
quietly "$HPOTUNE" tell study.json 4 --done
ok 'it is sent again' sent
is "$(cat err)" "hpotune: note: $url: runs sent: 1" \
    'what has changed since'
"$python" "$TOP_SRCDIR/tests/peers/export_mlflow.py" "$url" flow >is 2>errors
is "$(cat is)" "$(sed 's/4 RUNNING False/4 FINISHED True/' was)" \
    'nothing is there twice'
ps -o pid= --ppid "$child" | xargs -r kill # its workers
done_testing
