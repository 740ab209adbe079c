#!/bin/sh
# trial.source: trials run the files of a commit, each attempt in a worktree of its
# own; commits and patches are proposed; the repository is left as it was.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need git sqlite3 python3

# Nothing of whoever runs the tests; the folder may belong to another user.
mkdir tmp
TMPDIR=$dir/tmp
HOME=$dir
GIT_CONFIG_NOSYSTEM=1
export TMPDIR HOME GIT_CONFIG_NOSYSTEM
unset XDG_CONFIG_HOME GIT_CONFIG_GLOBAL
git config --global user.name tester
git config --global user.email tester@localhost
git config --global safe.directory '*'

# The loss falls with the number in the file x, and has noise of it and the seed.
# With 7 it waits for a file, with 9 its first attempt fails.
mkdir 'a repo' 'a repo/sub'
cd 'a repo' || exit 99
git init -q .
cat >sub/train <<'END'
#!/bin/sh
# --seed N
x=$(cat ../x) seed=${2:-1}
[ -z "${GIT_DIR-}" ] || exit 4
git rev-parse HEAD && pwd && cat ../x
echo mine >>../x
if [ "$x" = 7 ]; then
	until [ -e "$HOLDS" ]; do sleep 0.05; done
fi
[ "$x" != 9 ] || [ "$HPOTUNE_ATTEMPT" != 1 ] || exit 3
echo "hpotune: step=1 loss=$((1000 - x * 40 + seed * 37 % 11 + x * seed * 29 % 13))"
END
chmod +x sub/train
commit() { # number
	printf '%s\n' "$1" >x
	git add x sub
	git commit -qm "x is $1"
	git rev-parse HEAD
}
one=$(commit 1)
other() { # number: on a branch of its own
	git checkout -qb "x$1" "$one"
	commit "$1" >/dev/null
	git checkout -q -
}
for x in 0 5 7 9; do other $x; done
printf '*\n' >sub/.gitignore # not in a commit: nothing of the study is
study() { # name keys-of-source [keys]
	cat >"sub/$1.json" <<END
{ "study": "$1", "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "y": { "type": "int", "min": 0, "max": 1, "default": 0 } },
  "strategy": { "name": "random", "seed": 1 }, "stopping": "none",
  "confirm": { "parameter": "seed", "replicates": 14 }, ${3-}
  "trial": { "command": ["./train", "--seed", "{seed}"], "retries": 1,
    "env": { "HOLDS": "$dir/on" }, "source": { "git": ".."${2-} } },
  "limits": { "trials": 1, "parallel": 2 } }
END
}
run() { # name
	ok "$1 runs" quietly timeout 300 "$HPOTUNE" start -q "sub/$1.json" ||
	    diag "$(cat err)"
}
propose() { # name operand ...
	proposed=$1
	shift
	ok "propose $*" quietly "$HPOTUNE" propose "sub/$proposed.json" "$@" ||
	    diag "$(cat err)"
}
refused() { # status text name operand ...
	status=$1 wanted=$2 proposed=$3
	shift 3
	fails "propose $*" "$status" quietly "$HPOTUNE" propose \
	    "sub/$proposed.json" "$@"
	like "$(cat err)" "$wanted" 'says why not'
}
clean() { # name
	ok "$1 is cleaned" quietly "$HPOTUNE" clean "sub/$1.json" ||
	    diag "$(cat err)"
}
# What must stay as it is: files, index, branches, worktrees, settings.
left() {
	GIT_OPTIONAL_LOCKS=0 git status --porcelain
	git for-each-ref
	git worktree list
	git symbolic-ref HEAD
	sha256sum .git/index .git/config
	ls .git
}
printf '/out\n/err\n' >.git/info/exclude
git status >/dev/null
left >"$dir/before"

# A hook and variables of another repository must not matter.
printf '#!/bin/sh\ntouch "%s"/hooked\n' "$dir" >.git/hooks/post-checkout
chmod +x .git/hooks/post-checkout
study one
GIT_DIR=$dir/nowhere GIT_WORK_TREE=$dir/nowhere
export GIT_DIR GIT_WORK_TREE
run one
unset GIT_DIR GIT_WORK_TREE
is "$(sql sub/one.db "SELECT state, git_commit FROM trials")" "completed|$one" \
    'its trial runs the commit that is checked out'
