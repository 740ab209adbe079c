#!/bin/sh
# Whether the running median would have stopped the best completed trials: the
# view hindsight, status and report, beside the same in awk.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

need sqlite3 awk

# 20 steps a trial.  late: the better a trial begins, the worse it ends; early
# and slow: the order never changes.
cat >curve.sh <<'END'
awk -v x="$1" -v kind="$2" 'BEGIN {
	for (i = 1; i <= 20; i++) {
		printf "hpotune: step=%d loss=%.9g\n", i, kind == "late" ? \
		    x * (12.5 - i) + 100 : x + 1 / i
		if (kind == "slow")
			system("sleep 0.01") # so that it can be stopped
	}
}'
END
cat >base.json <<'END'
{ "study": "NAME",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "sobol", "seed": 3 }, "stopping": "none",
  "trial": { "command": ["sh", "curve.sh", "{x}", "KIND"], "max_steps": 20 },
  "limits": { "trials": 20, "parallel": 2 } }
END
study() { # name kind sed-expression …
	study_name=$1
	kind=$2
	shift 2
	sed -e "s/NAME/$study_name/" -e "s/KIND/$kind/" "$@" base.json \
	    >"$study_name.json"
	quietly "$HPOTUNE" start -q "$study_name.json" ||
		diag "$(cat out err)"
}

# The same from the reports alone: "trial judged first-step" of the best five of
# the trials completed.  sign: -1 where the goal is to maximize.
by_awk() { # database sign
	sqlite3 -separator ' ' "$1" "SELECT trial, curves.step, value,
	    state = 'completed', objective FROM curves JOIN trials USING (trial)
	    ORDER BY 1, 2" |
		awk -v sign="$2" '
	{
		v[$1, $2] = $3 * sign
		all += !($1 in trials)
		trials[$1] = 1
		if ($4)
			end[$1] = $5 * sign
		if ($2 > last)
			last = $2
	}
	END {
		for (k = 1; k <= 5; k++) {
			b = 0
			for (t in end)
				if (!(t in seen) && (b == 0 || end[t] < end[b] ||
				    (end[t] == end[b] && t + 0 < b + 0)))
					b = t
			if (b == 0)
				break
			seen[b] = 1
			first = ""
			judged = 0
			for (s = 6; s < last; s++) {
				m = 0
				for (t in trials)
					if ((t, s) in v) {
						for (j = m; j > 0 && a[j] > v[t, s]; j--)
							a[j + 1] = a[j]
						a[j + 1] = v[t, s]
						m++
					}
				if (m <= 5 || 4 * m < 3 * all)
					continue
				judged++
				median = m % 2 ? a[(m + 1) / 2] : \
				    (a[m / 2] + a[m / 2 + 1]) / 2
				if (first == "" && v[b, s] > median + 1e-12)
					first = s
			}
			print b, judged, first
		}
	}'
}
view() { # database order
	sqlite3 -separator ' ' "$1" "SELECT trial, judged, step FROM hindsight
	    ORDER BY objective $2, trial"
}

study late late
is "$(view late.db asc)" "$(by_awk late.db 1)" \
    'each of the best, its judged reports and its step'
is "$(sql late.db 'SELECT count(*), sum(judged), count(DISTINCT step), min(step)
    FROM hindsight')" '5|70|1|6' 'all five at the first report that is judged'
is "$(sql late.db 'SELECT sum(h.value > h.median), sum(h.value = c.value),
    sum(h.median = m.median) FROM hindsight AS h JOIN curves AS c
    USING (trial, step) JOIN medians AS m USING (step)')" '5|5|5' \
    'with the value and the median there'
line='median would have stopped 5 of the 5 best completed trials'
late='curves cross late: stopping may lose the best trial; the rule careful loses fewer'
like "$("$HPOTUNE" status late.json)" "^hindsight: $line; $late\$" \
    'status prints it'
like "$("$HPOTUNE" status --json late.json | tr -d '\n')" \
    '"hindsight": ?\[\{"trial": ?[0-9]+, ?"objective"' 'as JSON, too'
quietly "$HPOTUNE" report late.json
ok 'and the report' grep -q "$line; $late" late.html

study early early
like "$("$HPOTUNE" status late.json)" \
    '^presets: careful suits these curves best: it saves -?[0-9]+ to [0-9]+ % and loses the best trial in [01]\.[0-9]+ to [01]\.[0-9]+ of such studies$' \
    'which preset would have been best, and how surely'
ok 'in the report, too' grep -q 'suits these curves best' late.html
is "$(view early.db asc)" "$(by_awk early.db 1)" 'curves that do not cross'
is "$(sql early.db 'SELECT count(*), count(step) FROM hindsight')" '5|0' \
    'none of the best would have been stopped'
like "$("$HPOTUNE" status early.json)" \
    '^hindsight: median would have stopped 0 of the 5 best completed trials; stopping would save steps$' \
    'and what follows'

study most late -e s/minimize/maximize/
is "$(view most.db desc)" "$(by_awk most.db -1)" 'to maximize'

like "$("$HPOTUNE" status early.json)" '^presets: short suits these curves best' \
    'where curves do not cross, the one that saves most'

# Beside a rule that stops: the completed ones only, with the medians of all.
study stopped slow -e 's/"none"/{ "rule": "median", "warmup_steps": 12 }/' \
    -e 's/"trials": 20/"trials": 300, "completed": 25/'
ok 'where a rule stops some' test "$(sql stopped.db "SELECT count(*) > 0
    FROM trials WHERE state = 'stopped'")" = 1
is "$(view stopped.db asc)" "$(by_awk stopped.db 1)" 'the completed ones'
is "$(sql stopped.db "SELECT count(*), count(step), sum(judged) > 0
    FROM hindsight")" '5|0|1' 'whose order never changed: none is lost'
like "$("$HPOTUNE" status stopped.json)" \
    '^hindsight: median would have stopped 0 of the 5 best completed trials$' \
    'and status says no more'
unlike "$("$HPOTUNE" status stopped.json)" '^presets: ' \
    'those that a rule has left say nothing of presets'

# What follows where a rule stops trials.
made() { # name rule: all curves cross late
	study "$1" late -e "s/\"none\"/$2/" \
	    -e 's/"trials": 20/"trials": 300, "completed": 25/'
	"$HPOTUNE" status "$1.json" | sed -n 's/^hindsight: .*; curves/curves/p'
}
is "$(made wide '{ "rule": "median", "warmup_steps": 19 }')" \
    'curves cross late: a stopped trial may have been the best; the rule careful loses fewer' \
    'a rule that may have lost the best'
is "$(made wary '{ "rule": "careful", "warmup_steps": 19 }')" \
    'curves cross late: a stopped trial may have been the best; a longer warmup_steps loses fewer' \
    'the one that loses the fewest'

# A first fifth of the steps that is longer than five reports.
study long late -e 's/"max_steps": 20/"max_steps": 50/'
is "$(sql long.db 'SELECT count(*), sum(judged), min(step) FROM hindsight')" \
    '5|50|10' 'no report of the first fifth is judged'

study few late -e 's/"trials": 20/"trials": 19/'
is "$(sql few.db 'SELECT count(*) FROM hindsight')" 0 \
    'nothing before 20 trials have completed'
unlike "$("$HPOTUNE" status few.json)" hindsight 'and status prints nothing'

done_testing
