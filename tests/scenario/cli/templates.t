#!/bin/sh
# trial.files: a template becomes a file for each attempt.  Names of parameters
# are replaced and every other brace stays.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

study() { # members of trial
	cat >study.json <<END
{ "study": "s", "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": {
    "lr": { "type": "choice", "values": [1e-05] },
    "opt.name": { "type": "choice", "values": ["a{n}b", "other"] },
    "n": { "type": "int", "min": 3, "max": 4 },
    "on": { "type": "fixed", "value": true },
    "beta": { "type": "float", "min": 0, "max": 1, "when": { "n": [4] } } },
  "strategy": { "name": "random", "seed": 1 },
  "enqueue": [ { "n": 3, "opt.name": "a{n}b" },
    { "n": 4, "opt.name": "other", "beta": 0.5 } ],
  "trial": { $1 },
  "limits": { "trials": 2, "parallel": 1 } }
END
}
cat >trial <<'END'
#!/bin/sh
cat "$1" "$C_SOURCE" >>"$OUT"
echo "hpotune: loss=$HPOTUNE_TRIAL"
END
chmod +x trial
mkdir in
printf '%s\n' 'lr: {lr} # {{lr}}' 'name: {opt.name}{n}' 'on: {on}' \
    'beta: {beta}, {n}' '{other} ${HOME} {n' '{}' >in/c.yaml
printf 'int f(void) { return {n}; } /* no newline */' >c.in
study "\"files\": { \"config.yaml\": \"in/c.yaml\", \"a.c\": \"$dir/c.in\" },
  \"command\": [\"$dir/trial\", \"{file:config.yaml}\"],
  \"env\": { \"C_SOURCE\": \"{file:a.c}\", \"OUT\": \"{study_dir}/list\" }"

ok 'check' quietly "$HPOTUNE" check study.json
like "$(cat out)" "trial '\{file:config.yaml\}'\$" 'shows the placeholder'
ok 'start' quietly timeout 300 "$HPOTUNE" start -q study.json
cat >one <<'END'
lr: 1.0e-05 # {1.0e-05}
name: a{n}b3
on: true
{other} ${HOME} {n
{}
END
printf 'int f(void) { return 3; } /* no newline */' >>one
cat >two <<'END'
lr: 1.0e-05 # {1.0e-05}
name: other4
on: true
beta: 0.5, 4
{other} ${HOME} {n
{}
END
printf 'int f(void) { return 4; } /* no newline */' >>two
is "$(cat list)" "$(cat one two)" \
    'values are filled in once; a line with an inactive parameter is left out'
is "$(ls s.d/trials/2/attempt-1/files | tr '\n' ' ')" 'a.c config.yaml ' \
    'the files stay in the folder of the attempt'

# The line of best writes them again.
rm list
"$HPOTUNE" best s.db | sed -n 's/^again: //; /^mkdir/,$p' >again
ok 'the line of best' quietly sh again
is "$(cat list)" "$(cat one)" 'best: its line writes them again'
like "$("$HPOTUNE" best --json s.db)" '"files/config.yaml": ?"lr: 1.0e-05' 'as JSON'
mv c.in c.away
"$HPOTUNE" best s.db >out 2>err
is $? 0 'best without a template'
like "$(cat out)" "^again: not possible: trial.files: $dir/c.in: No such file" \
    'says which one is missing'
mv c.away c.in

# try runs one trial with files of its own.
rm list
ok 'try' quietly timeout 300 "$HPOTUNE" try study.json n=4 opt.name=other beta=0.5
is "$(cat list)" "$(cat two)" 'it has its files, too'

# Templates are read before each attempt: one that is away is waited for.
rm -rf s.db* s.d list
cat >trial <<'END'
#!/bin/sh
cat "$1" >>"$OUT"
[ "$HPOTUNE_TRIAL" != 1 ] || mv "$AWAY" "$AWAY.old"
echo "hpotune: loss=$HPOTUNE_TRIAL"
END
study "\"files\": { \"config.yaml\": \"in/c.yaml\" },
  \"command\": [\"$dir/trial\", \"{file:config.yaml}\"],
  \"env\": { \"OUT\": \"$dir/list\", \"AWAY\": \"$dir/in/c.yaml\" }"
server study.json
ok 'a trial whose template is away' retry sql_is s.db \
    "SELECT state FROM trials WHERE trial = 2" starting
printf 'changed: {n}\n' >in/c.yaml
ok 'the study goes on when it is back' reap "$server"
is "$(tail -n 1 list)" 'changed: 4' 'with the new text'
is "$(sql s.db 'SELECT group_concat(state) FROM trials')" 'completed,completed' \
    'no trial has failed'

# A file that is missing is one of what check says of this machine.
missing() { # place and text
	for command in check start; do
		"$HPOTUNE" $command study.json >out 2>err
		is "$? $(sed 's/study.json:[0-9]*:[0-9]*: //' err)" \
		    "$([ $command = start ] && echo 2 || echo 1) hpotune: $1" \
		    "$command: $1"
	done
	ok 'nothing is made' test ! -e s.db
}

# What is wrong is said before anything is made.
rm -rf s.db* s.d list
refused() { # place and text
	for command in check start; do
		"$HPOTUNE" $command study.json >out 2>err
		is "$? $(sed 's/study.json:[0-9]*:[0-9]*: //' err)" \
		    "2 hpotune: $1" "$command: $1"
	done
	ok 'nothing is made' test ! -e s.db
}
files_command='"command": ["true", "{file:a.c}"]'
study '"command": ["true", "{file:a.c}"]'
refused 'trial.command[1]: {file:a.c} needs trial.files, which is not given'
study '"files": { "b.c": "c.in" }, "command": ["true", "{file:a.c}"]'
refused 'trial.command[1]: {file:a.c} is no file of trial.files; did you mean "b.c"?'
study '"files": { "b.c": "c.in" }, "command": ["true"]'
refused 'trial.files: the program is given no file: expected {file:b.c} in trial.command or trial.env'
study "\"files\": { \"a.c\": \"none\" }, $files_command"
missing "trial.files[\"a.c\"]: $dir/none: No such file or directory"
study "\"files\": { \"a.c\": \"in\" }, $files_command"
missing "trial.files[\"a.c\"]: $dir/in: Is a directory"
mkfifo pipe
study "\"files\": { \"a.c\": \"pipe\" }, $files_command"
missing "trial.files[\"a.c\"]: $dir/pipe: no regular file"
printf 'a {lr}\0b' >zero
study "\"files\": { \"a.c\": \"zero\" }, $files_command"
missing "trial.files[\"a.c\"]: $dir/zero: no text: it has a byte 0"
head -c 1048577 /dev/zero | tr '\0' x >large
study "\"files\": { \"a.c\": \"large\" }, $files_command"
missing "trial.files[\"a.c\"]: $dir/large: larger than 1 MiB"
echo '{other} lr' >none
study "\"files\": { \"a.c\": \"none\" }, $files_command"
missing "trial.files[\"a.c\"]: $dir/none names no parameter in braces, such as {lr}"
study "\"files\": { \"../a.c\": \"c.in\" }, $files_command"
refused 'trial.files["../a.c"]: the name of a file has 1 to 64 letters, digits, _ - or . and begins with no .'
study "\"files\": { \"a.c\": \"\" }, $files_command"
refused 'trial.files["a.c"]: expected the path of a template'
study '"files": { "a.c": "c.in" }, "command": ["true"], "pack": 4'
refused 'trial.files: cannot be combined with trial.pack, whose program reads its trials from standard input'

done_testing
