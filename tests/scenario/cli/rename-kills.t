#!/bin/sh
# hpotune rename, killed before every ninth of its system calls, with TEST_LONG
# before every third, or before each with RENAME_STEP=1: the same command completes it, and before that no start begins
# another study under the old name.  No file of the old name is left.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/kills.sh"
need sqlite3

mkdir whole
cd whole || exit 99
mkdir real
cat >real/study.json <<'END1'
{ "study": "old", "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "random", "seed": 1 },
  "trial": { "command": ["sh", "-c", "echo hpotune: loss={x}"] },
  "limits": { "trials": 2 } }
END1
chmod 640 real/study.json
ln -s real/study.json study.json
ok 'a study, whose study.json is a link' quietly "$HPOTUNE" start study.json
# A copy as a server writes it where readers cannot open the database, what was saved
# of a damaged one, and the lease of a server that was killed.
sqlite3 old.db 'VACUUM INTO "old.snapshot.db"'
sqlite3 old.snapshot.db 'CREATE TABLE snapshot(taken_us INTEGER, host TEXT);
    INSERT INTO snapshot VALUES(1, "here")'
for kept in old.rescue-20260101T000000Z.db old.db-wal.damaged old.lease; do
	echo "$kept" >"$kept"
done
: >old.snapshot.db.new
cd ..

# What is wrong in the folder $1: one study with two trials is right.
faults() {
	for db in "$1"/old.db "$1"/new.db; do
		[ ! -e "$db" ] || echo "$(basename "$db")" \
		    "$(sql "$db" 'SELECT count(*) FROM trials')"
	done >../dbs
	grep -v ' 2$' ../dbs
	[ "$(wc -l <../dbs)" -eq 1 ] || cat ../dbs
	[ -h "$1/study.json" ] || echo 'study.json is no link'
}

# What the folder has of the files beside the database and study.json.
beside() {
	echo old.* ./*.part
	cat new.rescue-* new.db-wal.damaged new.lease
	sql new.snapshot.db 'SELECT (SELECT name FROM study), count(*) FROM trials'
}
beside_whole='old.* ./*.part
old.rescue-20260101T000000Z.db
old.db-wal.damaged
old.lease
new|2'

survives() { # call …
	call=$1
	timeout 300 "$HPOTUNE" start study.json >../out 2>>../err
	started=$?
	case $started in
	0) ;;
	*) grep -q 'complete it with hpotune rename' ../err ||
		wrong="$wrong $call:start-$started" ;;
	esac
	[ -z "$(faults .)" ] || wrong="$wrong $call:split"
	timeout 300 "$HPOTUNE" rename study.json new >../out 2>../err
	again=$?
	case $again in
	0) ;;
	*) grep -q 'has this name already' ../err ||
		wrong="$wrong $call:again-$again" ;;
	esac
	timeout 300 "$HPOTUNE" start study.json >../out 2>../err ||
	    wrong="$wrong $call:end"
	[ -z "$(faults .)" ] && [ -e new.db ] && [ -e new.d/trials/2 ] &&
	    [ "$(beside)" = "$beside_whole" ] &&
	    [ "$(stat -c %a real/study.json)" = 640 ] ||
	    wrong="$wrong $call:lost"
}
step=${RENAME_STEP:-$(often 9 3)}
wrong=
kill_each rename "$step" survives "$HPOTUNE" rename study.json new
is "$wrong" '' "$kills kills: each is survived"
ok 'there were kills' [ $((kills * step)) -gt 20 ]

# Of the database alone, study.json stays as it is.
completes() { # call command …
	call=$1
	shift
	# One that was killed at its very end has nothing left to do.
	timeout 300 "$@" >../out 2>../err ||
	    grep -q 'old.db: No such file or directory' ../err ||
	    wrong="$wrong $call:again-$(cat ../err)"
	[ -z "$(faults .)" ] && [ -e new.db ] && [ -e new.d/trials/2 ] &&
	    [ "$(beside)" = "$beside_whole" ] || wrong="$wrong $call:lost"
}
wrong=
kill_each 'rename of a database' "$step" completes "$HPOTUNE" rename old.db new
is "$wrong" '' "$kills kills: each is survived"
ok 'there were kills' [ $((kills * step)) -gt 20 ]

# What refuses does so before anything is changed.
rm -rf at
cp -a whole at
cd at || exit 99
rm study.json
cp real/study.json .
sed -i 's/"study"/study/' study.json
"$HPOTUNE" rename old.db new >../out 2>../err
is "$? $(echo old.* new.db)" '0 old.* new.db' 'a database alone is renamed'
cd ..
rm -rf at
cp -a whole at
cd at || exit 99
mv real gone
"$HPOTUNE" rename study.json new >../out 2>../err
ok 'a link that leads nowhere is refused' [ $? -ne 0 ]
is "$(echo new.* *.rename)" 'new.* *.rename' 'nothing has changed'
for taken in snapshot.db lease rescue-20260101T000000Z.db; do
	cd ..
	rm -rf at
	cp -a whole at
	cd at || exit 99
	echo other >new.$taken
	"$HPOTUNE" rename study.json new >../out 2>../err
	is "$? $(cat new.$taken) $(echo new.* *.rename)" \
	    "2 other new.$taken *.rename" "new.$taken is of another study: refused"
	like "$(cat ../err)" "at/new.$taken: exists already" 'which is said'
done
cd ..

# The copy is beside study.json, also where the database is not.
rm -rf at
mkdir -p at/state
cp whole/real/study.json at/
cd at || exit 99
"$HPOTUNE" start --state state study.json >../out 2>../err
cp ../whole/old.snapshot.db .
"$HPOTUNE" rename state/old.db new >../out 2>../err
is "$? $(echo ./*.db state/*.db)" '0 ./new.snapshot.db state/new.db' \
    'the copy is found with its study.json'
is "$(sql new.snapshot.db 'SELECT name FROM study')" new 'it has the new name'

done_testing
