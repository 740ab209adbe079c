#!/bin/sh
# export --format tensorboard: the folder and its files, which our own reader of
# event files reads, too.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

cat >study.json <<'END'
{ "study": "board", "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "trial": { "command": ["true", "{params}"], "max_steps": 5 },
  "stopping": "none", "backend": { "name": "pretend", "seconds_per_step": 0.001 },
  "limits": { "trials": 3 } }
END
quietly "$HPOTUNE" start -q study.json
wrong() { # status error what argument …
	wrong_want="$1:hpotune: $2"
	wrong_what=$3
	shift 3
	quietly "$HPOTUNE" export --format tensorboard "$@"
	is "$?:$(cat err)" "$wrong_want" "$wrong_what"
}
wrong 2 'export: --format tensorboard requires --output FOLDER' \
    'the folder must be named'
wrong 2 'export: --table requires --format csv or json' 'a view is no folder' \
    --table trials -o logs
ok 'a folder is written' quietly "$HPOTUNE" export --format tensorboard -o logs
is "$(find logs -type f | sort)" 'logs/events.out.tfevents.0000000000.hpotune
logs/trial-1/events.out.tfevents.0000000000.hpotune
logs/trial-2/events.out.tfevents.0000000000.hpotune
logs/trial-3/events.out.tfevents.0000000000.hpotune' \
    'with a file for the study and one for each trial'
wrong 1 'export: logs exists already: --force replaces it' \
    'it is not overwritten' -o logs
find logs -type f -exec cksum {} + | sort >before
ok 'with --force its files are replaced' quietly "$HPOTUNE" export \
    --format tensorboard -o logs --force
is "$(find logs -type f -exec cksum {} + | sort)" "$(cat before)" \
    'the same study gives the same files'
: >file
wrong 1 'file/events.out.tfevents.0000000000.hpotune: Not a directory' 'a file is no folder' -o file --force

# Our reader of such folders checks the records.
quietly "$HPOTUNE" replay --metric loss --rule median logs
like "$(cat err)" 'logs: it has 3 trials' 'the files are read back'
done_testing
