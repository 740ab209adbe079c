#!/bin/sh
# The lines of a trial: recorded, or skipped with a note.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

# Two steps, each with names that are common, and one that is too long.
long=$(printf '%065d' 7)
export long
cat >train <<'END'
#!/bin/sh
for step in 1 2; do
	echo "{\"step\": $step, \"loss\": 0.$step, \"acc@5\": 0.9," \
	    "\"mAP@[.5:.95]\": 0.4, \"phase\": \"train\"," \
	    "\"val\": {\"loss\": \"0.5\"}, \"$long\": 1}" >>$HPOTUNE_METRICS
	echo "hpotune: step=$step recall@10=0.7"
done
END
chmod +x train
cat >names.json <<'END'
{ "study": "names", "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "constraints": [ { "metric": "recall@10", "min": 0.5 } ],
  "trial": { "command": ["./train"], "max_steps": 2, "gpus": 0 },
  "limits": { "trials": 1 } }
END
ok 'a study whose reports have odd names' \
    "$HPOTUNE" start --quiet names.json
is "$(sql names.db "SELECT state, objective FROM results")" 'completed|0.1' \
    'a line is taken without the number whose name is none'
is "$(sql names.db "SELECT name, count(*) FROM metrics GROUP BY 1")" \
    'acc@5|2
loss|2
mAP@_.5:.95_|2
recall@10|2
val/loss|2' 'every other number is recorded, with a name made of its own'
is "$(sql names.db "SELECT count(*) FROM events
    WHERE text GLOB '*a part of a line of its metrics.jsonl was skipped: *'")" 1 \
    'a skipped part is reported once'
done_testing
