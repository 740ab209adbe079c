#!/bin/sh
# Trials of different lengths are compared at equal shares of them: by a
# parameter, and by what each trial says.  Without a server each command reads the
# study again, and decides as a server does that goes on.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

study() { # name max_steps
	cat >"$1.json" <<END
{
  "study": "$1",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": {
    "epochs": { "type": "choice", "values": [4, 8, 16] },
    "x": { "type": "float", "min": 0, "max": 1 }
  },
  "strategy": { "name": "random", "seed": 4 },
  "stopping": { "rule": "median", "min_trials": 3, "guard": false,
                "warmup_steps": "20%", "second_look": "0%" },
  "trial": { "max_steps": $2 },
  "limits": { "trials": 12, "parallel": 3 }
}
END
}

# All trials fall from 1 + x to x over their own lengths.
loss() {
	awk -v x="$x" -v s="$step" -v n="$epochs" \
	    'BEGIN { printf "%.6f\n", 1 + x - s / n }'
}

drive() { # study [length]: three trials at a time, each in its turn
	running=
	while :; do
		while [ "$(echo "$running" | wc -w)" -lt 3 ] &&
		    asked=$("$HPOTUNE" ask --pid 0 "$1.json" 2>>err); do
			eval "$asked"
			running="$running $trial"
			echo "epochs=$epochs x=$x step=0" >"at.$trial"
		done
		[ -n "$running" ] || return
		left=
		for trial in $running; do
			# shellcheck source=/dev/null
			. "./at.$trial"
			step=$((step + 1))
			echo "epochs=$epochs x=$x step=$step" >"at.$trial"
			said=$("$HPOTUNE" tell "$1.json" "$trial" step=$step \
			    "loss=$(loss)" ${2:+"$2=$epochs"})
			case $said in
			stop*) "$HPOTUNE" tell "$1.json" "$trial" --stopped ;;
			*) [ "$step" -lt "$epochs" ] ||
				"$HPOTUNE" tell "$1.json" "$trial" --done ;;
			esac >>ends
			case $said in
			stop*) continue ;;
			esac
			[ "$step" -ge "$epochs" ] || left="$left $trial"
		done
		running=$left
	done
}

study param '"epochs"'
drive param
stops='SELECT trial, step, rule, value, threshold, pool, verdict, at, why FROM stops'
all='SELECT trial, state, objective, step, reports, own_steps FROM trials'
ok 'some are stopped' test "$(sql param.db 'SELECT stopped FROM study')" -gt 2
ok 'some complete' test "$(sql param.db 'SELECT completed FROM study')" -gt 2
is "$(sql param.db "SELECT count(*) FROM trials WHERE
    own_steps <> json_extract(params, '\$.epochs')")" 0 'each has its length'
is "$(sql param.db 'SELECT count(*) FROM stops JOIN trials USING (trial)
    WHERE at <> stops.step * 16 / own_steps')" 0 'stops are at shares'
# Who is better at one share is better at all: nobody stops the best.
is "$(sql param.db "SELECT trial FROM trials WHERE state <> 'stopped'
    ORDER BY json_extract(params, '\$.x') LIMIT 1")" \
    "$(sql param.db "SELECT trial FROM trials
    ORDER BY json_extract(params, '\$.x') LIMIT 1")" \
    'the best setting is never behind, whatever its length'
like "$(sql param.db 'SELECT why FROM stops')" \
    '^.* at step [0-9]+ \(of 16: step [0-9]+ of its [48]\)$' \
    'a reason has both steps'
is "$(sql param.db "SELECT sum(own_steps - trials.step) FROM trials
    WHERE state = 'stopped'")" \
    "$(sql param.db 'SELECT steps_skipped FROM savings')" \
    'what is saved are steps of the trials themselves'

study server '"epochs"'
server -q --asked server.json
ok 'a server serves' retry test -S server.d/control
drive server
is "$(sql server.db "$stops")" "$(sql param.db "$stops")" \
    'a server that goes on decides the same'
reap $server
is "$(sql server.db 'SELECT group_concat(step) FROM (SELECT step FROM medians
    WHERE trials > 11 ORDER BY step)')" 4 'medians are by shares'
is "$(sql server.db "$all")" "$(sql param.db "$all")" 'with the same results'

study says '{ "metric": "total", "most": 16 }'
drive says total
is "$(sql says.db "$stops")" "$(sql param.db "$stops")" \
    'what a trial says with its first report does, too'
is "$(sql says.db "$all")" "$(sql param.db "$all")" 'and its length is kept'

for name in param says; do
	"$HPOTUNE" replay --json $name.db --rule "$(sql $name.db \
	    "SELECT json_extract(json, '\$.stopping') FROM t_study")" \
	    >replay.json 2>err
	is "$(sqlite3 :memory: "SELECT json_extract(readfile('replay.json'),
	    '\$[0].stopped', '\$[0].skipped')")" \
	    "[$(sql $name.db 'SELECT stopped FROM study'),0]" \
	    "$name: replay stops the same trials where they were stopped"
done

# A trial that does not say its length is not compared.
study mute '{ "metric": "total", "most": 16 }'
drive mute
is "$(sql mute.db 'SELECT count(*), (SELECT count(*) FROM stops) FROM trials
    WHERE own_steps IS NULL')" '12|0' 'no trial is stopped that says nothing'

# Which of the best the median would have stopped: by shares none, since who is
# better at one share is better at all.
study whole '"epochs"'
cat >curve.sh <<'END'
awk -v n="$1" -v x="$2" 'BEGIN { for (s = 1; s <= n; s++)
    printf "hpotune: step=%d loss=%.6f\n", s, 1 + x - s / n }'
END
sed -i -e '/"stopping"/,/"warmup_steps"/d' -e 's/\[4, 8, 16\]/[8, 16, 32]/' -e \
    's/"trial": {/"stopping": "none", "trial": { "command": ["sh", "curve.sh", "{epochs}", "{x}"],/' \
    -e 's/"trials": 12/"trials": 24/' whole.json
ok 'a study without a rule' quietly "$HPOTUNE" start -q whole.json
is "$(sql whole.db 'SELECT count(*), count(step), sum(judged) > 20
    FROM hindsight')" '5|0|1' 'the hindsight is by shares, too'

at=$(sql whole.db 'SELECT trial FROM trials WHERE own_steps = 8 LIMIT 1')
is "$("$HPOTUNE" show --json whole.json "$at" >show.json && sqlite3 :memory: \
    "SELECT count(*) FROM json_each(readfile('show.json'), '\$.curve')
    WHERE json_extract(value, '\$.step') > 1 AND
    json_extract(value, '\$.trials') = 24")" 7 'show has the median at the share'
quietly "$HPOTUNE" report whole.json
# Wide charts end at 888.
ok 'the page draws all curves over the steps of the longest' \
    test "$(grep -o 'class="curve" d="[^"]*' whole.html |
    grep -c 'L888 [0-9.]*$')" -ge 20

done_testing
