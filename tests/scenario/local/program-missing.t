#!/bin/sh
# A missing program: start and check report it, and no file is created.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

study() { # trial's members [study]
	cat >study.json <<END
{ "study": "${2-programs}",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "random", "seed": 1 },
  "trial": { $1 },
  "backend": "local",
  "limits": { "trials": 3, "parallel": 1 } }
END
}

# Both with the same words on stderr; check does not call it right, and start
# makes nothing.
refused() { # error what [error as JSON]
	ls -A >before
	"$HPOTUNE" start study.json >start.out 2>start.err
	is "$? $(cat start.err)" "1 hpotune: $1" "start: $2"
	rm -f start.out start.err
	ls -A >after
	is "$(cat after)" "$(cat before)" 'it makes nothing'
	"$HPOTUNE" start --detach study.json >start.out 2>start.err
	is "$? $(cat start.err)" "1 hpotune: $1" 'start --detach fails, too'
	rm -f start.out start.err
	ls -A >after
	is "$(cat after)" "$(cat before)" 'which makes nothing either'
	"$HPOTUNE" check study.json >check.out 2>check.err
	is "$? $(cat check.err)" "1 hpotune: $1" 'check: the same'
	unlike "$(cat check.out)" 'is right' 'and it does not say that all is right'
	like "$(cat check.out)" 'cannot be started$' 'check says that the study cannot be started'
	rm -f check.out check.err
	is "$("$HPOTUNE" check --json study.json 2>check.err |
	    sed 's/.*"missing":"\(.*\)"}$/\1/')" "${3-$1}" 'as JSON: missing'
	rm -f check.err
}
taken() { # what
	ok "$1: check" quietly "$HPOTUNE" check study.json
	like "$(cat out)" ' is right$' 'it is right'
	is "$(wc -c <err)" 0 'without an error'
	rm -rf programs.db* programs.d
	ok "$1: start" quietly "$HPOTUNE" start --quiet study.json
	is "$(sql programs.db 'SELECT DISTINCT state FROM trials')" completed \
	    'it runs'
	rm -rf programs.db* programs.d
}
touch out err before after

study '"command": ["./missing"]'
refused "trial.command: ./missing: not found in the folder $dir" 'no such file'
study '"command": ["no-such-program-of-ours"]'
refused 'trial.command: no-such-program-of-ours: not found in PATH' \
    'nowhere in PATH'
echo text >plain
study '"command": ["./plain"]'
refused 'trial.command: ./plain: not executable: chmod +x ./plain, with a first line like #!/bin/sh' \
    'it may not be executed'
printf '#!/bin/sh\necho hpotune: loss=1\n' >train.sh
study '"command": ["./train.sh"]'
refused 'trial.command: ./train.sh: not executable: chmod +x ./train.sh' \
    'a script without its run bit'
echo 'print("hpotune: loss=1")' >train.py
study '"command": ["./train.py"]'
words='trial.command: ./train.py: not executable: chmod +x ./train.py, with a first line like #!/usr/bin/env python3, or the command'
refused "$words [\"python3\", \"./train.py\"]" 'a program of Python' \
    "$words [\\\"python3\\\", \\\"./train.py\\\"]"
chmod +x plain
study '"command": ["./plain"]'
refused 'trial.command: ./plain: the first line of a script is like #!/bin/sh' \
    'a script without a first line'
study '"command": ["train.sh"]'
refused 'trial.command: train.sh: not found in PATH; the one in the working folder is ./train.sh' \
    'a name of the working folder'
mkdir -p folder
study '"command": ["./folder"]'
refused 'trial.command: ./folder: it is a folder' 'a folder'
study '"command": ["./plain/train"]'
refused 'trial.command: ./plain/train: Not a directory' 'a file for a folder'
printf '#!/none/python3 -u\n' >script
chmod +x script
study '"command": ["./script"]'
refused 'trial.command: ./script: its interpreter /none/python3: No such file or directory' \
    'a script without its interpreter'
