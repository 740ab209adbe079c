#!/bin/sh
# kill -9 at random moments of the server, of hpotune-node with its job, of the warm
# process, of supervisors and of trials, which start warm, and some of which are told
# to stop: by the trials' own ledger no attempt begins twice, no trial is lost, each
# completes or ends as it was told, and the database says the same.
# Supervisors also die by themselves at their fail points.  SLURM_WARM_KILLS=200 kills
# more often, SLURM_SEED=N repeats the order.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm-ledger.sh"
need sqlite3 python3
cluster_up
kills=${SLURM_WARM_KILLS:-20}
seed=${SLURM_SEED:-$$}
diag "SLURM_SEED=$seed"

# An attempt may have said its end and be killed before that is recorded.
ledger_ends="attempts.end_class = 'ok'"
HPOTUNE_SHIM=$TOP_BUILDDIR/tests/torture/hpotune-shim-fail
export HPOTUNE_SHIM
dies=
for point in begin before_hand_over waiting given before_warm after_warm \
    before_claim after_claim after_update before_announce after_announce \
    before_exit_record after_exit_record; do
	dies="$dies,shim.$point=kill%1"
done
fails="export HPOTUNE_FAIL=${dies#,} HPOTUNE_FAIL_LOG=$dir/fail.log"
mkdir lib
cat >lib/slow.py <<'PY'
import os
with open(os.environ["LEDGER"] + ".imports", "a") as f:
    f.write("%d\n" % os.getpid())
