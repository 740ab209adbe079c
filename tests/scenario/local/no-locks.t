#!/bin/sh
# File systems without locks: a server begins nothing there, and each command says in
# one line what is missing, and not that somebody else has the database.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

without=$TOP_BUILDDIR/tests/tools/without
study() { # name
	cat >"$1.json" <<END
{ "study": "$1", "objective": { "metric": "v", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "random", "seed": 1 }, "stopping": "none",
  "trial": { "command": ["sh", "-c", "echo hpotune: v={x}"] },
  "limits": { "trials": 2 } }
END
}
study there
ok 'a study' quietly "$HPOTUNE" start there.json
"$without" ENOLCK locks true 2>err || skip_all "$(cat err)"

for error in ENOLCK EOPNOTSUPP; do
	no_locks() { # status what command …
		no_locks_status=$1
		no_locks_what=$2
		shift 2
		timeout 300 "$without" $error locks "$HPOTUNE" "$@" >out 2>err
		is "$? $(wc -l <err)" "$no_locks_status 1" "$error: $no_locks_what"
		like "$(cat err)" 'the file system has no locks' "$error: says why"
	}
	study new
	no_locks 2 'start' start --quiet new.json
	is "$(ls -d new.d new.db 2>/dev/null)" '' "$error: leaves nothing"
	no_locks 2 'ask' ask there.json
	for command in status best export note check; do
		case $command in
		check) set -- check there.json ;;
		note) set -- note there.db 1 a ;;
		export) set -- export --format csv there.db ;;
		*) set -- $command there.db ;;
		esac
		no_locks 1 $command "$@"
	done
done
is "$(sql there.db "SELECT count(*) FROM trials WHERE state = 'completed'")" 2 \
    'the study is what it was'
ok 'and continues where locks are' quietly "$HPOTUNE" start there.json

done_testing
