#!/bin/sh
# hpotune web beside databases that do not answer: their own pages say so, and
# no other page, nor the list, nor an event waits for them.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3 python3

python=$(python3 -c 'import sys; print(sys.executable)')
web() { # what site …: of web_client.py
	"$python" -S "$TOP_SRCDIR/tests/scenario/web/web_client.py" "$@"
}
cat >small.json <<'END'
{ "study": "small",
  "objective": { "metric": "acc", "goal": "maximize" },
  "parameters": {
    "lr": { "type": "float", "min": 1e-4, "max": 0.3, "scale": "log" } },
  "strategy": { "name": "random", "seed": 5 }, "stopping": "none",
  "trial": { "command": ["true"], "max_steps": 12, "retries": 0 },
  "backend": { "name": "pretend", "seconds_per_step": 0 },
  "limits": { "trials": 20, "parallel": 2 } }
END
"$HPOTUNE" start -q small.json

endless() { # database view …: these views never end
	endless_db=$1
	shift
	for view; do
		columns=$(sqlite3 "$endless_db" "SELECT group_concat('abs(x) AS \"'
		    || name || '\"', ', ') FROM pragma_table_info('$view')")
		sqlite3 "$endless_db" "DROP VIEW $view;
		CREATE VIEW $view AS WITH RECURSIVE c(x) AS (SELECT 1
		    UNION ALL SELECT x + 1 FROM c)
		    SELECT $columns FROM c WHERE x < 0"
	done
}
mkdir all.d
for k in all trials curves held; do cp small.db $k.db; done
endless all.db study trials curves events attempts
endless trials.db trials
endless curves.db events

background pages "$HPOTUNE" web --socket s
pages=$child
retry grep -q '^web: ' pages.out
site=$dir/s
silent='did not answer within a second; other pages do not wait for it'

for k in all trials; do
	for page in /s/$k /s/$k/trial/1 "/s/$k/trials?trial=1&trial=2" \
	    "/compare?study=$k"; do
		is "$(web beside "$site" "$page" /s/small/trial/1/line / \
		    '/?find=small')" 503 "$page cannot be shown, and others can"
		like "$(cat body)" "The database of $k $silent" 'and why'
		is "$(web check body)" '' 'which is a page'
	done
done
is "$(web get "$site" /s/all/trial/1/line)" 503 'nor can a line'
like "$(cat body)" "^The database of all $silent" 'which is text'
is "$(web get "$site" /s/small)" 200 'the page of another study'

# The list says it of the study, and of no other one.

listed() {
	web get "$site" / >out && ! grep -q 'not read yet' body
}
retry listed
like "$(tr -d '\n' <body)" 'trouble">[^<]*all.db: [^<]*does not end<' \
    'the list says which study does not answer'
is "$(grep -c '>finished<' body)" 4 'and shows the others'

# A file whose opening waits, as on a disk that hangs: another process has a lease.

background holder "$python" -S \
    "$TOP_SRCDIR/tests/scenario/web/web_client.py" lease held.db
retry test -s holder.out
if [ "$(cat holder.out)" = held ]; then
	is "$(web get "$site" /s/held)" 503 'a file that cannot be opened'
	like "$(cat body)" "The database of held $silent" 'a sentence says so'
	is "$(web get "$site" /s/small/trial/1/line)" 200 'others can'
	like "$(web events "$site" /s/held/live 'event: trouble')" \
	    'not followed for 50 s: the database did not answer within a second' \
	    'a page that follows it is told'
else
	skip 'a file that cannot be opened' 'no leases here'
fi
kill "$child"
reap "$child" 2>/dev/null

# Events of another study come meanwhile; readers that were killed are no more.

background bad "$python" -S \
    "$TOP_SRCDIR/tests/scenario/web/web_client.py" get "$site" /s/trials
bad=$child
like "$(web events "$site" /s/small/live '"name":"timeline"')" '^event: part' \
    'events of another study come meanwhile'
reap "$bad"
gone() {
	[ "$(ps -o pid= --ppid "$pages" | wc -l)" -eq 0 ]
}
ok 'no reader is left' retry gone
like "$(web post "$site" /s/all/do do=archive Origin:http://localhost \
    "X-Hpotune-Form:$(web form "$site" /s/small)")" '^200$' \
    'a study that does not answer can be archived'
kill -TERM "$pages"
reap "$pages"
is $? 0 'SIGTERM ends the server'
for k in *.err; do
	[ ! -s "$k" ] || verdict 1 "$k: $(head -n 5 "$k")"
done
done_testing
