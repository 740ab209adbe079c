#!/bin/sh
# trial.source on Slurm: jobs make worktrees of commits of a repository that nodes
# share; commits are proposed; clean leaves the repository as it was.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm.sh"
need git sqlite3
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

done_testing
