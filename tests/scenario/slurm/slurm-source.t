#!/bin/sh
# trial.source on Slurm: jobs make worktrees of commits of a repository that nodes
# share; commits are proposed; clean leaves the repository as it was.  Trials start warm
# in jobs of several, with the modules of their own commits.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm.sh"
need git python3 sqlite3
cluster_up

HOME=$dir
GIT_CONFIG_NOSYSTEM=1
export HOME GIT_CONFIG_NOSYSTEM
unset XDG_CONFIG_HOME GIT_CONFIG_GLOBAL
git config --global user.name tester
git config --global user.email tester@localhost
git config --global safe.directory '*'

mkdir 'the repo' shared
cd 'the repo' || exit 99
git init -q .
cat >trial <<'END'
#!/bin/sh
git rev-parse HEAD && pwd
echo "hpotune: step=1 loss=$(cat x)"
END
chmod +x trial
echo 1 >x
git add trial x
git commit -qm one
one=$(git rev-parse HEAD)
echo 9 >x
git commit -qam nine
git branch nine
git reset -q --hard "$one"
slurm_study s '"trials": 1, "parallel": 4' '"source": { "git": "." }' \
    ", \"dir\": \"$dir/shared\" }, \"confirm\": { \"parameter\": \"seed\",
    \"baseline\": 1, \"replicates\": 14"
git for-each-ref >"$dir/before"
run() {
	ok 'the study runs' quietly timeout 300 "$HPOTUNE" start -q s.json ||
	    diag "$(cat err)"
}
run
log=$(echo "$dir"/shared/s-*/trials/1/attempt-1/log)
like "$(cat "$log")" "^$one\$" 'a job runs the commit'
like "$(cat "$log")" "^$dir/shared/s-[0-9a-f]*/trials/1/attempt-1/source\$" \
    'in its worktree'
is "$(git worktree list | wc -l)" 2 'which git knows'
ok 'another commit is proposed' quietly "$HPOTUNE" propose s.json \
    --commit nine || diag "$(cat err)"
run
is "$(sql s.db 'SELECT verdict, why FROM proposals')" \
    'discarded|mean difference -8 after 1 pair: it would hardly be shown to be better' \
    'and judged'
ok 'clean' quietly "$HPOTUNE" clean s.json || diag "$(cat err)"
is "$(git for-each-ref)" "$(cat "$dir/before")" 'leaves no ref'
is "$(git worktree list | wc -l)" 1 'and no worktree'

# Warm: what is imported once is not of the worktrees, and what is of them is theirs.
mkdir "$dir/lib"
cat >"$dir/lib/slow.py" <<END
import os
with open("$dir/imports", "a") as f:
    f.write("%d\\n" % os.getpid())
END
echo 'value = 1' >own.py
cat >train.py <<'END'
import os, sys
import slow
import own
print("commit", os.popen("git rev-parse HEAD").read().strip(), os.getpid())
print("in", os.getcwd(), sys.path[0], own.__file__)
print("hpotune: step=1 loss=%d" % own.value)
END
git add own.py train.py
git commit -qm warm
first=$(git rev-parse HEAD)
echo 'value = 7' >own.py
git commit -qam seven
git branch seven
git reset -q --hard "$first"
slurm_study w '"trials": 6, "parallel": 2' '"warm": true, "retries": 0,
    "source": { "git": "." }, "env": { "PYTHONPATH": "'"$dir"'/lib" }' \
    ", \"dir\": \"$dir/shared\", \"trials_per_job\": 2 }, \"confirm\": {
    \"parameter\": \"seed\", \"baseline\": 1, \"replicates\": 14"
sed -i 's|"\./trial", "{x}"|"python3", "train.py", "{x}"|' w.json
ok 'a warm study runs' quietly timeout 300 "$HPOTUNE" start -q w.json ||
    diag "$(cat err)"
ok 'another commit of it is proposed' quietly "$HPOTUNE" propose w.json \
    --commit seven || diag "$(cat err)"
ok 'it goes on' quietly timeout 300 "$HPOTUNE" start -q w.json ||
    diag "$(cat err)"
# What of a proposal has not begun is stopped as the proposal is judged.
is "$(sql w.db "SELECT trial, attempt, end_class, why FROM attempts
    WHERE end_class NOT IN ('ok', 'stopped') OR trial <= 6 AND end_class <> 'ok'")" \
    '' 'no attempt fails'
is "$(sql w.db 'SELECT verdict, why FROM proposals')" \
    'discarded|mean difference -6 after 1 pair: it would hardly be shown to be better' \
    'each has the module of its own commit'
cat "$dir"/shared/w-*/trials/*/attempt-1/log >logs
is "$(awk '$1 == "in" && ($3 != $2 || $4 != $2 "/own.py")' logs)" '' \
    'from its worktree'
awk '$1 == "commit" { print $3 }' logs | sort >pids
warm=$(sort "$dir/imports" | comm -13 - pids | wc -l)
diag "$warm of $(wc -l <pids) started warm; $(sql w.db "SELECT text FROM events
    WHERE text LIKE '%cold%' OR text LIKE '%warm%'")"
[ "$warm" -gt 0 ]
verdict $? 'some started warm'
ok 'no job is left' retry no_job_left

done_testing
