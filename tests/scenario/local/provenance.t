#!/bin/sh
# Where trials were started: host, command, commit, packages; a commit between two
# runs, changed files, no repository, no git, a git that hangs, kill -9 before it
# answers.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

need git sqlite3
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_CEILING_DIRECTORIES="$dir"
commit() {
	git -C "$1" add -A && git -C "$1" -c user.name=n -c user.email=n@x \
	    commit -q -m x
}
study() { # name trials [member]
	cat >"$1.json" <<END
{ "study": "$1", "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "random", "seed": 1 }, "stopping": "none", ${3-}
  "trial": { "command": ["sh", "t.sh"], "workdir": "code", "retries": 0 },
  "limits": { "trials": $2, "parallel": 1 } }
END
}
mkdir code
echo 'echo "hpotune: step=1 loss=1"' >code/t.sh
git init -q -b trunk code
commit code
first=$(git -C code rev-parse HEAD)

# ---- one run after another ----

study runs 9 '"provenance": { "packages": ["sh", "-c", "echo a==1; echo b==2"] },'
ok 'a study of one commit' env LOGNAME=somebody GIT_DIR=/nowhere \
    GIT_COMMON_DIR=/nowhere "$HPOTUNE" start -q --trials 2 runs.json
is "$(sql runs.db "SELECT git_commit, git_branch, git_dirty, git_why IS NULL,
    packages, packages_why IS NULL FROM provenance")" "$first|trunk|0|1|a==1
b==2
|1" 'has one row, with commit and packages'
is "$(sql runs.db 'SELECT user FROM provenance')" "$(id -un)" \
    'the user is not taken from the environment'
is "$(sql runs.db "SELECT host, json_extract(command, '\$[1]'),
    json_extract(command, '\$[5]'), folder, workdir FROM provenance")" \
    "$(uname -n)|start|runs.json|$PWD|$PWD/code" 'host, command and folders'
is "$(sql runs.db "SELECT version, system LIKE 'Linux $(uname -r) %'
    FROM provenance")" "$("$HPOTUNE" --version | awk '{ print $2 }')|1" \
    'version and system'
quietly "$HPOTUNE" start -q --trials 2 runs.json
is "$(sql runs.db 'SELECT count(*) FROM provenance')" 1 \
    'a start that starts nothing has none'
unlike "$("$HPOTUNE" status runs.json)" 'states of the code' \
    'status has nothing to say of it'

echo '# more' >>code/t.sh
touch code/unfollowed
quietly "$HPOTUNE" start -q --trials 4 runs.json
commit code
second=$(git -C code rev-parse HEAD)
quietly "$HPOTUNE" start -q --trials 6 runs.json
is "$(sql runs.db "SELECT git_commit, git_dirty, min(trial), max(trial)
    FROM attempts JOIN provenance USING (provenance) GROUP BY provenance")" \
    "$first|0|1|2
$first|1|3|4
$second|0|5|6" 'each attempt has the state of the code at its start'
like "$("$HPOTUNE" status runs.json)" 'trials ran with 3 states of the code' \
    'status says so'
is "$("$HPOTUNE" status --json runs.json | grep -o '"git_commit":"[0-9a-f]*' |
    cut -d '"' -f 4 | uniq -c | awk '{ print $1, $2 }')" "2 $first
1 $second" 'with --json it has them'
like "$("$HPOTUNE" show runs.json 3)" \
    "$(uname -n) .*$(echo "$first" | cut -c 1-12) +trunk +changed" 'so does show'
quietly "$HPOTUNE" report runs.json --output report.html
like "$(cat report.html)" 'Where its trials were started' 'and the report'
is "$(sql runs.db 'SELECT count(*) FROM t_packages')" 1 \
    'an equal list of packages is kept once'
like "$("$HPOTUNE" export runs.json --format json)" '"provenance":' \
    'an export has it'

# ---- a commit while the study runs: the next attempt has it ----

cat >between.sh <<'END'
known() {
	[ "$(sqlite3 -readonly ../between.db \
	    'SELECT count(git_commit) FROM provenance')" = 1 ]
}
case $HPOTUNE_TRIAL in
1)
	until known; do sleep 0.02; done
	;;
2)
	echo two >two
	git add two && git -c user.name=n -c user.email=n@x commit -q -m two
	;;
