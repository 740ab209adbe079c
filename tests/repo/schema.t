#!/bin/sh
# A new study is what the migrations leave: its file is a copy of an image that was
# made of them when the program was built.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

cat "$TOP_SRCDIR"/schema/[0-9]*.sql | sqlite3 -bail steps.db
ok 'the migrations make tables' \
    test "$(sqlite3 steps.db .dump | grep -c '^CREATE TABLE')" -gt 30

cat >new.json <<'EOF'
{ "study": "new", "objective": { "metric": "v", "goal": "maximize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "limits": { "trials": 9 } }
EOF
ok 'a study is created' quietly "$HPOTUNE" ask new.json
sqlite3 -bail steps.db <"$TOP_SRCDIR/schema/views.sql"

# Its own are the views that depend on its parameters.
schema() { # database
	sqlite3 -bail "$1" "SELECT type, name, tbl_name, sql FROM sqlite_schema
	    WHERE name NOT IN ('results', 't_results', 'best', 'front') ORDER BY 1, 2"
}
schema new.db >new.schema
schema steps.db >steps.schema
ok 'a new study has what the migrations leave, and the views' \
    cmp steps.schema new.schema
rows() { # database
	sqlite3 "$1" 'SELECT * FROM t_nth'
}
is "$(rows new.db)" "$(rows steps.db)" 'and their first rows'
moves=$(sqlite3 new.db .dump | grep t_move)
# Another version of the program writes them again.
sqlite3 new.db 'UPDATE t_study SET program_version = 0; DELETE FROM t_move'
ok 'and is opened again' quietly "$HPOTUNE" ask new.json
is "$moves" "$(sqlite3 new.db .dump | grep t_move)" \
    'with the same transitions between states'
is "$(sqlite3 new.db 'PRAGMA page_size; PRAGMA application_id;
    PRAGMA user_version; PRAGMA journal_mode; PRAGMA integrity_check')" \
    "4096
1752199028
$(ls "$TOP_SRCDIR"/schema/[0-9]*.sql | wc -l | tr -d ' ')
wal
ok" 'it is a database of hpotune, with a log'
ok 'nothing is left beside it' test ! -e new.db-new

done_testing
