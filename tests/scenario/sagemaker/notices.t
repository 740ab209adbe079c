#!/bin/sh
# Notices: a study that ends, fails or waits sends to an SNS topic and an
# EventBridge bus, once, across kills and refusals, and is delayed by neither.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/standin.sh"

need sqlite3 awk tar gzip
sagemaker_code
standin --speed 200 --topic news --topic ordered.fifo --bus team \
    --virtual '{ "steps": 5, "seconds": 0.2, "term": 0.05,
    "line": "hpotune: step=%STEP% loss=%VALUE%" }'
topic=arn:aws:sns:eu-west-1:123456789012:news
faulty=$TOP_BUILDDIR/tests/torture/hpotune-fail

study() { # name notify [members]
	cat >"$1.json" <<-END
	{ "study": "$1",
	  "objective": { "metric": "loss", "goal": "minimize" },
	  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
	  "strategy": { "name": "random", "seed": 7 }, "stopping": "none",
	  ${3-\"trial\": { \"command\": [\"true\"], \"max_steps\": 3 \},
	  \"backend\": { \"name\": \"pretend\", \"seconds_per_step\": 0.001 \}},
	  "limits": { "trials": 3 },
	  "notify": { $2 } }
	END
}

# What the stand-in was told of a study: an expression for each, one a line.
told() { # study event expression
	"$python" -S -E -c 'import json, sys
for line in open("aws/requests.jsonl"):
    one = json.loads(line)
    if one["event"] != sys.argv[2]:
        continue
    said = one["said"]["detail"] if "said" in one else one.get("attributes")
    if said is None or said["study"] == sys.argv[1]:
        print(eval(sys.argv[3]))' "$@"
}

# Nobody takes anything of this study while the others run.
standin_faults '{ "delay": { "on": "events.PutEvents", "seconds": 60 } }'
study silent '"eventbridge": "default", "region": "eu-west-1"'
server silent.json --quiet
silent=$server

# ---- finished, to an ordered topic; the endpoint of the service alone ------------

study done "\"sns\": \"arn:aws:sns:eu-west-1:123456789012:ordered.fifo\""
ok 'a study that finishes' env -u AWS_ENDPOINT_URL \
    AWS_ENDPOINT_URL_SNS="$AWS_ENDPOINT_URL" "$HPOTUNE" start done.json --quiet
id=$(sql done.db 'SELECT id FROM notices')
is "$(told done published \
    '(one["subject"], one["group"], one["dedup"] == said["notice"], said)')" \
    "('hpotune: study done has finished', 'done', True, {'study': 'done', 'moment': 'finished', 'notice': '$id'})" \
    'its topic receives it, in order and with the id of the notice'
message=$(told done published 'one["message"]')
like "$message" '^The study done has finished: all 3 trials are done\.$' \
    'in plain words'
like "$message" "^best:   trial $(sql done.db 'SELECT trial FROM best') with loss 0\.[0-9]+$" \
    'with its best trial'
like "$message" '^trials: 3: 3 completed$' 'its counts'
like "$message" "^folder: $dir$" 'and where it is'
is "$(sql done.db "SELECT moment, channel, sent IS NOT NULL, why FROM notices")" \
    'finished|sns|1|' 'view notices has it'
ok 'started again' "$HPOTUNE" start done.json --quiet
is "$(told done published 1)" 1 'it has nothing new to tell'
sed 's/"trials": 3/"trials": 4/' done.json >more.json && mv more.json done.json
ok 'with one trial more' "$HPOTUNE" start done.json --quiet
is "$(told done published 1 | wc -l | tr -d ' ')" 2 'it has'

# ---- a death before it is sent, and one before that is recorded -------------------

study dead "\"sns\": \"$topic\""
HPOTUNE_FAIL=notices.before_send=kill "$faulty" start dead.json --quiet \
    2>/dev/null
is "$(sql dead.db "SELECT (SELECT state FROM study), moment, sent FROM notices")" \
    'finished|finished|' 'killed before it is sent, it is due'
is "$(told dead published 1)" '' 'and no client receives it'
HPOTUNE_FAIL=notices.before_record=kill "$faulty" start dead.json --quiet \
    2>/dev/null
is "$(told dead published 1)" 1 'the next start sends it'
is "$(sql dead.db 'SELECT count(*), count(sent) FROM notices')" '1|0' \
    'killed before that is recorded, it is due again'
ok 'the one after that' "$HPOTUNE" start dead.json --quiet
is "$(told dead published 'said["notice"]' | sort | uniq -c | awk '{ print $1 }')" \
    2 'sends it under the same id'
study twice '"sns": "arn:aws:sns:eu-west-1:123456789012:ordered.fifo"'
HPOTUNE_FAIL=notices.before_record=kill "$faulty" start twice.json --quiet \
    2>/dev/null
ok 'an ordered topic' "$HPOTUNE" start twice.json --quiet
is "$(told twice published 1) $(told twice dropped_double 'one["id"]')" \
    "1 $(sql twice.db 'SELECT id FROM notices')" 'drops the double by its id'

# ---- failed; who may not publish ----------------------------------------------------

standin_faults '{ "denied": { "on": "sns.*" },
    "delay": { "on": "events.PutEvents", "seconds": 60 } }'