esac
echo "hpotune: step=1 loss=1"
END
cp between.sh code/t.sh
commit code
before=$(git -C code rev-parse HEAD)
study between 3
quietly "$HPOTUNE" start -q between.json
is "$(sql between.db "SELECT trial, git_commit FROM attempts
    JOIN provenance USING (provenance) ORDER BY trial")" "1|$before
2|$before
3|$(git -C code rev-parse HEAD)" 'a commit of a trial counts from the next one on'
echo 'echo "hpotune: step=1 loss=1"' >code/t.sh

# ---- no answer ----

rm -rf code/.git
study none 1
quietly "$HPOTUNE" start -q none.json
is "$(sql none.db "SELECT git_commit IS NULL, git_dirty IS NULL,
    git_why LIKE 'not a git repository%' FROM provenance")" '1|1|1' \
    'no repository is no error'
git init -q -b trunk code
study early 1
quietly "$HPOTUNE" start -q early.json
is "$(sql early.db "SELECT git_commit IS NULL, git_branch, git_why
    FROM provenance")" '1|trunk|there is no commit yet' 'nor is an empty one'
commit code
study off 1 '"provenance": { "git": false },'
quietly "$HPOTUNE" start -q off.json
is "$(sql off.db "SELECT git_commit IS NULL, git_why FROM provenance")" \
    '1|provenance.git is false' 'it can be turned off'
study odd 1 '"provenance": { "packages": ["sh", "-c", "exit 3"] },'
quietly "$HPOTUNE" start -q odd.json
is "$(sql odd.db "SELECT git_dirty, packages IS NULL, packages_why
    FROM provenance")" '0|1|sh: exit status 3' 'a list that fails is said'
study gone 1 '"provenance": { "packages": ["./nothing-here"] },'
quietly "$HPOTUNE" start -q gone.json
like "$(sql gone.db "SELECT packages_why FROM provenance")" \
    'nothing-here' 'and one whose program is missing'

mkdir bin
cat >bin/env <<'END'
#!/bin/sh
exit 127
END
chmod +x bin/env
study missing 1
PATH=$dir/bin:$PATH quietly "$HPOTUNE" start -q missing.json
is "$(sql missing.db 'SELECT git_why FROM provenance')" \
    'git is not installed' 'a machine without git'

# ---- git hangs: trials run, and a killed server has said what it knew ----

mkfifo hang
cat >bin/env <<END
#!/bin/sh
echo asked >"$dir/asked"
exec cat "$dir/hang"
END
study hangs 3
PATH=$dir/bin:$PATH "$HPOTUNE" start -q hangs.json 2>hangs.err &
server=$!
retry sql_is hangs.db "SELECT count(*) FROM trials
    WHERE state = 'completed'" 3
ok 'trials do not wait for git' test -e asked
kill -9 "$server"
wait "$server" 2>/dev/null
is "$(sql hangs.db 'SELECT git_why FROM provenance')" 'git has not answered' \
    'a server that is killed leaves a row without an answer'
is "$(sql hangs.db 'SELECT count(provenance) FROM attempts')" 3 \
    'to which its attempts belong'
sed -i 's/"trials": 3/"trials": 4/' hangs.json
quietly "$HPOTUNE" start -q hangs.json
is "$(sql hangs.db "SELECT provenance, git_dirty FROM attempts
    JOIN provenance USING (provenance) WHERE trial = 4")" '2|0' \
    'the next server asks again'

# ---- the list of packages hangs: what git has said is recorded ----

cat >list <<END
#!/bin/sh
exec cat "$dir/hang"
END
chmod +x list
study slow 3 '"provenance": { "packages": ["../list"] },'
"$HPOTUNE" start -q slow.json 2>slow.err &
server=$!
retry sql_is slow.db 'SELECT git_dirty FROM provenance' 0
kill -9 "$server"
wait "$server" 2>/dev/null
is "$(sql slow.db 'SELECT git_commit IS NULL, git_why, packages_why
    FROM provenance')" '0||the program has not answered' \
    'a list that hangs does not hold back what git has said' ||
    diag "$(cat slow.err)"
# Both that hang get an end of file.
exec 3<>hang
exec 3>&-

# ---- wrong study.json ----

for wrong in '"yes"' '{ "git": 1 }' '{ "packages": [] }' '{ "pip": true }'; do
	study wrong 1 "\"provenance\": $wrong,"
	fails "provenance: $wrong" 2 "$HPOTUNE" check wrong.json 2>err
	like "$(cat err)" '^hpotune: wrong.json:3:' 'with the place'
done
done_testing
