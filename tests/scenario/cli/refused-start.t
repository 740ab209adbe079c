#!/bin/sh
# A start that is refused because of what is at the path of its database says what
# that is, and leaves nothing behind.
. "$TOP_SRCDIR/tests/support/sh/lib.sh"

cat >s.json <<-END
	{ "study": "s",
	  "objective": { "metric": "loss", "goal": "minimize" },
	  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
	  "trial": { "command": ["sh", "-c",
	    "for i in 1 2 3; do echo hpotune: step=\$i loss=\$i; done"] },
	  "limits": { "trials": 2 } }
END

refused() { # message name command …: refused, and no folder is left
	expected=$1 name=$2
	shift 2
	like "$("$HPOTUNE" "$@" 2>&1)" "/s\\.db: $expected\$" "$name"
	is "$(ls -d s.d s.db-new 2>/dev/null)" '' "$name: nothing is left"
}
link='a link to nowhere, which does not exist'
ln -s nowhere s.db
refused "$link" 'a link to nothing' start -q s.json
refused "$link" 'in the background' start --detach s.json
refused "$link" 'for one trial' ask s.json
rm s.db
mkdir s.db
refused 'a directory, not a study' 'a directory' start -q s.json
rmdir s.db
mkfifo s.db
refused 'not a regular file' 'a pipe' start -q s.json
rm s.db
echo text, not a database >s.db
refused 'not a database of hpotune' 'a text' start -q s.json
is "$(cat s.db)" 'text, not a database' 'which is as it was'
rm s.db
ok 'without it the study runs' "$HPOTUNE" start -q s.json

like "$(cat s.db | "$HPOTUNE" replay - 2>&1)" \
    '^hpotune: /dev/stdin: a database is read from its file, not from a pipe' \
    'a database in a pipe is named'
like "$("$HPOTUNE" replay - <s.db 2>&1)" '^rule' 'as a file it is read'
done_testing
