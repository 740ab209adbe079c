#!/bin/sh
# Every query of hpotune-db(5) runs on a real study, and the page names every
# view and every column, in order.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

page=$TOP_SRCDIR/man/hpotune-db.5
PATH=$TOP_BUILDDIR:$PATH
need sqlite3

cat >seen.json <<'END'
{
  "study": "seen",
  "objective": { "metric": "val_accuracy", "goal": "maximize" },
  "parameters": {
    "lr": { "type": "float", "min": 1e-4, "max": 1, "scale": "log" },
    "hidden": { "type": "int", "min": 16, "max": 256 },
    "optimizer": { "type": "choice", "values": ["sgd", "adam"] }
  },
  "strategy": { "name": "random", "seed": 3 },
  "stopping": { "rule": "median", "min_trials": 3, "warmup_steps": 3 },
  "trial": { "command": ["true"], "max_steps": 20 },
  "backend": { "name": "pretend", "seconds_per_step": 0.001 },
  "limits": { "trials": 24, "parallel": 4 }
}
END
ok 'a study to ask' hpotune start --quiet seen.json

# A study that has ended is whole in its one file: what the page says of a
# folder that cannot be written answers without the log, and leaves nothing.
mkdir alone
cp seen.db alone
command=$(sed -n "s/^\.Dl \(sqlite3 'file:.*immutable=1'\)$/\1/p" "$page")
is "$(cd alone && eval "$command 'SELECT count(*) FROM trials'" && ls)" \
    "24
seen.db" 'the way into a folder that cannot be written'

# The displays of QUERIES, as files query-NUMBER, and their marks.
awk '
/^\.Sh / { queries = $2 == "QUERIES" }
!queries { next }
/^\.\\" query: / { mark = $3; next }
/^\.Bd -literal/ { n++; inside = 1; print n, mark ? mark : "none"; mark = ""; next }
/^\.Ed/ { inside = 0 }
inside { gsub(/\\&/, ""); gsub(/\\\(aq/, "\047"); print >("query-" n) }
' "$page" >marks
like "$(wc -l <marks)" '^ *(1[2-9]|[2-9][0-9])$' 'a dozen queries at least'

answers() { # query mark
	sqlite3 -readonly -bail seen.db ".read $1" >answer 2>&1 || {
		diag "$(cat "$1" answer)"
		return 1
	}
	case $2 in
	rows)
		[ -s answer ] && return 0
		diag "$(cat "$1")" 'has no answer'
		return 1
		;;
	any) return 0 ;;
	esac
	diag 'it has no mark'
	return 1
}
while read -r number mark; do
	ok "query $number: $(head -n 1 "query-$number")" \
	    answers "query-$number" "$mark"
done <marks
echo 'SELECT nothing FROM study;' >wrong
fails 'a wrong query is found' 1 answers wrong any

# What the page says of each view, against what the view has.
columns() { # view: as the page lists them
	awk -v view="$1" '
	/^\.S[sh] / { inside = $1 == ".Ss" && $2 == view }
	inside && /^\.It Ic / {
		for (i = 3; i <= NF; i++)
			if ($i != ",")
				printf "%s ", $i
	}' "$page"
}
views=$(sql seen.db "SELECT name FROM sqlite_schema WHERE type = 'view' AND name
    NOT LIKE 't\\_%' ESCAPE '\\' AND name NOT IN ('best', 'results', 'front')")
ok 'there are views' test "$(echo "$views" | wc -l)" -gt 30
for view in $views
do
	is "$(columns $view)" "$(sql seen.db \
	    "SELECT group_concat(name, ' ') || ' '
	    FROM pragma_table_info('$view')")" "the columns of $view"
done
is "$(sql seen.db "SELECT group_concat(name, ' ')
    FROM pragma_table_info('best')")" \
    "$(columns trials)val_accuracy lr hidden optimizer" \
    'best has the columns of trials, the objective and the parameters'
is "$(sql seen.db "SELECT group_concat(name, ' ')
    FROM pragma_table_info('results')")" \
    'trial state objective lr hidden optimizer val_accuracy' \
    'the columns of results'
is "$(sql seen.db "SELECT group_concat(name, ' ')
    FROM pragma_table_info('front')")" \
    "trial $(sql seen.db 'SELECT metric FROM study') lr hidden optimizer" \
    'the columns of front'
is "$(sql seen.db "SELECT group_concat(name, ' ') FROM (SELECT name
    FROM sqlite_schema WHERE type = 'view' AND name NOT LIKE 't\\_%' ESCAPE '\\'
    ORDER BY name)")" \
    "$(sed -n '/^\.Sh THE VIEWS/,/^\.Sh QUERIES/s/^\.Ss //p' "$page" | sort |
    tr '\n' ' ' | sed 's/ $//')" 'every view stands in the page'

done_testing