is "$("$HPOTUNE" logs sub/one.json 1 | head -3)" "$one
$dir/a repo/sub/one.d/trials/1/attempt-1/source/sub
1" 'in the same folder of a worktree'
like "$("$HPOTUNE" best sub/one.json)" "^commit  $one\$" 'best has it, too'
"$HPOTUNE" best sub/one.json | sed -n 's/^again: //p' >"$dir/again"
is "$(sh "$dir/again" 2>/dev/null | grep -v '^HEAD is now')" "$one
$dir/a repo/sub/one-again-1/source/sub
1
$("$HPOTUNE" logs sub/one.json 1 | tail -n 1)" \
    'its line runs in a worktree of its own'
is "$(cat x)" 1 'not in the checkout'
git worktree remove --force sub/one-again-1/source
rm -r sub/one-again-1
ok 'no hook ran' test ! -e "$dir/hooked"
is "$(cat x)" 1 'the checkout is as it was'

propose one --commit x0
propose one -c x5
refused 1 'the same setting is proposal 2, which is open' one --commit x5
refused 1 'the baseline itself' one --commit HEAD
refused 1 'git rev-parse: ' one --commit nothing
refused 1 'git rev-parse: ' one --commit "$(git rev-parse HEAD:x)"
refused 2 'exclude each other' one --commit x5 --patch x
run one
is "$(sql sub/one.db "SELECT p.verdict, p.git_commit = t.git_commit,
    p.git_base FROM proposals AS p JOIN trials AS t USING (trial)
    ORDER BY proposal")" "discarded|1|$one
kept|1|$one" 'the better commit is kept, the worse one is not'
is "$(sql sub/one.db "SELECT diff FROM proposals WHERE proposal = 2" |
    tail -n +3)" '--- a/x
+++ b/x
@@ -1 +1 @@
-1
+5' 'what differs is a column'
is "$(sql sub/one.db "SELECT count(*) FROM trials AS t, proposals AS p WHERE
    t.setting = (SELECT setting FROM trials WHERE trial = p.trial) AND
    t.git_commit <> p.git_commit")" 0 'all runs of a setting are of its commit'
five=$(git rev-parse x5)
is "$(git for-each-ref --format='%(objectname)' refs/hpotune | sort)" \
    "$(printf '%s\n' "$one" "$(git rev-parse x0)" "$five" | sort)" \
    'refs keep the commits'

# Patches, over what was kept.
printf -- '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+3\n' >"$dir/old"
printf -- '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-5\n+2\n' >"$dir/new"
git for-each-ref >"$dir/refs"
refused 1 "does not apply to commit $(printf '%.12s' "$five")" one \
    --patch "$dir/old"
is "$(git for-each-ref)" "$(cat "$dir/refs")" 'and leaves no ref'
is "$(ls "$dir/tmp")" '' 'nor a file'
refused 1 'No such file' one --patch "$dir/none"
propose one --patch "$dir/new"
refused 1 'the same setting is proposal 3' one --patch "$dir/new"
ok 'a patch with a parameter is another proposal' quietly "$HPOTUNE" propose \
    --json sub/one.json --patch "$dir/new" y=1
like "$(cat out)" '"proposal":4,"params":\{"y":1\},"commit":"[0-9a-f]{40}"' \
    'and says its commit'
run one
patched=$(sql sub/one.db "SELECT git_commit FROM proposals WHERE proposal = 3")
is "$(git show "$patched:x")" 2 'the patch is a commit'
is "$(git rev-parse "$patched^")" "$five" 'of the one that was kept'
is "$(sql sub/one.db "SELECT verdict FROM proposals WHERE proposal > 2")" \
    'discarded
discarded' 'which are judged'
is "$(sql sub/one.db "SELECT git_commit FROM proposals WHERE proposal = 4")" \
    "$patched" 'the same patch is the same commit'
like "$("$HPOTUNE" verdict sub/one.json 3)" "commit +$patched" 'verdict says it'
"$HPOTUNE" clean -n sub/one.json >out
like "$(cat out)" '^[1-9][0-9]* worktrees and 4 refs would be removed$' \
    'clean --dry-run says what is left'