study bad "\"sns\": \"$topic\", \"on\": [\"failed\"]" \
    '"trial": { "command": ["false"], "retries": 0 }'
fails 'a study that fails, and may not say so' 1 \
    "$HPOTUNE" start bad.json --quiet 2>err
is "$(sql bad.db "SELECT moment, sent, why LIKE 'SNS Publish: %AuthorizationError%'
    FROM notices")" 'failed||1' 'it is due, and view notices gives the reason'
like "$(sql bad.db "SELECT text FROM events WHERE area = 'notify'")" \
    '^sns: a notice about the study was not delivered: SNS Publish: ' 'an event, too'
like "$(cat err)" 'a notice to sns is not delivered yet: the next start sends it' \
    'and its last words'
standin_faults '{ "delay": { "on": "events.PutEvents", "seconds": 60 } }'
fails 'with that right' 1 "$HPOTUNE" start bad.json --quiet
like "$(told bad published 'one["message"]')" \
    '^The study bad has failed: all 3 trials failed' 'the next start reports it'
is "$(told bad published 1)" 1 'once'
is "$(sql bad.db 'SELECT count(why) FROM notices')" 0 'the notice has no reason of a refusal any more'

# ---- finished, where only failures are told; interrupted -----------------------------

study quiet "\"sns\": \"$topic\", \"on\": [\"failed\", \"interrupted\"]"
ok 'who asks for failures alone' "$HPOTUNE" start quiet.json --quiet
is "$(sql quiet.db 'SELECT count(*) FROM notices')" 0 \
    'no notice of a successful end'
study cut "\"sns\": \"$topic\", \"on\": [\"interrupted\"]" \
    '"trial": { "command": ["sleep", "600"], "grace": "1s" }'
server cut.json --quiet
retry sql_is cut.db "SELECT count(*) > 0 FROM trials WHERE state = 'running'" 1
kill -INT "$server"
reap "$server"
is "$? $(told cut published 'one["subject"]')" \
    '3 hpotune: study cut was interrupted' 'a notice of the interruption is sent'

# ---- waiting for its owner ---------------------------------------------------------------

block=$(sagemaker_block | sed 's/"pace": 50/"pace": 200/')
told_of() { # study count
	[ "$(told "$1" published 1 | wc -l)" -eq "$2" ]
}
notify() { # study: its file gets the topic
	sed "s|\"limits\"|\"notify\": { \"sns\": \"$topic\" }, &|" "$1.json" \
	    >with.json && mv with.json "$1.json"
}
standin_faults '{ "denied": { "on": "sagemaker.CreateTrainingJob" },
    "delay": { "on": "events.PutEvents", "seconds": 60 } }'
