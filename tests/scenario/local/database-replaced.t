#!/bin/sh
# The database of a running study is deleted, replaced or overwritten: the
# server notices, saves its state and exits, and the saved database continues
# with its trials.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

cat >trial <<'END'
#!/bin/sh
echo "$HPOTUNE_TRIAL $HPOTUNE_ATTEMPT" >>ledger
step=0
while [ -e trial ]; do
	step=$((step + 1))
	echo "hpotune: step=$step score=$step.5"
	echo "$HPOTUNE_TRIAL|$step|$step.5" >>said
	! [ -e go ] || exit 0
	sleep 0.05
done
END
chmod +x trial

make_study() { # name
	cat >"$1.json" <<-END
	{ "study": "$1",
	  "objective": { "metric": "score", "goal": "maximize" },
	  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
	  "strategy": "random", "stopping": "none",
	  "trial": { "command": ["./trial"], "grace": 10 },
	  "backend": { "name": "local" },
	  "limits": { "trials": 3, "parallel": 2 } }
	END
	rm -f go ledger said
}
reported() { # database
	sql_is "$1" 'SELECT count(DISTINCT trial) FROM metrics' 2
}
# How many processes have the folder of a study in their environment.
alive() { # study
	grep -lz "^HPOTUNE_CHECKPOINT_DIR=$dir/$1\.d/" /proc/[0-9]*/environ \
	    2>/dev/null | wc -l
}
none_alive() {
	[ "$(alive "$1")" -eq 0 ]
}
begin() { # name: two trials of a new study run
	make_study "$1"
	server "$1.json"
	ok "$1: two trials report" retry reported "$1.db"
}
# One that sees nothing would be waited for for ever.
ended() { # the server: its exit status
	retry grep -q '^hpotune: ' server.err || kill -9 $server
	reap $server
}
leaves() { # name what: the server ends by itself and names what it saved
	ended
	is $? 1 "$1: the server leaves, exit status 1"
	like "$(cat server.err)" "^hpotune: $dir/$1.db $2: the study's data was saved" \
	    "$1: it says why"
	saved=$(sed -n 's/^hpotune: .* was saved to \(.*\): rename it.*/\1/p' \
	    server.err)
	ok "$1: what it knew is saved" test -s "$saved"
	is "$(grep -c '^hpotune: ' server.err)" 1 "$1: this is one line"
}
# What was saved takes its place: no trial is lost, none runs twice.
goes_on() { # name
	is "$(sql "$saved" "SELECT count(*) FROM events WHERE level = 'error' AND
	    text LIKE '%$1.db was%'")" 1 "$1: it has an event about it"
	mv "$saved" "$1.db"
	: >go
	ok "$1: the same command goes on" "$HPOTUNE" start "$1.json" --quiet
	is "$(sql "$1.db" 'SELECT trial, state, attempts FROM trials')" \
	    '1|completed|1
2|completed|1
3|completed|1' "$1: all of its trials are complete"
	is "$(sort ledger)" '1 1
2 1
3 1' "$1: each ran once"
	is "$(sql "$1.db" 'SELECT trial, step, value FROM metrics
	    ORDER BY trial, step')" "$(sort -t '|' -k 1n -k 2n said)" \
	    "$1: every report is there, once"
	is "$(sql "$1.db" 'PRAGMA integrity_check')" ok "$1: it is sound"
	ok "$1: nothing is left running" retry none_alive "$1"
}

# Deleted, with and without its log.
begin all
rm all.db all.db-wal all.db-shm
leaves all 'was deleted .* while the study runs'
is "$(alive all | awk '{ print ($1 >= 4) }')" 1 'all: its trials continue'
quietly "$HPOTUNE" start all.json
like "$?$(cat err)" '^1.* holds trials, but their database .* is missing' \
    'all: a start without it is refused'
goes_on all

begin alone
rm alone.db
leaves alone 'was deleted .* while the study runs'
is "$(ls | grep '^alone.db')" '' 'alone: nothing is left where it was'
goes_on alone

# Replaced by another one.
begin other
sqlite3 foreign.db 'CREATE TABLE mine (x); INSERT INTO mine VALUES (17)'
cp foreign.db kept.db
mv foreign.db other.db
leaves other 'was deleted or replaced while the study runs'
ok 'other: the other one is as it was' cmp kept.db other.db
is "$(ls other.db*)" other.db 'other: and nothing is beside it'
goes_on other

# Overwritten: what it held is gone, and this is said once.
begin garbage
echo 'not a database at all' >text
cp text garbage.db
ended
is $? 1 'garbage: the server leaves, exit status 1'
like "$(cat server.err)" \
    "^hpotune: $dir/garbage.db was overwritten while the study runs" \
    'garbage: the error gives the reason'
is "$(grep -c -e '^hpotune: ' -e ' error: ' server.err)" 1 \
    'garbage: in one line'
: >go
ok 'garbage: its trials end by themselves' retry none_alive garbage

# With its state directory: the trials have nothing left to write to.
# A server that sees the database go first saves it and leaves its trials, so it sees
# all go at once.
begin everything
kill -STOP $server
rm -r everything.db everything.db-wal everything.db-shm everything.d
kill -CONT $server
leaves everything 'was deleted .* while the study runs'
ok 'everything: its trials are ended' retry none_alive everything
mv "$saved" everything.db
: >go
ok 'everything: what was saved goes on' "$HPOTUNE" start everything.json --quiet
is "$(sql everything.db 'SELECT state, count(*) FROM trials GROUP BY 1')" \
    'completed|3' 'everything: all of its trials are complete'

# The log alone: the database takes it up, and the study goes on.
for file in wal shm; do
	begin $file
	rm $file.db-$file
	ok "$file: the server sees it" retry grep -q \
	    'log of .* was deleted or replaced while the study runs' server.err
	: >go
	reap $server
	is $? 0 "$file: and the study comes to its end"
	is "$(sort ledger)" '1 1
2 1
3 1' "$file: each trial ran once"
	is "$(sql $file.db 'SELECT trial, step, value FROM metrics
	    ORDER BY trial, step')" "$(sort -t '|' -k 1n -k 2n said)" \
	    "$file: every report is there, once"
	is "$(sql $file.db 'PRAGMA integrity_check')" ok "$file: it is sound"
done

# With the folder that both are in.
mkdir folder tmp
make_study folder
mv folder.json trial folder
TMPDIR=$dir/tmp
export TMPDIR
server folder/folder.json
ok 'folder: two trials report' retry reported folder/folder.db
# All at once: a copy that is saved while files go one by one goes with them.
kill -STOP $server
rm -r folder || rm -r folder
kill -CONT $server
ended
is $? 1 'folder: the server leaves, exit status 1'
like "$(cat server.err)" "was saved to $dir/tmp/folder.rescue-.*[.]db: rename" \
    'folder: what it knew is in the folder for temporary files'
is "$(sql tmp/folder.rescue-*.db 'SELECT count(*) >= 2 FROM trials')" 1 \
    'folder: it can be read there'

done_testing
