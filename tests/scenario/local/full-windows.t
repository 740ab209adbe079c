#!/bin/sh
# The disk becomes full at other moments than those of disk-full.t: while folders of
# trials are made ahead, before second looks and replicates, as settings are queued,
# and as copies are written.  The reason is said once, nothing is lost or run twice,
# and what was asked for happens when there is room again.

# The disk is a small file system that these processes alone see.
if [ -z "${HPOTUNE_TEST_MOUNTS-}" ] && unshare --mount true 2>/dev/null; then
	HPOTUNE_TEST_MOUNTS=1 exec unshare --mount --propagation private sh "$0"
fi
. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3
mkdir disk
mount -t tmpfs -o size=16m tmpfs disk 2>mount.err || skip_all \
    "A FULL DISK IS NOT TESTED: no file system can be mounted: $(cat mount.err)"
trap 'umount -l "$dir/disk"; cleanup' EXIT

# Blocks of the ballast that a server gives back meanwhile are taken, too.
cat >fill <<END
#!/bin/sh
head -c 1G /dev/zero >"$dir/disk/fill" 2>/dev/null
for i in 1 2 3; do
	head -c 4096 /dev/zero >>"$dir/disk/fill" 2>/dev/null
done
true
END
# The trial that is to fill the disk does so as it begins, before any report, and
# goes on when there is room; all keep a ledger that is on another disk.
cat >trial <<END
#!/bin/sh
echo "\$HPOTUNE_TRIAL.\$HPOTUNE_ATTEMPT \$1" >>"$dir/ledger"
if [ "\$HPOTUNE_TRIAL" = "\$FILLS" ]; then
	"$dir/fill"
	echo full >"$dir/filled"
	while [ -e "$dir/disk/fill" ]; do sleep 0.05; done
fi
echo "hpotune: step=1 loss=\$1"
END
chmod +x fill trial
full='no space left on the disk: no trial is started until there is space'
space='there is space on the disk again'
said() { # text times: so often has this server said it
	[ "$(grep -c "$1" server.err)" -eq "$2" ]
}
# shellcheck disable=SC2016
study() { # name trials [keys]
	cat >"$1.json" <<-END
	{ "study": "$1",
	  "objective": { "metric": "loss", "goal": "minimize", "value": "last" },
	  "parameters": { "x": { "type": "choice", "values": [1, 2, 3, 4, 5, 6] } },
	  "strategy": { "name": "grid", "seed": 1, "shuffle": false },
	  "stopping": "none", ${3-}
	  "trial": { "command": ["$dir/trial", "{x}"], "workdir": "$dir",
	    "env": { "FILLS": "${FILLS:-0}" }, "grace": 5 },
	  "limits": { "trials": $2, "parallel": 1 } }
	END
	: >ledger
	rm -f filled
}
# The server is started and says that the disk is full, which a trial has filled.
fills() { # name
	server "$1.json" --state disk
	ok "$1: the disk is full" retry test -e filled
}
# Its space is free before its name is gone, which trials wait for.
room() {
	: >disk/fill
	rm disk/fill
}
# It goes on: no trial more than once.
goes_on() { # name trials
	room
	reap "$server"
	is $? 0 "$1: with room the study comes to its end" ||
	    diag "$(cat server.err)"
	is "$(sql "disk/$1.db" "SELECT count(*), sum(attempts) FROM trials
	    WHERE state = 'completed'")" "$2|$2" "$1: all trials, once each"
	is "$(cut -d. -f1 ledger | sort -n | uniq -c | awk '$1 != 1') $(wc -l <ledger)" \
	    " $2" "$1: says the ledger, too"
	is "$(sql "disk/$1.db" 'PRAGMA integrity_check')" ok "$1: the database is sound"
}

# The folder of the next trial is made while this one runs.
FILLS=2
study ahead 5
fills ahead
quietly "$HPOTUNE" enqueue "disk/ahead.db" x=6
ok 'ahead: the server says it' retry said "$full" 1
is "$(cat ledger | wc -l)" 2 'ahead: no further trial is started'
goes_on ahead 5
ok 'ahead: that there is room again, too' said "$space" 1

