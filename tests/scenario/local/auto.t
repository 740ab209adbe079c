#!/bin/sh
# auto, the default: the view suggestions says which strategy was asked and why,
# a killed server comes to the same suggestions, and nothing has to be there.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

need sqlite3

# Twelve trials to learn from.
cat >old.json <<'END'
{ "study": "old",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 },
    "y": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "random", "seed": 3 },
  "stopping": "none",
  "trial": { "command": ["sh", "-c", "echo hpotune: loss={x}"] },
  "limits": { "trials": 12, "parallel": 2 } }
END
# The study $1 that learns from them and names no strategy; trials last $2 s.
study() { # name seconds sed-expression …
	name=$1
	seconds=$2
	shift 2
	sed -e "s/\"old\"/\"$name\"/; s/\"name\": \"random\", //" \
	    -e "s/echo/sleep $seconds; echo/; s/: 12, .*: 2/: 4, \"parallel\": 1/" \
	    -e 's/"limits"/"warm_start": ["old.db"], "limits"/' "$@" \
	    old.json >"$name.json"
}
who() { # name
	sql "$1.db" "SELECT group_concat(strategy || ': ' || coalesce(reason, '-'))
	    FROM (SELECT DISTINCT strategy, reason FROM suggestions)"
}

"$HPOTUNE" start -q old.json
is "$(who old)" 'random: -' 'a strategy with a name needs no reason'
ok 'no strategy is named' "$HPOTUNE" check old.json
sed 's/"name": "random", //; s/"old"/"cold"/' old.json >cold.json
"$HPOTUNE" start -q --trials 11 cold.json
sqlite3 cold.db 'UPDATE t_trial SET seconds = 0.01'
"$HPOTUNE" start -q cold.json
is "$(sql cold.db 'SELECT strategy FROM study')" auto 'the default'
is "$(sql cold.db 'SELECT strategy, reason FROM suggestions WHERE trial <= 6
    GROUP BY strategy')" \
    'middle|numbers alone, fewer than 6 trials, or fewer than 5 finished: the middle of all ranges, then evenly spread points' \
    'begins in the middle'
is "$(sql cold.db 'SELECT strategy, reason FROM suggestions WHERE trial = 12')" \
    'tpe|trials take less than 0.2 s on average' 'then it is the duration'

study long 0.25
"$HPOTUNE" start -q long.json
is "$(who long)" 'gp: fewer than 500 finished trials' 'long trials: gp'
study short 0
"$HPOTUNE" start -q --trials 1 short.json
sqlite3 short.db 'UPDATE t_trial SET seconds = 0.01'
"$HPOTUNE" start -q --trials 2 short.json
is "$(sql short.db 'SELECT strategy FROM suggestions ORDER BY trial')" 'gp
tpe' 'short ones: gp until their duration is known'

# Killed while the third trial runs, which waits for that.
study killed '0.25; until [ $HPOTUNE_TRIAL -ne 3 ] || [ -e go ]; do sleep 0.1; done'
server killed.json -q
third() {
	sql_is killed.db "SELECT completed, running FROM study" '2|1'
}
ok 'a server is there to be killed' retry third
kill -9 "$server"
reap "$server" 2>/dev/null
: >go
ok 'the same command goes on' "$HPOTUNE" start -q killed.json
is "$(sql killed.db 'SELECT trial, params FROM trials ORDER BY trial')" \
    "$(sql long.db 'SELECT trial, params FROM trials ORDER BY trial')" \
    'a restart comes to the same settings'
is "$(sql killed.db 'SELECT trial, strategy, reason FROM suggestions ORDER BY trial')" \
    "$(sql long.db 'SELECT trial, strategy, reason FROM suggestions ORDER BY trial')" \
    'for the same reasons'

# After 500 trials of a minute it is cmaes, which takes the trials as known ones:
# another setting than if they were its own.
mkdir own
pretended='"backend": { "name": "pretend", "steps": 1, "seconds_per_step": 0.001 }'
sed -e "s/\"limits\"/$pretended, \"limits\"/" \
    -e 's/"old"/"many"/; s/: 12, /: 500, /' old.json >many.json
"$HPOTUNE" start -q many.json
sqlite3 many.db 'UPDATE t_trial SET seconds = 60'
cp many.db many.json own
sed 's/"name": "random", //; s/: 500/: 501/' many.json >m && mv m many.json
sed 's/random/cmaes/; s/: 500/: 501/' own/many.json >m && mv m own/many.json
"$HPOTUNE" start -q many.json
"$HPOTUNE" start -q own/many.json
last() { # database
	sql "$1" 'SELECT strategy, reason FROM suggestions WHERE trial = 501'
}
is "$(last many.db)" \
    'cmaes|500 finished trials or more, all parameters are numbers' \
    'after 500 trials cmaes'
is "$(last own/many.db)" 'cmaes|' 'cmaes by its name'
params='SELECT params FROM trials WHERE trial = 501'
ok 'the trials before are known trials of cmaes, as the manual says' \
    [ "$(sql many.db "$params")" != "$(sql own/many.db "$params")" ]

# Without hpotune-worker.
study none 0.25 -e 's/: 4, "para/: 2, "para/'
HPOTUNE_WORKER=$dir/nobody "$HPOTUNE" start -q none.json 2>err
is $? 0 'a worker that is not there is no error'
is "$(who none)" 'tpe: hpotune-worker cannot be used' 'tpe is asked instead'
is "$(sql none.db "SELECT level, text FROM events WHERE area = 'strategy'")" \
    "warning|auto: gp cannot be used, tpe is: $dir/nobody: No such file or directory" \
    'an event reports it once'
is "$(grep -c nobody err)" 1 'and the log'

# The default of earlier versions was tpe, and their studies keep it.
sed 's/"random"/"tpe"/; s/"old"/"early"/' old.json >early.json
"$HPOTUNE" start -q -n 6 early.json
sed 's/"name": "tpe", //' early.json >e && mv e early.json
sqlite3 early.db "UPDATE t_study SET json = json_set(json, '\$.strategy',
    json('{\"seed\":3}'))"
ok 'an earlier study goes on' "$HPOTUNE" start -q early.json
is "$(sql early.db 'SELECT strategy, trials FROM study')" 'tpe|12' 'with tpe'
is "$(who early)" 'tpe: -' 'in each trial'
is "$(sql early.db "SELECT count(*) FROM events
    WHERE text LIKE 'study.json changed in strat%'")" 0 \
    'study.json has not changed'
ok 'without study.json, too' "$HPOTUNE" check early.db

done_testing