clean one
left >"$dir/after"
is "$(cat "$dir/after")" "$(cat "$dir/before")" \
    'clean leaves the repository as it was'

# A retry has a worktree of its own: what the first attempt wrote is not in it.
study retry ', "commit": "x9"'
run retry
is "$("$HPOTUNE" logs sub/retry.json --attempt 2 1 | sed -n 2,3p)" \
    "$dir/a repo/sub/retry.d/trials/1/attempt-2/source/sub
9" 'the second attempt begins anew'
sed -i 's/"x9"/"x5"/' sub/retry.json
fails 'another commit' 2 quietly "$HPOTUNE" start -q sub/retry.json
like "$(cat err)" 'trial.source.commit: "x9" in .*, "x5" in study.json' \
    'is another study'
sed -i 's/"x5"/"x9"/' sub/retry.json
git worktree prune
clean retry

# Uncommitted changes.
echo 4 >x
study dirty
fails 'uncommitted changes' 2 quietly "$HPOTUNE" start -q sub/dirty.json
like "$(cat err)" 'has changes that are in no commit.*"uncommitted": "record"' \
    'are refused'
ok 'and no study is made' test ! -e sub/dirty.db
fails 'check says so' 1 quietly "$HPOTUNE" check sub/dirty.json
git status >/dev/null
sha256sum .git/index >"$dir/index"
study dirty ', "uncommitted": "record"'
run dirty
is "$(sql sub/dirty.db 'SELECT git_commit FROM trials')" \
    "$(git for-each-ref --format='%(objectname)' refs/hpotune)" 'or recorded'
like "$("$HPOTUNE" logs sub/dirty.json 1)" '^4$' 'as a commit that runs'
is "$(sha256sum .git/index)" "$(cat "$dir/index")" \
    'neither the index is changed'
is "$(git log --format=%H -1)$(cat x)" "${one}4" 'nor what is checked out'
clean dirty
study refuses ', "commit": "x5"'
run refuses
refused 2 'has changes that are in no commit' refuses --commit HEAD
ok 'of another commit they do not matter' quietly "$HPOTUNE" propose \
    sub/refuses.json --commit x0
git checkout -q x
run refuses
clean refuses
left >"$dir/before"
unlike "$(cat "$dir/before")" 'refs/hpotune|attempt-1' 'nothing is left of it'

# A study with another name has the same worktrees and commits.
study was ', "commit": "x5"'
run was
mkdir "$dir/killing"
printf '#!/bin/sh\ntouch "%s/told"\nkill -9 $PPID\n' "$dir" >"$dir/killing/git"
chmod +x "$dir/killing/git"
fails 'rename is killed before it moves the refs' 137 \
    quietly env PATH="$dir/killing:$PATH" "$HPOTUNE" rename sub/was.json now
ok 'when it asks git' test -e "$dir/told"
ok 'it is completed' quietly "$HPOTUNE" rename sub/was.json now
mv sub/was.json sub/now.json
like "$("$HPOTUNE" clean -n sub/now.json)" '^0 worktrees and 1 ref would' \
    'the ref has the new name'
clean now
left >"$dir/after"
is "$(cat "$dir/after")" "$(cat "$dir/before")" 'and leaves nothing'

# With keep a worktree goes with the end of its attempt.
study keeps ', "commit": "x5"' '"keep": { "best": 1 },'
run keeps
ok 'its worktree is removed' retry test ! -e sub/keeps.d/trials/1/attempt-1/source
clean keeps

# The server is killed when git has begun, the attempt goes on.
mkdir "$dir/bin"
cat >"$dir/bin/git" <<END
#!/bin/sh
case "\$*" in
*'worktree add'*)
	: >"$dir/begun"
	until [ -e "$dir/git-on" ]; do sleep 0.05; done ;;
esac
exec "$(command -v git)" "\$@"
END
chmod +x "$dir/bin/git"
study killed ', "commit": "x7"'
PATH=$dir/bin:$PATH
server sub/killed.json
ok 'git makes the worktree' retry test -e "$dir/begun"
kill -9 "$child"
wait "$child" 2>/dev/null
: >"$dir/git-on"
ok 'the trial begins without a server' retry grep -q '^7$' \
    sub/killed.d/trials/1/attempt-1/log
