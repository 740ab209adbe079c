#!/bin/sh
# A memory cgroup that is too small, as of a container or a job: its OOM killer ends
# the trial, and the study goes on; it ends the server, and the next one continues.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3 dd

# A group of version 1 or 2, and the names of its files.
if [ -e /sys/fs/cgroup/memory/memory.limit_in_bytes ]; then
	top=/sys/fs/cgroup/memory
	limit=memory.limit_in_bytes usage=memory.usage_in_bytes
	counts=memory.oom_control
else
	top=/sys/fs/cgroup
	limit=memory.max usage=memory.current counts=memory.events
fi
group=$top/hpotune-test-$$
heap=/dev/shm/hpotune-test-$$
mkdir "$group" 2>err || skip_all "no memory cgroup can be made: $(cat err)"
discard() { # what is in the group ends first
	for child in $children; do
		kill -9 "$child" 2>/dev/null
	done
	rm -f "$heap"
	while read -r pid; do
		kill -9 "$pid" 2>/dev/null
	done <"$group/cgroup.procs"
	RETRY_SECONDS=30 retry rmdir "$group" 2>/dev/null
}
trap 'discard; cleanup' EXIT
[ -w "$group/$limit" ] || skip_all 'the memory controller is not delegated here'
: 2>err >"$heap" || skip_all "no memory that is a file: $(cat err)"
kills() {
	awk '$1 == "oom_kill" { print $2 }' "$group/$counts"
}
[ -n "$(kills)" ] || skip_all 'the kernel does not count what its OOM killer ends'

inside() { # command …
	# shellcheck disable=SC2016 # expanded there
	set -- sh -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' - \
	    "$group" "$@"
	exec "$@"
}
study() { # name trials retries
	cat >"$1.json" <<END
{ "study": "$1", "objective": { "metric": "v", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "random", "seed": 1 }, "stopping": "none",
  "trial": { "command": ["sh", "trial.sh", "{x}"], "retries": $3 },
  "limits": { "trials": $2, "parallel": 1 } }
END
}
# 128 MB more than what is there: whatever the build, its programs have room.
tighten() {
	echo $(($(cat "$group/$usage") + 128000000)) >"$group/$limit"
}

# The second of three trials takes all memory.
cat >trial.sh <<'END'
echo "hpotune: step=1 v=$1"
: >"begun-$HPOTUNE_TRIAL"
until [ -e go ]; do sleep 0.05; done
[ "$HPOTUNE_TRIAL" != 2 ] || exec tail /dev/zero
END
study greedy 3 0
background greedy inside "$HPOTUNE" start --quiet greedy.json
ok 'a trial runs' retry [ -e begun-1 ]
ok 'the group has little memory' tighten
touch go
reap "$child"
is $? 0 'the server is spared, and the study ends'
diag "$(cat greedy.err)"
ok "$(kills) killed by the kernel" [ "$(kills)" -gt 0 ]
states() { # database
	sql "$1" 'SELECT state FROM trials ORDER BY trial' | tr '\n' ' '
}
is "$(states greedy.db)" 'completed failed completed ' 'the trial that took it has failed'
like "$(sql greedy.db 'SELECT why FROM trials WHERE trial = 2')" \
    'out of memory' 'and says why'
is "$(sql greedy.db "SELECT count(*) FROM curves WHERE trial = 2")" 1 \
    'what it had reported is there'
echo -1 >"$group/$limit" 2>/dev/null || echo max >"$group/$limit"

# Files in memory fill the group: after the trial the server is killed, as often
# as it takes.
cat >trial.sh <<'END'
echo "begun $HPOTUNE_TRIAL" >>ledger
echo "hpotune: step=1 v=$1"
until [ -e through ]; do sleep 0.05; done
echo "ended $HPOTUNE_TRIAL" >>ledger
END
study full 2 20
background full inside "$HPOTUNE" start --quiet full.json
server=$child
ok 'a trial runs' retry [ -e ledger ]
tighten
fill() {
	(inside dd if=/dev/zero of="$heap" bs=1M count=512 oflag=append \
	    conv=notrunc) 2>/dev/null
	[ ! -e "/proc/$server/exe" ]
}
ok 'the group is filled until the server is gone' retry fill
reap "$server" 2>/dev/null
is $? 137 'the kernel has killed it'
like "$("$HPOTUNE" status full.json)" 'no server runs this study' 'status says so'
rm "$heap"
touch through
ok 'another server, with memory' "$HPOTUNE" start --quiet full.json
is "$(states full.db)" 'completed completed ' 'ends the study'
is "$(grep ended ledger | sort | tr '\n' ' ')" 'ended 1 ended 2 ' \
    'each trial has come to its end once'
is "$(sql full.db "SELECT count(*) FROM attempts WHERE end_class = 'ok'")" 2 \
    'which is recorded once'
is "$(sql full.db "SELECT count(*) FROM attempts WHERE end_class <> 'ok'
    AND why NOT LIKE '%out of memory%' AND end_class <> 'lost'")" 0 \
    'the attempts before say why they ended'

done_testing
