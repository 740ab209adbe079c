#!/bin/sh
# Where a study may be and who may run it: odd and long paths, links, copies,
# read-only folders, no environment, other users, any umask.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

need sqlite3

cat >study.json <<'END'
{ "study": "s",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "trial": { "command": ["sh", "-c",
    "echo hpotune: step=0 loss=1; pwd >where\nuntil test -e go; do sleep 0.02; done"] },
  "limits": { "trials": 2, "parallel": 1 } }
END
json=$dir/study.json

# Odd names, and far beyond what the address of a socket can hold.
long=$(printf 'long-%.0s' $(seq 40))
for place in "it's a \"folder\"" 'grüße ☃' '-q' '50%d a\b %%n' 'two
lines $(date) `id`' "$long/$long"; do
	mkdir -p "./$place"
	cp "$json" "./$place"
	cd "./$place" || exit 99
	"$HPOTUNE" start --detach --quiet
	is $? 0 "$place: the study starts"
	like "$("$HPOTUNE" pause)" 'no further trial' 'its server is reached'
	"$HPOTUNE" resume >/dev/null
	touch go
	ok 'it ends' retry sql_is s.db 'SELECT state FROM study' finished
	is "$(cat where)" "$(pwd -P)" 'its trials run in its folder'
	cd "$dir" || exit 99
done
touch go

# One study under several names.
mkdir real links
cp study.json go real
ln -s real other
"$HPOTUNE" start --quiet other/study.json
is $? 0 'a folder behind a link'
is "$("$HPOTUNE" status --json real/s.db)" \
    "$("$HPOTUNE" status --json other/s.db)" 'is the same study'
ln -s ../real/s.db links/s.db
"$HPOTUNE" start --quiet --trials 3 links/s.db
is $? 0 'a database behind a link'
is "$(ls links)" s.db 'has one lock: beside the file itself'
cp real/s.db real/copy.db
err=$("$HPOTUNE" start --quiet --trials 9 real/copy.db 2>&1)
is $? 2 'a copy does not run among the trials of the first'
is "$err" "hpotune: $dir/real/copy.db: holds the study s, which runs only under \
the name s.db" 'which is reported'
like "$("$HPOTUNE" status real/copy.db)" '^s  finished' 'it can be looked at'

# A database that was taken away, to begin anew: its trials are still there.
rm real/s.db
err=$("$HPOTUNE" start --quiet real/study.json 2>&1)
is $? 1 'trials without their database'
like "$err" "^hpotune: $dir/real/s.d holds trials, but their database .* is \
missing: restore it, or move the folder away" 'which is reported'
is "$(ls real/s.db 2>/dev/null)" '' 'no other one is made'
mv real/s.d real/old.d
"$HPOTUNE" start --quiet real/study.json
is $? 0 'without them it starts from the beginning'

# What others may see, whatever the umask.
mkdir open
cp study.json go open
(umask 000 && exec "$HPOTUNE" start --quiet open/study.json)
is "$(find open/s.d open/s.db ! -type l -perm /077)" '' \
    'umask 000: nothing of the study is open to others'
mkdir shut
cp study.json go shut
(umask 077 && exec "$HPOTUNE" start --quiet shut/study.json)
is $? 0 'umask 077'

mkdir bare
cp study.json go bare
env -i "$HPOTUNE" start --quiet bare/study.json
is $? 0 'without any environment'

# Another user, with and without leave to write.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	as() {
		setpriv --reuid 65534 --regid 65534 --clear-groups \
		    env -u HOME "$@"
	}
	chmod 755 "$dir"
	# The program and its library need to be readable, too.
	if as "$HPOTUNE" --version >/dev/null 2>&1; then
		mkdir theirs
		cp study.json go theirs
		err=$(as "$HPOTUNE" start --quiet theirs/study.json 2>&1)
		is $? 1 'a folder that cannot be written'
		is "$err" "hpotune: $dir/theirs/s.d: Permission denied: choose a folder with --state DIR" why
		is "$(ls theirs | sort | tr '\n' ' ')" 'go study.json ' \
		    'nothing is made'
		mkdir state
		chown 65534 state
		as "$HPOTUNE" start --quiet --state state theirs/study.json
		is $? 0 'but --state elsewhere'
		like "$(as "$HPOTUNE" status state/s.db)" 'trials 2 of 2' \
		    'where it is found'
		is "$(as "$HPOTUNE" trials real/s.db 2>&1)" \
		    "hpotune: $dir/real/s.db: Permission denied" \
		    'the study of another user'
		is "$("$HPOTUNE" stop state/s.db 2>&1)" \
		    "hpotune: $dir/state/s.d: belongs to another user" \
		    'is not touched, by root either'
	else
		skip 'another user' 'cannot run the program'
	fi
else
	skip 'another user' 'needs root and setpriv'
fi

done_testing
