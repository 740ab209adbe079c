#!/bin/sh
# What import, export and the readers of databases get from others: names that are
# NULL, views and pages without an end, YAML without a bottom; and no message has
# the password of an address.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3 python3

# Not killed by a signal, and not for lack of time: it says what is wrong.
# shellcheck disable=SC2154
refuses() { # what pattern command …
	refuses_what=$1
	refuses_pattern=$2
	shift 2
	timeout 300 "$@" >out 2>err
	refuses_status=$?
	ok "$refuses_what: status $refuses_status" [ $refuses_status -lt 100 ]
	like "$(cat out err)" "$refuses_pattern" "$refuses_what: it says so"
}

cat >st.json <<'END1'
{ "study": "st", "objective": { "metric": "v", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "random", "seed": 1 },
  "trial": { "command": ["sh", "-c", "echo hpotune: v={x}"] },
  "limits": { "trials": 2 } }
END1
ok 'a study' quietly "$HPOTUNE" start st.json

# ---- storages of Optuna -------------------------------------------------------------
storage() { # sql: a storage that it has changed
	rm -f o.db
	"$HPOTUNE" export --format optuna --output o.db st.json
	sql_schema o.db \
	    "UPDATE sqlite_schema SET sql = replace(sql, 'NOT NULL', '')"
	sqlite3 o.db "$1"
}
storage 'UPDATE studies SET study_name = NULL'
refuses 'a study without a name' 'it has no study st' \
    "$HPOTUNE" import optuna --study st o.db
refuses 'the only study, without a name' 'no name, or no direction' \
    "$HPOTUNE" import optuna o.db
for column in studies.study_name study_directions.direction trials.state \
    trial_values.value trial_params.param_name trial_params.distribution_json \
    trial_params.param_value; do
	storage "UPDATE ${column%.*} SET ${column#*.} = NULL"
	timeout 300 "$HPOTUNE" import optuna o.db >out 2>err
	status=$?
	ok "$column is NULL: status $status" [ $status -lt 100 ]
done
storage "ALTER TABLE studies RENAME TO s; CREATE VIEW studies AS
    WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)
    SELECT x AS study_id, 'st' AS study_name FROM c WHERE x < 0"
refuses 'a view without an end' 'a query of it does not end' \
    "$HPOTUNE" import optuna o.db

# ---- databases of studies ----------------------------------------------------------
damaged() { # table sql
	rm -f d.db*
	sqlite3 st.db "VACUUM INTO 'd.db'"
	sql_schema d.db "UPDATE sqlite_schema
	    SET sql = replace(replace(sql, 'NOT NULL', ''), 'CHECK (', 'CHECK (1 OR ')
	    WHERE name = '$1'"
	sqlite3 d.db "$2"
}
damaged t_aim 'UPDATE t_aim SET metric = NULL, goal = NULL'
refuses 'no objective' 'no objective of its study' \
    "$HPOTUNE" report --output r.html d.db
damaged t_param 'UPDATE t_param SET name = NULL'
mkdir -p d.d
chmod 700 d.d
timeout 300 "$HPOTUNE" rename d.db e >out 2>err
status=$?
ok "no name of a parameter: status $status" [ $status -lt 100 ]

# ---- YAML ---------------------------------------------------------------------------
python3 -c 'print("[" * 1000000)' >deep.yaml
refuses 'YAML without a bottom' 'deep.yaml:1:[0-9]*: it is nested too deeply' \
    "$HPOTUNE" import wandb deep.yaml
python3 -c 'print("a: 1\nb:\n" + "".join("  - &x%d 1\n  - *x%d\n" % (i, i)
    for i in range(60000)))' >anchors.yaml
refuses 'too many anchors' 'anchors.yaml:[0-9:]* it has too many anchors' \
    "$HPOTUNE" import wandb anchors.yaml

# ---- MLflow -------------------------------------------------------------------------
cat >mlflow.py <<'END1'
import http.server, json, sys


class Handler(http.server.BaseHTTPRequestHandler):
    pages = 0

    def log_message(self, *rest):
        pass

    def do_GET(self):
        self.answer({'experiment': {'experiment_id': '1'}})

    def do_POST(self):
        self.rfile.read(int(self.headers.get('Content-Length', 0)))
        Handler.pages += 1
        self.answer({'runs': [], 'next_page_token': str(Handler.pages)})

    def answer(self, body):
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)


server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
END1
python3 mlflow.py >port &
children="$children $!"
ok 'a server of MLflow' retry [ -s port ]
address=http://127.0.0.1:$(cat port)
refuses 'pages without an end' \
    "$address: runs/search: the list of runs has no end" \
    "$HPOTUNE" export --format mlflow --url "$address" st.json
refuses 'a password in the address' \
    "$address/path: an address with a user or a password is not sent" \
    "$HPOTUNE" export --format mlflow \
    --url "http://me:se@cret@127.0.0.1:$(cat port)/path" st.json
unlike "$(cat out err)" 'me|cret' 'the message has neither'

done_testing
