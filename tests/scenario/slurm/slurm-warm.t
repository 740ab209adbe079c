#!/bin/sh
# Warm starts in jobs of several trials: Python imports once in a job, and each
# trial after its first ones is a fork of that, with all that a cold one has.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm.sh"
need sqlite3 python3
cluster_up

# What a library is to trials: each import of it is a line.
mkdir lib
cat >lib/slow.py <<'PY'
import os
with open(os.environ["LEDGER"] + ".imports", "a") as f:
    f.write("%d\n" % os.getpid())
import decimal, logging, threading  # noqa
PY
cat >train.py <<'PY'
import os, signal, sys, time
import slow
env = os.environ
base, trial = env["LEDGER"], env["HPOTUNE_TRIAL"]
def note(what):
    fd = os.open(base, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(fd, ("%s %s %s %d\n" % (what, trial, env["HPOTUNE_ATTEMPT_UUID"],
             os.getpid())).encode())
    os.close(fd)
note("begin")
told = []
signal.signal(signal.SIGTERM, lambda *_: told.append(1))
with open(env["HPOTUNE_OUTPUT_DIR"] + "/facts", "w") as f:
    for n in sorted(n for n in env if n not in ("PWD", "OLDPWD")):
        print(n, env[n], sep="=", file=f)
    print("cores", len(os.sched_getaffinity(0)), sys.argv, os.getcwd(),
          os.getpgrp() == os.getpid(), file=f)
with open("/proc/%d/status" % os.getppid()) as f:
    cores = [l for l in f if l.startswith("Cpus_allowed_list")][0]
with open("/proc/self/status") as f:
    print("as its supervisor", cores in f.readlines())
print("hpotune: step=1 loss=%s" % sys.argv[1], flush=True)
while os.path.exists(base + ".hold." + trial) and not told:
    time.sleep(0.02)
if told:
    print("hpotune: step=2 loss=-7")
if "MODE" in env and trial == "4":
    sys.exit(3)
if "MODE" in env and trial == "5":
    os.kill(os.getpid(), signal.SIGUSR2)
note("end")
PY
warm_study() { # name trials keys-of-trial keys-of-backend
	slurm_study "$1" "\"trials\": $2, \"parallel\": 2, \"failed_trials\": 100" \
	    "\"cpus\": 1, \"env\": { \"PYTHONPATH\": \"$dir/lib\",
	    \"LEDGER\": \"$dir/$1\" } $3" ", \"trials_per_job\": 2 $4"
	sed -i 's|"\./trial", "{x}"|"python3", "train.py", "{x}"|' "$1.json"
}
notes() { # study
	sql "$1.db" 'SELECT text FROM events'
}
hold() { # study trial …
	hold_study=$1
	shift
	for hold_n; do
		: >"$hold_study.hold.$hold_n"
	done
}
begun() { # study trial …: each has begun, and is not at its end
	begun_study=$1
	shift
	for begun_n; do
		grep -q "^begin $begun_n " "$begun_study" 2>/dev/null || return 1
	done
}
pid_of() { # study trial
	sed -n "s/^begin $2 .* //p" "$1" | tail -n 1
}
warm() { # study trial …: none of these has imported
	warm_of=$1
	shift
	for warm_n; do
		! grep -qx "$(pid_of "$warm_of" "$warm_n")" "$warm_of.imports" || return 1
	done
}

# ---- what check says ---------------------------------------------------------------

warm_study one 1 ', "warm": true' ''
like "$("$HPOTUNE" check one.json)" '^starts     warm: the trials of a job after' \
    'check says that jobs of several trials start them warm'
warm_study two 1 '' ''
like "$("$HPOTUNE" check two.json)" '^starts     cold; hpotune try measures what imports cost' \
    'and how to measure what warm starts would save'
sed -i 's/, "trials_per_job": 2//' one.json
like "$("$HPOTUNE" check one.json)" '^starts     cold with the backend slurm: each trial is a job' \
    'and that a job of one does not'
sed -i 's/"cpus": 1/"launcher": "ranks", "processes": 2/' one.json
like "$("$HPOTUNE" check one.json)" \
    '^starts     cold with the backend slurm: trial.launcher starts' 'nor do ranks'

# ---- the same as cold ones, one after the other and side by side -------------------

for way in asis once; do
	more=
	[ $way = asis ] || more=', "warm": true'
	warm_study $way 8 ", \"gpus\": 1, \"retries\": 0 $more" \
	    ', "setup": "SET=up; export SET"'
	sed -i 's/"LEDGER"/"MODE": "ends", &/' $way.json
	ok "a study $way" quietly "$HPOTUNE" start -q $way.json ||
	    diag "$(cat err)"
done
ends() { # study
	sql "$1.db" 'SELECT trial, attempt, state, exit_code, signal, end_class,
	    reports, gpus, cpus FROM attempts ORDER BY 1, 2'
}
is "$(ends once)" "$(ends asis)" 'the same ends'
like "$(ends once)" '^5\|1\|ended\|\|12\|error' 'with the signal of one'
facts() { # study: but for what its job is, and the place
	cat "$1".d/trials/[1-8]/output/facts | sed "s/[0-9a-f]\{8\}-[0-9a-f-]*/UUID/g
	    s/$1/STUDY/g; /^SLURM/d; /^HOSTNAME=/d; /^TMPDIR=/d; /^GPU_DEVICE/d
	    /^HPOTUNE_PLACE=/d; /^HPOTUNE_DEADLINE=/d; /^CUDA_VISIBLE_DEVICES=/d"
}
facts asis >cold.facts
facts once >warm.facts
ok 'the same variables, arguments, folder, group and number of cores' \
    diff cold.facts warm.facts
like "$(cat warm.facts)" '^SET=up$' 'with what setup exports'
is "$(cat once.d/trials/[1-8]/attempt-1/log | grep -c 'as its supervisor True')" 8 \
    'on the cores of its supervisor'
is "$(cat once.d/trials/[1-8]/output/facts | grep -c '^CUDA_VISIBLE_DEVICES=[01]$')" 8 \
    'with the GPU of its place'
like "$("$HPOTUNE" status asis.db | tr -d '\n')" \
    'cold starts: not measured on Slurm, .*hpotune try measures' \
    'status says why it has no figure of cold ones'
like "$("$HPOTUNE" status once.db | tr -d '\n')" 'warm starts: [0-9]+ modules' \
    'and has that of warm ones'
like "$(notes once)" '^warm starts: [0-9]+ modules are imported once' \
    'what it saves is noted'
unlike "$(notes once)" cold 'nothing was in the way'
is "$(wc -l <asis.imports)" 8 'cold ones import each'
diag "$(wc -l <once.imports) imports"
ok 'warm ones do not' [ "$(wc -l <once.imports)" -lt 8 ]
ok 'no job is left' retry no_job_left

# ---- stops, and the end of the job -------------------------------------------------

warm_study stops 5 ', "retries": 0, "grace": 60, "warm": ["slow"]' ''
hold stops 1 2 3 4 5
server stops.json
ok 'the first two run' retry begun stops 1 2
ready() { # study
	notes "$1" | grep -q '^warm starts: 1 '
}
ok 'while the list is imported' retry ready stops
rm stops.hold.1 stops.hold.2
ok 'the next two run' retry begun stops 3 4
ok 'and have not imported' warm stops 3 4
ok 'one is stopped' quietly "$HPOTUNE" stop stops.db 3
ok 'another one begins in its place' retry begun stops 5
is "$(sql stops.db 'SELECT state, objective FROM trials WHERE trial = 3')" \
    'cancelled|-7.0' 'it has heard the stop, and reported'
scancel "$(sql stops.db 'SELECT substr(place, 8) FROM attempts WHERE trial = 4')"
reap "$server"
is "$(sql stops.db 'SELECT objective FROM trials WHERE trial > 3')" '-7.0
-7.0' 'those of a job that is cancelled, too'
ok 'the job is gone' retry no_job_left
left() {
	! grep -qaF "LEDGER=$dir/" /proc/[0-9]*/environ 2>/dev/null
}
ok 'and its warm process' retry left

done_testing
