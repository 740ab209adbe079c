#!/bin/sh
# A new study is made of schema/whole.sql: it is what the migrations leave.

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

done_testing
