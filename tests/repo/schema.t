#!/bin/sh
# A new study is made of schema/whole.sql: it is what the migrations leave.  Its
# file is a copy of an image that was made of it when the program was built.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

quietly "$TOP_SRCDIR/build-aux/schema-whole.sh"
ok 'schema/whole.sql is what build-aux/schema-whole.sh prints' \
    cmp "$TOP_SRCDIR/schema/whole.sql" out || diag "$(cat err)"

dump() { # database
	sqlite3 -bail "$1" .dump | LC_ALL=C sort
}
cat "$TOP_SRCDIR"/schema/[0-9]*.sql | sqlite3 -bail steps.db
sqlite3 -bail whole.db <"$TOP_SRCDIR/schema/whole.sql"
is "$(dump whole.db)" "$(dump steps.db)" 'and leaves the same tables and rows'
ok 'of which there are some' test "$(dump whole.db | wc -l)" -gt 300

cat >new.json <<'EOF'
{ "study": "new", "objective": { "metric": "v", "goal": "maximize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "limits": { "trials": 9 } }
EOF
ok 'a study is created' quietly "$HPOTUNE" ask new.json
sqlite3 -bail whole.db <"$TOP_SRCDIR/schema/views.sql"

# Its own are the views that depend on its parameters.
schema() { # database
	sqlite3 -bail "$1" "SELECT type, name, tbl_name, sql FROM sqlite_schema
	    WHERE name NOT IN ('results', 't_results', 'best', 'front') ORDER BY 1, 2"
}
schema new.db >new.schema
schema whole.db >whole.schema
ok 'its file has the tables and views of schema/' \
    cmp whole.schema new.schema
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
