#!/bin/sh
# limits.cost against what AWS bills: downloads and uploads longer than
# expected, warm pools, and costs known later.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/standin.sh"

need sqlite3 awk tar gzip
standin

misfortune() { # specification: what goes wrong from now on
	"$python" -c 'import sys, urllib.request as r
r.urlopen(r.Request(sys.argv[1] + "/standin/faults", method="PUT",
    data=sys.argv[2].encode()))' "$AWS_ENDPOINT_URL" "$1"
}

# Below 0.5 a trial is soon at its end, the others train until they are told.
mkdir code
cat >code/train.sh <<'END'
echo "hpotune: step=1 loss=$1"
case $1 in 0.[0-4]*) exit 0 ;; esac
trap 'exit 0' TERM
while :; do sleep 0.1; done
END

# A machine is a dollar a second here: an attempt may come to $130 at first.
study() { # name dollars block-member …
	study_name=$1 study_cost=$2
	shift 2
	cat >"$study_name.json" <<-END
	{ "study": "$study_name",
	  "objective": { "metric": "loss", "goal": "minimize" },
	  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
	  "strategy": { "name": "random", "seed": 7 },
	  "stopping": "none",
	  "enqueue": [ { "x": 0.25 }, { "x": 0.6 }, { "x": 0.7 }, { "x": 0.8 },
	    { "x": 0.9 } ],
	  "trial": { "command": ["sh", "train.sh", "{x}"], "workdir": "code" },
	  "backend": $(sagemaker_block "$@" |
	      sed 's/"max_run": "1h"/"max_run": "8s"/
	          s/"ml.g5.xlarge": 1.5/"ml.g5.xlarge": 3600/'),
	  "limits": { "trials": 5, "parallel": 5, "cost": $study_cost } }
	END
}

# ---- an upload without an end ---------------------------------------------------

misfortune '{"slow_upload": {"p": 1, "max": 1, "seconds": 4}}'
study slow 651 '"download_time": "1s"' '"upload_time": "1s"'
ok 'a study whose first upload takes long' timeout 300 \
    "$HPOTUNE" start slow.json --quiet
misfortune '{}'
like "$(sql slow.db "SELECT text FROM events WHERE level = 'warning'")" \
    'its upload takes longer than the expected 1 s' \
    'the user gets a message'
like "$(sql slow.db 'SELECT why FROM t_study')" \
    '^limits.cost is reached: if all running trials are stopped now, the study costs \$[0-9]+\.[0-9]+ of \$651.00' \
    'what trains is ended in time'
is "$(sql slow.db 'SELECT state FROM trials ORDER BY trial')" 'completed
waiting
waiting
waiting
waiting' 'and may continue; what has trained has its result'
is "$(sql slow.db 'SELECT cost <= 651 AND abs(committed - cost) < 1e-6 FROM costs')" 1 \
    'the limit is kept'
is "$(sql slow.db "SELECT upload_seconds BETWEEN 3.5 AND 30 AND
    download_seconds > 0 FROM attempts WHERE trial = 1")" 1 \
    'the times beside the training are recorded'

# ---- three more at once: the same again, a warm pool, max_run --------------------

sed -i 's/"cost": 651/"cost": 900/' slow.json
sed -e 's/"study": "slow"/"study": "short"/; s/"max_run": "8s"/"max_run": "1s"/' \
    -e 's/{ "x": 0.25 }, //; s/"trials": 5/"trials": 1/' slow.json >short.json
study warm 3000 '"keep_alive": "10m"'
sed -i -e 's/"trials": 5, "parallel": 5/"trials": 2, "parallel": 1/' \
    -e 's/"max_run": "8s"/"max_run": "2s"/' warm.json
server short.json
short=$server
server warm.json
warm=$server
server slow.json

retry sql_is slow.db "SELECT count(*) FROM attempts WHERE attempt = 2" 4
is "$(sql slow.db 'SELECT count(*) FROM t_attempt WHERE attempt = 2
    AND worst_cost >= 8 + 120 + 4 * 1.25 + 30')" 4 \
    'what the next attempts may come to is known from the first'
kill -INT "$server"
reap "$server"
is $? 3 'it leaves'
is "$(sql slow.db 'SELECT abs(committed - cost) < 1e-6 FROM costs')" 1 \
    'what was kept for jobs that ended is free again'

reap "$warm"
is $? 0 'a study whose jobs wait for one another'
is "$(sql warm.db 'SELECT attempt, cost - billable_seconds BETWEEN 1 AND 60
    FROM attempts WHERE trial = 1')" '1|1' \
    'idle time counts, and no more of it than there was'
is "$(sql warm.db 'SELECT abs(cost - billable_seconds - 600) < 1e-6 FROM attempts
    WHERE trial = 2')" 1 'all of it where nobody has told'
is "$(sql warm.db 'SELECT abs(committed - cost) < 1e-6, abs(cost - (SELECT
    sum(cost) FROM attempts)) < 1e-6 FROM costs')" '1|1' 'the sums agree'

reap "$short"
is $? 0 'a study whose trial reaches max_run'
is "$(sql short.db 'SELECT t.state, objective, end_class, t.why
    FROM trials AS t JOIN attempts USING (trial)')" \
    'stopped|0.6|timeout|max_run was reached' 'it keeps its value'

# ---- the invoice ------------------------------------------------------------------

proved bills >bills.json
invoice() { # study: dollars by the journal; a machine is one a second
	"$python" -c 'import json, sys
print("%.1f" % sum(bill["seconds"] for job, bill in
    json.load(open("bills.json")).items() if job.startswith(sys.argv[1])))' \
	    "hpt-$1-"
}
for study in slow warm short; do
	is "$(sql $study.db "SELECT printf('%.1f', cost) FROM costs")" \
	    "$(invoice $study)" "$study: the study has what AWS bills"
done
proved_clean 'all of it'
done_testing