server sub/killed.json
ok 'and is adopted' retry sql_is sub/killed.db \
    "SELECT state FROM attempts" running
kill -9 "$child"
wait "$child" 2>/dev/null
: >"$dir/on"
run killed
is "$(sql sub/killed.db 'SELECT state, attempts FROM trials')" 'completed|1' \
    'in one attempt'

# The supervisor is killed while git works: the next attempt begins anew.
rm "$dir/git-on" "$dir/begun"
study shim ', "commit": "x5"'
server sub/shim.json
ok 'git begins' retry test -e "$dir/begun"
rm "$dir/begun"
pkill_shim() {
	for pid in $(pgrep -f "dir=$dir/a repo/sub/shim.d/trials/1/attempt-1"); do
		kill -9 "$pid"
	done
}
pkill_shim
ok 'once more' retry test -e "$dir/begun"
: >"$dir/git-on"
wait "$child"
is "$(sql sub/shim.db 'SELECT state, attempts FROM trials')" 'completed|2' \
    'the trial completes'
# A stop while git works.
rm "$dir/git-on" "$dir/begun"
study stopped ', "commit": "x5"'
server sub/stopped.json
ok 'git begins again' retry test -e "$dir/begun"
ok 'a stop' quietly "$HPOTUNE" stop sub/stopped.json 1
wait "$child"
is "$(sql sub/stopped.db 'SELECT state, why FROM trials')" \
    'cancelled|stopped by the user' 'is heard'
: >"$dir/git-on"
for name in killed shim stopped; do clean $name; done
left >"$dir/after"
is "$(cat "$dir/after")" "$(cat "$dir/before")" 'all is as it was'

# A commit that vanished, and a repository that did: errors of trials.
study gone ', "commit": "x5"'
run gone
gone=$(git commit-tree -m gone -p "$one" "x0^{tree}")
propose gone --commit "$gone"
git for-each-ref --format='delete %(refname)' refs/hpotune |
    git update-ref --stdin
rm ".git/objects/$(printf '%.2s' "$gone")/$(printf '%s' "$gone" | cut -c3-)"
run gone
is "$(sql sub/gone.db "SELECT verdict, why FROM proposals")" \
    'discarded|its run of pair 1 failed' 'the proposal fails'
like "$(sql sub/gone.db "SELECT why FROM trials WHERE git_commit = '$gone'")" \
    "no worktree of commit $(printf '%.12s' "$gone") of .*: " 'and says why'
is "$(sql sub/gone.db "SELECT state FROM trials WHERE trial = 1")" completed \
    'others do not'
propose gone y=1
mv .git moved
run gone
like "$(sql sub/gone.db "SELECT why FROM trials WHERE state = 'failed'
    ORDER BY trial DESC LIMIT 1")" 'not a git repository' \
    'no repository is said, too'
fails 'nor is a commit found' 1 quietly "$HPOTUNE" propose sub/gone.json --commit x0 ||
    diag "$(cat err)"
mv moved .git
clean gone

# Warm starts: modules of packages are imported once, those of the worktree are the
# commit's, beside the script and by a relative PYTHONPATH.
mkdir "$dir/site"
cat >"$dir/site/slow.py" <<'END'
import os
with open(os.environ["IMPORTS"], "a") as file:
    file.write(__file__ + "\n")
name = "of the package"
END
mkdir part
echo 'name = "part 1"' >part/relative.py
echo 'name = "own 1"' >sub/own.py
cat >sub/train.py <<'END'
import os, sys
import slow, own, relative
print(os.getcwd(), sys.path, __file__)
print(own.__file__, relative.__file__, slow.__file__)
print(own.name, relative.name, slow.name, "GIT_DIR" in os.environ)
with open("../x") as file:
    x = int(file.read())
with open("../x", "a") as file:
    file.write("mine")