# A replicate is to be begun.
study again 8 '"replicates": { "parameter": "seed", "count": 4, "racing": false },'
fills again
quietly "$HPOTUNE" enqueue "disk/again.db" x=6
ok 'replicates: the server says it' retry said "$full" 1
goes_on again 8
is "$(sql disk/again.db 'SELECT count(*), min(replicates), max(replicates)
    FROM settings')" '2|4|4' 'replicates: each setting has all of its own'

# A trial that was stopped is to go on, when the last one ends with the disk full.
cat >look.pl <<END
\$| = 1;
my (\$from, \$to) = @ARGV;
my \$told = 0;
\$SIG{TERM} = sub { \$told = 1 };
open L, '>>', "$dir/ledger"; print L "\$ENV{HPOTUNE_TRIAL}.\$ENV{HPOTUNE_ATTEMPT}\\n"; close L;
my \$saved = "\$ENV{HPOTUNE_CHECKPOINT_DIR}/step";
my \$first = 1;
if (open F, \$saved) { \$first = <F> + 1; close F }
for my \$step (\$first .. 20) {
	printf "hpotune: step=%d loss=%.6g\\n", \$step, \$from + (\$to - \$from) * \$step / 20;
	open F, ">\$saved.new"; print F \$step; close F; rename "\$saved.new", \$saved;
	while (\$from >= 9 && \$from < 12 && \$ENV{HPOTUNE_ATTEMPT} == 1 && \$step == 6) {
		exit 0 if \$told;
		select undef, undef, undef, 0.02;
	}
}
system "$dir/fill" if \$ENV{HPOTUNE_TRIAL} == 11;
END
cat >look.json <<END
{ "study": "look",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "from": { "type": "float", "min": 0, "max": 20 },
      "to": { "type": "float", "min": 0, "max": 20 } },
  "strategy": { "name": "random", "seed": 1 },
  "stopping": { "rule": "median" },
  "enqueue": [ { "from": 14, "to": 0.9 }, { "from": 0.8, "to": 0.8 },
    { "from": 1.2, "to": 1.2 }, { "from": 1.29, "to": 1.29 },
    { "from": 1.4, "to": 1.4 }, { "from": 1.3, "to": 1.3 },
    { "from": 10, "to": 0.1 }, { "from": 9, "to": 9 },
    { "from": 1.25, "to": 1.25 }, { "from": 1.26, "to": 1.26 },
    { "from": 1.27, "to": 1.27 } ],
  "trial": { "command": ["perl", "$dir/look.pl", "{from}", "{to}"],
    "max_steps": 20, "grace": 60 },
  "limits": { "trials": 11, "parallel": 1 } }
END
: >ledger
server look.json --state disk
ok 'second looks: the server says it' retry said "$full" 1
ok 'second looks: the end of the last trial is recorded' retry sql_is \
    disk/look.db 'SELECT state FROM trials WHERE trial = 11' completed
is "$(sort -n ledger | tail -n 1) $(wc -l <ledger)" '11.1 11' \
    'second looks: none is begun'
room
reap "$server"
is $? 0 'second looks: with room the study comes to its end'
is "$(sql disk/look.db 'SELECT trial, state, step, attempts, objective
    FROM trials WHERE trial IN (7, 8)')" '7|completed|20|2|0.1
8|stopped|6|1|9.0' 'second looks: the trial goes on to its end'
is "$(sort ledger | uniq -d) $(wc -l <ledger)" ' 12' \
    'second looks: no attempt has run twice'
is "$(sql disk/look.db 'SELECT count(*) FROM (SELECT DISTINCT trial, step
    FROM metrics)')" $((10 * 20 + 6)) 'second looks: every report is there'