import decimal, logging, threading  # noqa
PY
# It is quick when the file "fast" is there.
cat >train.py <<'PY'
import os, random, signal, sys, time
import slow
env = os.environ
base = env["LEDGER"]
def say(what, step):
    line = "%s %s %s %d %s %d\n" % (what, env["HPOTUNE_TRIAL"],
        env["HPOTUNE_ATTEMPT_UUID"], step, env["SLURMD_NODENAME"], os.getpid())
    fd = os.open(base, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(fd, line.encode())
    os.close(fd)
told = []
signal.signal(signal.SIGTERM, lambda *_: told.append(1))
say("begin", 0)
pause = random.uniform(0.1, 0.5)
for step in 1, 2, 3:
    print("hpotune: step=%d loss=%s" % (step, sys.argv[1]), flush=True)
    say("report", step)
    if not os.path.exists(base + ".fast"):
        time.sleep(pause)
    if told:
        break
say("end", 0)
PY
: >ledger
slurm_study kills "\"trials\": $((kills + 10)), \"parallel\": 4" \
    '"cpus": 1, "retries": 1000, "grace": 60, "warm": ["slow"],
    "env": { "PYTHONPATH": "'"$dir"'/lib", "LEDGER": "'"$dir"'/ledger" }' \
    ', "trials_per_job": 2, "exclude_failed_nodes": false,
    "setup": "'"$fails HPOTUNE_FAIL_SEED=$seed"'"'
sed -i 's|"\./trial", "{x}"|"python3", "train.py", "{x}"|' kills.json

cat >killer.py <<'PY'
import collections, os, random, signal, subprocess, sys, time
here, kills, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
random.seed(seed)
order = "server trial warm supervisor trial warm stop node trial warm".split()
own = ("LEDGER=%s/ledger" % here).encode()
made = collections.Counter()
def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""
def exe(pid):
    try:
        path = os.readlink("/proc/%s/exe" % pid)
    except OSError:
        return ""
    return os.path.basename(path) if path.startswith(here) else ""
def is_kind(kind, pid):
    if kind == "supervisor":
        return exe(pid).startswith("hpotune-shim-")
    if kind == "node":
        return exe(pid).startswith("hpotune-node-")
    line = read("/proc/%s/cmdline" % pid)
    what = {"warm": b"/warm/hpotune_warm.py\0", "trial": b"\0train.py\0"}[kind]
    return what in line and own in read("/proc/%s/environ" % pid).split(b"\0")
def victims(kind):
    if kind == "server":
        return [pid for pid in read("server.pid").split()]
    return [pid for pid in filter(str.isdigit, os.listdir("/proc"))
            if is_kind(kind, pid)]
# A process that has had no trial is given up after the third one.
def warm_begun():
    cold = set(read("ledger.imports").split())
    return sum(w[0] == b"begin" and w[5] not in cold
               for w in map(bytes.split, read("ledger").splitlines()))
def stop():
    begun = [w[1] for w in map(bytes.split, read("ledger").splitlines())]
    if not begun:
        return
    trial = random.choice(begun[-12:]).decode()
    with open("told", "a") as file:
        file.write(trial + "\n")
    subprocess.run([os.environ["HPOTUNE"], "stop", "kills.db", trial],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
def say(last=[None]):
    ends = read("ledger").count(b"end ")
    done = sum(made.values())
    if (done // 10, ends // 50) != last[0]:
        last[0] = (done // 10, ends // 50)
        print("#", done, "kills:", *("%d %s;" % (n, kind) for kind, n
              in sorted(made.items())), ends, "attempts at their end", flush=True)
seen = turn = since = 0
while not os.path.exists("over"):
    say()
    if sum(made.values()) >= kills:
        open("ledger.fast", "a").close()
        time.sleep(0.5)
        continue
    time.sleep(random.uniform(0, 0.6))
    kind = order[turn % len(order)]
    found = []
    if kind == "stop":
        stop()
    elif kind != "warm" or warm_begun() > seen:
        found = victims(kind)
    since += 1
    if kind == "stop" or found or since == 10:
        turn, since = turn + 1, 0
    if not found:
        continue
    try:
        os.kill(int(random.choice(found)), signal.SIGKILL)
    except ProcessLookupError:
        continue
    made[kind] += 1
    if kind == "warm":
        seen = warm_begun()
with open("made", "w") as file:
    print(sum(made.values()), file=file)
say([None])
PY
: >told
python3 killer.py "$dir" "$kills" "$seed" 2>killer.err &
killer=$!
children="$children $killer"
while :; do
	server kills.json
	echo "$server" >server.new && mv server.new server.pid
	reap "$server" 2>/dev/null
	status=$?
	[ $status = 137 ] || break
done
: >over
reap "$killer" || diag "$(cat killer.err)"
is $status 0 'the last server ends the study' || diag "$(cat server.err)"
ok "$(cat made) processes were killed" [ "$(cat made)" -ge "$kills" ]

diag "supervisors that died at a point: $(cut -d ' ' -f 1 fail.log |
    sort | uniq -c | tr '\n' ' ')"
sql kills.db "SELECT end_class || ' ' || count(*) FROM attempts GROUP BY end_class" |
    sed 's/^/# attempts: /'
sort -n told | uniq | sed 's/.*/trial & is cancelled: stopped by the user/' >as_told
[ -s as_told ] || echo none >as_told
is "$(ledger_faults kills $((kills + 10)) | grep -vxFf as_told)" '' \
    'nothing ran twice, nothing is lost, all completed or ended as told'
is "$(sql kills.db "SELECT count(*) FROM trials WHERE state IN ('completed',
    'cancelled')")" $((kills + 10)) 'all trials are there'
sql kills.db 'SELECT uuid FROM t_attempt' | sort >recorded.uuids
is "$(awk '$1 == "begin" { print $3 }' ledger | sort | comm -23 - recorded.uuids)" '' \
    'each attempt that began is in the database'
sql kills.db "SELECT uuid FROM t_attempt JOIN attempts USING (trial, attempt)
    WHERE attempts.end_class = 'ok'" | sort >succeeded
is "$(awk '$1 == "end" { print $3 }' ledger | sort | comm -13 - succeeded)" '' \
    'each that has succeeded there came to its end'
is "$(sql kills.db 'SELECT count(*) FROM metrics GROUP BY trial, attempt, step
    HAVING count(*) > 1')" '' 'no report is there twice'
warm_attempts() {
	awk 'NR == FNR { cold[$1]; next } $1 == "begin" && !($6 in cold)' \
	    ledger.imports ledger | wc -l
}
ok 'some started warm' [ "$(warm_attempts)" -gt 0 ]
diag "$(warm_attempts) of $(grep -c ^begin ledger) started warm"
ok 'no job is left' retry no_job_left
left() {
	! grep -qaF "LEDGER=$dir/" /proc/[0-9]*/environ 2>/dev/null
}
ok 'and no process' retry left

done_testing