sagemaker_study right.json right 2 "$block"
notify right
server right.json --quiet
ok 'a study that waits for its owner' retry told_of right 1
like "$(told right published '(one["subject"], one["message"])')" \
    'study right waits for you.*AWS denies sagemaker:CreateTrainingJob' \
    'names the purpose'
is "$(sql right.db 'SELECT state FROM study')" running 'and runs on'
kill -9 "$server"
reap "$server" 2>/dev/null
server right.json --quiet
ok 'the next server waits for the same' retry sql_is right.db \
    "SELECT count(*) FROM events WHERE text LIKE 'sagemaker: no trial can%'" 2
kill -INT "$server"
reap "$server"
is "$? $(told right published 1) $(sql right.db 'SELECT count(*) FROM notices')" \
    '3 1 1' 'which is no news'
standin_faults '{ "delay": { "on": "events.PutEvents", "seconds": 60 } }'

sagemaker_study dear.json dear 3 "$(sagemaker_block \
    '"download_time": "1s"' '"upload_time": "1s"' | sed 's/"max_run": "1h"/"max_run": "8s"/
        s/"pace": 50/"pace": 200/
        s/"ml.g5.xlarge": 1.5, "ml.g4dn.xlarge": 0.8/"ml.g5.xlarge": 3600/
        s/\["ml.g5.xlarge", "ml.g4dn.xlarge"\]/"ml.g5.xlarge"/')"
sed 's/"parallel": 2/"parallel": 1, "cost": 130.5/' dear.json >x && mv x dear.json
notify dear
ok 'a study that comes to its limit of dollars' \
    "$HPOTUNE" start dear.json --quiet
like "$(told dear published '(one["subject"], one["message"])')" \
    'study dear waits for you.*limits\.cost.*cost:   \$[0-9]' 'waits for its owner'

# ---- EventBridge ---------------------------------------------------------------------------

reap "$silent"
is "$? $(sql silent.db "SELECT (SELECT state FROM study), count(*), count(sent),
    count(why) FROM notices")" '0 finished|1|0|0' \
    'a channel that does not answer is not waited for: the notice stays due'
standin_faults '{ "event_refused": { "max": 1 } }'
fails 'an entry that is refused in a good answer' 0 \
    "$HPOTUNE" start silent.json --quiet 2>err
like "$(sql silent.db 'SELECT why FROM notices WHERE sent IS NULL')" \
    '^EventBridge PutEvents: the event was not accepted: Internal failure \(InternalFailure\)$' \
    'is due'
ok 'the next start' "$HPOTUNE" start silent.json --quiet
is "$(told silent put '(one["bus"], one["said"]["source"],
    one["said"]["detail-type"], one["said"]["region"], said["state"],
    said["why"], said["trials"], said["best"]["state"], said["metric"])' |
    tail -n 1)" \
    "('default', 'hpotune', 'Study finished', 'eu-west-1', 'finished', 'all 3 trials are done', {'completed': 3}, 'completed', 'loss')" \
    'puts the event, with its numbers'
study both "\"sns\": \"$topic\", \"eventbridge\":
    \"arn:aws:events:eu-west-1:123456789012:event-bus/team\""
like "$("$HPOTUNE" check both.json)" \
    '^notices    sns arn:.*:news and eventbridge arn:.*/team: finished, failed, waiting$' \
    'check lists the recipients of notices'
ok 'a topic and a bus by its ARN' "$HPOTUNE" start both.json --quiet
is "$(told both published 'said["notice"]') $(told both put 'one["bus"]')" \
    "$(told both put 'said["notice"]') team" 'hear the same'

is "$(proved defects)" '[]' 'the stand-in keeps to the models'
done_testing
