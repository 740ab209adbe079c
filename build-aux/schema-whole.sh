#!/bin/sh
# Prints schema/whole.sql, which a new study is made of: the tables, indexes,
# triggers and first rows that the migrations of schema/ leave.  SQLite reads the
# whole schema again after each ALTER TABLE: by the migrations a new file takes
# ten times as long.  tests/repo/schema.t compares the two.
#	build-aux/schema-whole.sh >schema/whole.sql
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
dir=$(mktemp -d "${TMPDIR:-/tmp}/hpotune-schema.XXXXXX")
trap 'rm -rf "$dir"' EXIT
cat "$top"/schema/[0-9]*.sql | sqlite3 -bail "$dir/db"

cat <<'TEXT'
-- What all migrations leave in an empty file, made by build-aux/schema-whole.sh:
-- a new study begins with it.
TEXT
sqlite3 -bail "$dir/db" "SELECT char(10) || sql || ';' FROM sqlite_schema
    WHERE sql IS NOT NULL ORDER BY
    CASE type WHEN 'table' THEN 1 WHEN 'index' THEN 2 ELSE 3 END, rowid"
echo
for table in $(sqlite3 "$dir/db" "SELECT name FROM sqlite_schema
    WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY rowid"); do
	sqlite3 "$dir/db" -cmd ".mode insert $table" "SELECT * FROM $table"
done