# ---- the queue, without a server and with one -------------------------------------
refused() { # what command …: one line with the reason
	refused_what=$1
	shift
	"$@" >out 2>err
	is "$? $(wc -l <err)" '1 1' "$refused_what: fails, with one line"
	like "$(cat err)" '[Nn]o space left on' "$refused_what: the reason"
}
FILLS=0
study queue 3
"$HPOTUNE" start --quiet --state disk queue.json -n 1 >out 2>err
ok 'queue: one waits' quietly "$HPOTUNE" enqueue disk/queue.db x=5
./fill
refused 'queue' "$HPOTUNE" enqueue disk/queue.db x=6
is "$("$HPOTUNE" enqueue --list disk/queue.db |
    grep -c '"x":5')" 1 \
    'queue: the one that waits is there'
like "$("$HPOTUNE" status disk/queue.db)" '^trials 1 of 1' \
    'queue: a study without a server can be read'
room
ok 'queue: with room it is taken' quietly "$HPOTUNE" enqueue disk/queue.db x=6
ok 'queue: the study goes on' quietly "$HPOTUNE" start --quiet --state disk queue.json
is "$(cut -d' ' -f2 ledger | tr '\n' ' ')" '1 5 6 ' 'queue: each runs once, in order'

# ---- copies ------------------------------------------------------------------------
for format in csv json optuna tensorboard; do
	quietly "$HPOTUNE" export --format $format --output disk/old-$format \
	    disk/look.db
done
quietly "$HPOTUNE" report --output disk/old.html disk/look.db
copies() {
	find disk/old* -type f -exec sha256sum {} + | sort
}
copies >whole
./fill
for format in csv json optuna tensorboard; do
	refused "export $format" "$HPOTUNE" export --format $format \
	    --output disk/new-$format disk/look.db
	refused "export $format again" "$HPOTUNE" export --force \
	    --format $format --output disk/old-$format disk/look.db
done
refused 'report' "$HPOTUNE" report --output disk/new.html disk/look.db
refused 'report again' "$HPOTUNE" report --output disk/old.html disk/look.db
printf 'x,v\n1,2\n3,4\n' >trials.csv
refused 'import' "$HPOTUNE" import csv --metric v --goal minimize --params x \
    --output disk/new.json trials.csv
is "$(copies | diff - whole)" '' 'copies: the earlier ones are as they were'
is "$(echo disk/new*)" 'disk/new*' 'copies: nothing half is left'
room
for format in csv json optuna tensorboard; do
	ok "copies: with room it is written, $format" quietly "$HPOTUNE" export \
	    --format $format --output disk/new-$format disk/look.db
	is "$(diff -r disk/old-$format disk/new-$format)" '' 'the same as the first'
done

# ---- the copy of the database beside study.json, and the lease -----------------------
# The folder of study.json is full, that of the database is not.  Each time of the
# lease that is renewed keeps servers of other machines from the study.
mkdir local
FILLS=2
study beside 3
mv beside.json disk/
server disk/beside.json --state local --network-fs
ok 'copy: the disk is full' retry test -e filled
no_copy() {
	grep -q 'no copy of the database: .*beside.snapshot.db: ' server.err
}
ok 'copy: the server says that there is none' retry no_copy
touch -d '1 hour ago' disk/beside.lease
renewed() {
	[ -n "$(find disk/beside.lease -mmin -30)" ]
}
ok 'copy: the lease is renewed all the same' retry renewed
is "$(grep -c 'lease is not renewed' server.err)" 0 'copy: without a word'
room
reap "$server"
is $? 0 'copy: the study comes to its end'
is "$(grep -c 'no copy of the database' server.err)" 1 'copy: it was said once'
is "$(sql disk/beside.snapshot.db "SELECT count(*) FROM trials
    WHERE state = 'completed'")" 3 'copy: with room it is there, with the end' ||
    diag "$(cat server.err; ls -l disk local)"
is "$(echo disk/beside.*)" 'disk/beside.json disk/beside.snapshot.db' \
    'copy: nothing else is left'

done_testing