print("hpotune: step=1 loss=%d" % (100 - 10 * x + int(sys.argv[1]) % 3))
# Wait until the server has imported the modules, unless they are learnt of the first
# trial, when it has ended.
import sqlite3, time
home = os.environ["HPOTUNE_PARAMS"].partition(".d/trials/")[0]
while ("LISTED" in os.environ or os.environ["HPOTUNE_TRIAL"] != "1" and
       os.path.exists(home + ".d/warm")):
    with sqlite3.connect(f"file:{home}.db?mode=ro", uri=True) as db:
        if db.execute("SELECT 1 FROM events WHERE text LIKE 'warm starts: %' "
                      "AND time >= (SELECT started FROM study)").fetchone():
            break
    time.sleep(0.05)
END
python_program() { # study
	sed -i "s|\"./train\", \"--seed\", |\"python3\", \"train.py\", |
	    s|\"parallel\": 2|\"parallel\": 1|
	    s|\"HOLDS\": |\"PYTHONPATH\": \"$dir/site:../part\", &|
	    s|\"HOLDS\": |\"IMPORTS\": \"$dir/imports.$1\", &|" "sub/$1.json"
}
git checkout -qb python
git add -f part sub/own.py sub/train.py
commit 1 >/dev/null
python=$(git rev-parse HEAD)
change() { # branch, x of it: a commit of the files as they are
	git checkout -qb "$1"
	git add -f part sub
	commit "$2" >/dev/null
	git checkout -q "$python"
}
git checkout -q "$python"
echo 'name = "own 5"' >sub/own.py
echo 'name = "part 5"' >part/relative.py
change better 5
echo 'name = "of the commit"' >sub/slow.py
change hides 0
for name in cold warm; do
	study $name
	python_program $name
	[ $name = cold ] || sed -i 's|"trial": {|& "warm": true,|' sub/$name.json
	GIT_DIR=$dir/nowhere
	export GIT_DIR
	run $name
	unset GIT_DIR
	propose $name --commit better
	run $name
	is "$(sql sub/$name.db "SELECT count(*) FROM trials WHERE state = 'failed'")" \
	    0 "$name: no trial fails"
	cat sub/$name.d/trials/*/attempt-1/log | grep -v '^hpotune:' |
	    sed "s|sub/$name|NAME|g; s|trials/[0-9]*/|trials/N/|g" |
	    sort -u >"$dir/$name.logs"
done
ok 'a warm start has the modules of the commit' \
    diff "$dir/cold.logs" "$dir/warm.logs"
like "$(cat "$dir/warm.logs")" '^own 5 part 5 of the package False$' \
    'beside those of packages'
n=$(sql sub/warm.db 'SELECT count(*) FROM trials')
ok 'which are imported once' \
    [ "$(grep -c /site/ "$dir/imports.warm")" -lt "$n" ]
# What a list names may be hidden by the commit, or be of it.
for name in slow own; do
	study $name ', "commit": "hides"'
	python_program $name
	sed -i "s/\"trial\": {/& \"warm\": [\"$name\"],/
	    s/\"HOLDS\": /\"LISTED\": \"\", &/
	    s/\"trials\": 1/\"trials\": 2/" sub/$name.json
	run $name
	like "$("$HPOTUNE" logs sub/$name.json 2)" \
	    '^own 1 part 1 of the commit False$' "$name: it has its own modules"
done
like "$(sql sub/slow.db 'SELECT text FROM events')" \
    '^a trial starts cold: the program has its own slow.py$' 'and says why'
like "$(sql sub/own.db 'SELECT text FROM events')" \
    'cold: each trial has its own files, and .*/a repo/sub/own.py is one of them$' \
    'in both'
for name in cold warm slow own; do clean $name; done
git checkout -q "$one"
git branch -qD python better hides

# A repository without a checkout: folders are below that of study.json.
git clone -q --bare . "$dir/bare"
mkdir "$dir/far"
cd "$dir/far" || exit 99
mkdir sub
study bare ', "commit": "x5"'
sed -i 's|"git": ".."|"git": "../../bare"|' sub/bare.json
sed -i 's|"./train"|"sub/train"|; s|../x|x|' sub/bare.json
ok 'a bare repository' quietly "$HPOTUNE" start -q sub/bare.json ||
    diag "$(cat err)"
like "$("$HPOTUNE" logs sub/bare.json 1)" '/trials/1/attempt-1/source$' \
    'runs at the top of its worktree'
clean bare
is "$(git --git-dir="$dir/bare" worktree list | wc -l)" 1 'and is left alone'

done_testing