printf '#!/bin/sh\r\necho hpotune: loss=1\r\n' >dos
chmod +x dos
study '"command": ["./dos"]'
words='trial.command: ./dos: its first line ends with a carriage return: dos2unix ./dos, or sed -i'
refused "$words 's/\\r\$//' ./dos" 'a script with the line ends of DOS' \
    "$words 's/\\\\r\$//' ./dos"
study '"command": ["true"], "workdir": "nowhere"'
refused "trial.workdir: $dir/nowhere: No such file or directory" \
    'no working folder'
study '"command": ["true"], "env": { "PATH": "/none" }'
refused 'trial.command: true: not found in PATH' 'not in the PATH of the trial'
study '"command": ["./missing"], "launcher": "ranks", "processes": 2'
refused "trial.command: ./missing: not found in the folder $dir" 'for ranks'
study '"command": ["true"], "launcher": "mpirun", "processes": 2,
    "env": { "PATH": "/none" }'
refused 'trial.launcher: mpirun: not found in PATH' 'no launcher'

# Found where the supervisor finds it.
mkdir -p work/bin
printf '#!/bin/sh\necho hpotune: loss=1\n' >work/bin/train
chmod +x work/bin/train
study '"command": ["bin/train"], "workdir": "work"'
taken 'below the working folder'
study '"command": ["train"], "workdir": "work", "env": { "PATH": "bin:/bin:/usr/bin" }'
taken 'in a relative PATH of the trial'
study "\"command\": [\"train\"], \"env\": { \"PATH\": \"$dir/work/bin:/bin\" },
    \"clean_env\": true"
taken 'in the PATH of a clean environment'
study '"command": ["./{x}"]'
ok 'a name of each trial is not looked for' quietly "$HPOTUNE" check study.json


# try says what start does.
study '"command": ["./train.sh"]'
fails 'try: a script without its run bit' 1 quietly "$HPOTUNE" try study.json
like "$(cat err)" 'trial.command: ./train.sh: not executable: chmod .x ./train.sh' \
    'it says what to do'

# Programs that differ between trials are looked at when they do not run.
varied() { # launcher database
	study "\"command\": [\"{pre}train.sh\"], \"retries\": 0$1" "$2"
	sed -i 's|"x": .*|"pre": { "type": "choice", "values": ["./", "bin/"] } },|' \
	    study.json
	fails "$2: no trial runs" 1 quietly "$HPOTUNE" start --quiet study.json
	is "$(sql "$2.db" "SELECT DISTINCT why FROM trials
	    WHERE json_extract(params, '\$.pre') = './'")" \
	    'cannot run ./train.sh: Permission denied (not executable: chmod +x ./train.sh)' \
	    'the reason says what to do'
}
varied '' varied
varied ', "launcher": "ranks", "processes": 2' varied-ranks

# A study that is there.
mkdir -p again
cd again
printf '#!/bin/sh\necho hpotune: loss=1\n' >train
chmod +x train
study '"command": ["./train"]'
ok 'a study runs' quietly "$HPOTUNE" start --quiet study.json
mv train away
ok 'one that has finished needs no program' quietly "$HPOTUNE" start study.json
like "$(cat out)" '3 trials|3 of 3|finished' 'and states what it found'
sed -i 's/"trials": 3/"trials": 5/' study.json
"$HPOTUNE" start study.json >out 2>err
is "$? $(cat err)" \
    "1 hpotune: trial.command: ./train: not found in the folder $dir/again" \
    'a resumed study reports that its program is missing'
is "$(sql programs.db 'SELECT count(*), state FROM trials GROUP BY state')" \
    '3|completed' 'and loses no trial'
is "$(sql programs.db 'SELECT state FROM study')" finished 'the study is still finished'
mv away train
ok 'with its program it goes on' quietly "$HPOTUNE" start --quiet study.json
is "$(sql programs.db 'SELECT count(*), state FROM trials GROUP BY state')" \
    '5|completed' 'all five trials are completed'

done_testing
