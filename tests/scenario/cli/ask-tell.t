#!/bin/sh
# ask, tell and judge: a program that runs its trials itself.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

need sqlite3

looks=
study() { # name trials [sed-expression …]
	study_name=$1
	study_trials=$2
	shift 2
	sed "$@" >"$study_name.json" <<END
{ "study": "$study_name",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": {
    "x": { "type": "float", "min": 0, "max": 1 },
    "n": { "type": "int", "min": 1, "max": 8 },
    "opt": { "type": "choice", "values": ["a", "it's b", true] } },
  "strategy": { "name": "tpe", "seed": 3, "n_startup_trials": 4 },
  "stopping": { "rule": "median", "min_trials": 3, "warmup_steps": 2$looks },
  "trial": { "command": ["true"], "max_steps": 10, "retries": 0 },
  "backend": { "name": "pretend", "seconds_per_step": 0.001 },
  "limits": { "trials": $study_trials, "parallel": 1 } }
END
}
none=s/nothing/nothing/

# What a server makes of a study, somebody else makes of it, too: the same
# points, stops and results.  What a trial reports after it was told to stop is
# told, too; one that had all its steps by then is complete.
slow=s/0.001/0.02/
looks=', "second_look": 0' # the server sees checkpoints
study theirs 14 -e $slow
"$HPOTUNE" start -q theirs.json
study ours 14 -e $slow
while asked=$("$HPOTUNE" ask ours.json 2>>err); do
	eval "$asked"
	printf '%s %s %s %s\n' "$trial" "$x" "$n" "$opt" >>asked
	sql theirs.db "SELECT step, printf('%!.17g', value) FROM curves WHERE trial = $trial" |
	    tr '|' ' ' >curve
	end=--done
	while read -r at loss; do
		step=$at
		case $("$HPOTUNE" tell ours.json "$trial" step="$step" \
		    loss="$loss") in
		keep*) ;;
		stop*) end=--stopped ;;
		*) echo "$trial" >>unclear ;;
		esac
	done <curve
	test "$step" -lt 10 || end=--done
	"$HPOTUNE" tell ours.json "$trial" $end >>ends
done
is "$(cat err)" 'hpotune: limits.trials is reached: there are 14 trials' \
    'a search by a shell loop ends with the limit'
looks=
same='SELECT trial, state, objective, step, reports, params FROM trials'
is "$(sql ours.db "$same")" "$(sql theirs.db "$same")" \
    'it has the points and results of a server'
stops='SELECT trial, step, rule, value, threshold, pool, verdict, why FROM stops'
is "$(sql ours.db "$stops")" "$(sql theirs.db "$stops")" 'and its judgements'
ok 'some were stopped' test "$(sql ours.db 'SELECT stopped FROM study')" -gt 0
is "$(cat asked)" "$(sql ours.db "SELECT trial, x, n, iif(opt = 1, 'true', opt)
    FROM results" | tr '|' ' ')" 'eval of what ask prints gives the setting'
is "$(sort -u ends | sed 's/stopped: .*/stopped/' | sort -u | tr '\n' ' ')" \
    'completed stopped ' 'tell --done and --stopped print the end'
ok 'each answer was keep or stop' test ! -e unclear
is "$(sql ours.db 'SELECT DISTINCT backend, state, end_class, attempt, log
    FROM attempts ORDER BY end_class')" 'ask|ended|ok|1|
ask|ended|stopped|1|' 'their attempts are of the backend ask'
is "$(sql ours.db 'SELECT state FROM study')" interrupted 'no server ran them'
"$HPOTUNE" start -q ours.json
is "$? $(sql ours.db 'SELECT state FROM study')" \
    '0 finished' 'and a new server has nothing to do'

# An empty file where the database will be is no study on a shared file system:
# others may read what ask makes of it.
study empty 3 -e $none
: >empty.db
"$HPOTUNE" ask empty.json >/dev/null
is "$(sql empty.db 'SELECT network_fs FROM t_study; PRAGMA journal_mode')" \
    '0
wal' 'ask creates a study in an empty file'

# The loops of the manual.
mkdir loops bin
cd loops
ln -s "$HPOTUNE" ../bin/hpotune
PATH=$dir/bin:$PATH
loop() { # name: as it stands in hpotune(1)
	sed -n "/^\.\\\\\" loop: $1/,/^\.Ed/p" "$TOP_SRCDIR/man/hpotune.1" |
	    sed '/^\./d; s/\\e/\\/g'
}
printf '#!/bin/sh\necho "$1 $2" | awk "{ print \$1 + 1 / \$2 }"\n' >evaluate
chmod +x evaluate
study study 8 -e '/"n": {/d; /"opt": {/d; s/"max": 1 },/"max": 1 } },/'
loop shell >loop.sh
loop awk >loop.awk
ok 'the loop of the manual' quietly sh loop.sh
is "$(cat err) $(sql study.db "SELECT count(*), max(step) FROM trials
    WHERE state IN ('completed', 'stopped')")" \
    'hpotune: limits.trials is reached: there are 8 trials 8|5' \
    'the loop in awk has searched'
sed -i 's/"trials": 8/"trials": 20/' study.json
ok 'the loop in awk' quietly awk -f loop.awk
is "$(sql study.db "SELECT count(*) FROM trials
    WHERE state = 'completed' AND step = 1")" 12 'continues with it'
cd ..

# The forms of the answer, in a folder with one study.
mkdir alone
cd alone
study forms 100 -e 's/"median"/"threshold", "upper": 5/; s/, "min_trials": 3.*}/}/'
out=$("$HPOTUNE" ask forms.json)
like "$out" '^trial=1$' 'ask: the number first'
like "$out" '^opt=(a|true|'"'it'"'\\'"''s b')$" 'quoted for a shell'
like "$("$HPOTUNE" ask --json)" \
    '^\{"trial":2,"params":\{"x":0\.[0-9]+,"n":[1-8],"opt":("a"|"it'"'"'s b"|true)\}\}$' \
    'ask --json'
is "$("$HPOTUNE" ask --count 3 | grep -c '^trial=[345]$')" 3 'three at once'
is "$("$HPOTUNE" ask --count 2 --json | grep -Ec '^\[?\{"trial":[67],.*\}[],]$')" 2 \
    'a list of two as JSON'
is "$("$HPOTUNE" tell 1 loss=0.5)" keep 'tell: keep'
"$HPOTUNE" tell forms.json 1 loss=0.25 other=7 >out
is "$(sql forms.db 'SELECT step, name, value FROM metrics
    ORDER BY name, step')" '1|loss|0.5
2|loss|0.25
1|other|7.0' 'without a step reports are counted'
is "$("$HPOTUNE" tell --json 1 step=7 loss=1)" \
    '{"trial":1,"state":"running","step":7,"objective":0.25,"verdict":"keep","rule":"threshold","value":1,"threshold":null,"pool":0,"why":""}' \
    'tell --json'
is "$("$HPOTUNE" tell 1 step=8 loss=6)" \
    "stop: threshold: $(sql forms.db 'SELECT why FROM stops')" \
    'tell: stop, with the reason'
is $? 0 'with exit status 0'
like "$("$HPOTUNE" tell 1 loss=0.1)" '^stop: threshold: ' 'the verdict stays'
is "$(sql forms.db 'SELECT count(*) FROM stops')" 1 'and is recorded once'
is "$(sql forms.db 'SELECT count(*) FROM curves')" 5 \
    'a report after it is kept'
like "$("$HPOTUNE" tell 1 --done)" '^stopped: ' 'it is stopped, however it ends'
is "$("$HPOTUNE" tell 2 loss=3 --done --json)" \
    '{"trial":2,"state":"completed","step":1,"objective":3,"verdict":null,"why":""}' \
    'a report and the end at once'
is "$("$HPOTUNE" tell 3 --failed --why 'no milk')" 'failed: no milk' \
    'tell --failed'
is "$("$HPOTUNE" tell 4 --failed)" 'failed: reported as failed' \
    'without a reason'
is "$(sql forms.db 'SELECT end_class FROM attempts WHERE trial = 3')" error \
    'its end class is error'
"$HPOTUNE" tell 5 loss=2 >out
is "$("$HPOTUNE" tell 5 --stopped --why 'it is enough')" \
    'stopped: it is enough' 'tell --stopped'
is "$("$HPOTUNE" tell 6 loss=nan loss=1 2>&1)" \
    'hpotune: loss=nan loss=1: a metric is given twice' 'a metric twice'
is "$("$HPOTUNE" tell 6 loss=nan)" \
    'stop: threshold: the value is not a number at step 1' 'not a number'

# What the rules say now.
"$HPOTUNE" ask >out
is "$("$HPOTUNE" judge 8)" keep 'judge: no verdict yet'
"$HPOTUNE" tell 8 step=1 loss=4 >out
before=$(sql forms.db 'SELECT count(*) FROM stops')
sed -i 's/"upper": 5/"upper": 3/' forms.json
is "$("$HPOTUNE" judge --json forms.json 8 | sed 's/"why":".*/…/')" \
    '{"trial":8,"state":"running","step":1,"objective":4,"verdict":"stop","rule":"threshold","value":4,"threshold":3,"pool":0,…' \
    'judge: by the present rules'
is "$(sql forms.db 'SELECT count(*) FROM stops')" "$before" \
    'it records nothing'
is "$("$HPOTUNE" tell 8 step=1 loss=4)" keep \
    'a step that was judged is not judged again'
like "$(sql forms.db 'SELECT text FROM events')" 'changed in stopping' \
    'a change of study.json is recorded'

# From standard input, as a trial prints it.
"$HPOTUNE" ask >out
printf '%s\n' 'epoch 1' 'hpotune: step=1 loss=2.5' '{"step": 2, "loss": 2.25, "a b": 7}' \
    '{"not": "a number", "a b": 7}' 'as in hpotune: step=9 loss=0' >lines
printf 'hpotune: step=3 loss=2' >>lines
is "$("$HPOTUNE" tell 9 - <lines)" keep 'tell - reads lines'
is "$(sql forms.db 'SELECT step, value FROM curves WHERE trial = 9')" '1|2.5
2|2.25
3|2.0' 'the reports among them'
is "$(seq 4 3000 | sed 's/.*/hpotune: step=& loss=1/' |
    "$HPOTUNE" tell 9 - --done)" completed 'many lines, and the end'
is "$(sql forms.db 'SELECT count(*) FROM curves WHERE trial = 9')" 3000 \
    'all are there'
is "$(echo hello | "$HPOTUNE" tell 8 - 2>&1)" \
    'hpotune: standard input: no line of it is a report' 'none among them'
mkfifo pipe
"$HPOTUNE" ask >out
background stream sh -c '"$HPOTUNE" tell 10 - <pipe'
exec 3>pipe
echo 'hpotune: step=1 loss=1' >&3
ok 'lines are recorded as they come' retry sql_is forms.db \
    'SELECT count(*) FROM curves WHERE trial = 10' 1
echo 'hpotune: step=2 loss=9' >&3
reap $child
like "$? $(cat "$dir/stream.out")" '^0 stop: threshold: ' \
    'lines are read until a stop'
exec 3>&-

# Wrong use: one clause, and nothing happens.
no() { # status error command …
	no_want=$1
	no_text=$2
	shift 2
	no_said=$("$HPOTUNE" "$@" 2>&1)
	is "$?:$no_said" "$no_want:hpotune: $no_text" "$*"
}
rows=$(sql forms.db 'SELECT count(*) FROM metrics')
no 1 'there is no trial 99' tell forms.json 99 loss=1
no 1 'there is no trial 99' judge forms.json 99
no 1 'trial 9 has ended already: completed' tell 9 loss=1
no 1 'trial 9 has ended already: completed' tell 9 --done
no 2 'tell: trial: x: expected a whole number from 1' tell x loss=1
no 2 'tell: trial: 0: expected a whole number from 1' tell 0 loss=1
no 2 'tell: loss: expected NAME=VALUE' tell 8 loss 1
no 1 'step=1 loss=: a value is not a number' tell 8 step=1 loss=
no 1 'potent=abc: a value is not a number' tell 8 potent=abc
no 1 'hpotune:=abc: a value is not a number' tell 8 hpotune:=abc
no 2 'tell: nothing to report: expected NAME=VALUE, -, --done, --stopped or --failed' \
    tell 8
no 2 'tell: --done and --failed exclude each other' tell 8 --done --failed
no 2 'tell: --why requires --stopped, --failed or --crashed' tell 8 --done --why x
no 2 'ask: --count: 0: expected a whole number from 1 to 1000000' ask --count 0
"$HPOTUNE" ask >out
no 1 'trial 11 has no report of loss: report one, or use --failed' tell 11 --done
is "$(sql forms.db 'SELECT count(*) FROM metrics')" "$rows" 'nothing was recorded'
study nowhere 3 -e $none
no 2 "$dir/alone/nowhere.db: does not exist yet: hpotune start creates it; for a study started with --state DIR, give DIR/nowhere.db" \
    tell nowhere.json 1 loss=1
ok 'and nothing made' test ! -e nowhere.db
sed -i 's/"minimize"/"maximize"/' forms.json
like "$("$HPOTUNE" ask forms.json 2>&1)" '^hpotune: .*/forms.json: objective\.goal: "minimize" in the study.s database, "maximize" in study.json: ' \
    'a changed goal is refused'

# Other words for the other commands.
is "$("$HPOTUNE" stop forms.db 8)" \
    'the answer to the next report of trial 8 will be: stop' 'stop'
is "$("$HPOTUNE" tell forms.db 8 loss=1)" 'stop: stopped by the user' \
    'the trial is stopped'
is "$("$HPOTUNE" tell forms.db 8 --done)" 'cancelled: stopped by the user' \
    'and the trial is cancelled'
is "$("$HPOTUNE" stop --now forms.db 11)" 'trial 11 is cancelled' 'stop --now'
ok 'show works' quietly "$HPOTUNE" show forms.db 9
fails 'logs says that there is none' 1 "$HPOTUNE" logs forms.db 9 2>err
"$HPOTUNE" pause forms.db >out
is "$("$HPOTUNE" ask forms.db 2>&1)" \
    'hpotune: the study is paused: hpotune resume continues it' 'pause'
"$HPOTUNE" resume forms.db >out
"$HPOTUNE" enqueue forms.db x=0.125 >out
like "$("$HPOTUNE" ask forms.db)" '^x=0.125$' 'enqueued settings come first'

cd ..
# A grid that is done, and the end of a target.
study grid 100 -e 's/"tpe"/"grid"/; s/, "n_startup_trials": 4//' \
    -e '/"x": {/d; s/"max": 8 }/"max": 2 }/'
is "$("$HPOTUNE" ask --count 50 grid.json | grep -c ^trial=)" 6 \
    'at most as many as may begin'
no 1 'all 6 settings of the space were tried' ask grid.json
study target 100 -e 's/"minimize"/"minimize", "target": 1/'
"$HPOTUNE" ask --count 2 target.json >out
"$HPOTUNE" tell target.json 1 loss=0.5 --done >out
no 1 'the target 1 was reached by trial 1' ask target.json
is "$("$HPOTUNE" tell target.json 2 loss=0.75 --done)" completed \
    'a trial asked for before is told of afterwards'

# Without a command nobody else can run it.
cat >bare.json <<'END'
{ "study": "bare", "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "limits": { "trials": 2 } }
END
like "$("$HPOTUNE" check bare.json)" '^command    none: for hpotune ask and tell$' \
    'a study without a command'
like "$("$HPOTUNE" check --json bare.json)" '"command":\[\]' 'as JSON'
no 2 "$dir/bare.json: trial.command is missing: hpotune start requires it, hpotune ask and tell do not" \
    start bare.json
ok 'nothing was made' test ! -e bare.db -a ! -e bare.d
like "$("$HPOTUNE" ask bare.json)" '^trial=1$' 'ask needs no command'
"$HPOTUNE" tell bare.json 1 loss=0.5 --done >out
ok 'best, too' quietly "$HPOTUNE" best bare.json
unlike "$(cat out)" again 'and check names none'
ok 'best --json' quietly "$HPOTUNE" best --json bare.json

# A strategy that thinks in a process of its own.
cat >sampler.sh <<'END'
while read -r line; do
	case $line in
	*'"type":"ask"'*)
		n=${line#*\"trial\":}
		echo "{\"params\":{\"x\":0.0${n%%,*}}}"
		;;
	esac
done
END
sed 's/"bare"/"thinks"/; s/"trials": 2/"trials": 9/
    s/"limits"/"strategy": { "name": "external", "command": ["sh", "sampler.sh"] }, &/' \
    bare.json >thinks.json
is "$("$HPOTUNE" ask --count 2 thinks.json | grep ^x= | tr '\n' ' ')" \
    'x=0.01 x=0.02 ' 'ask waits for a slow strategy'
is "$("$HPOTUNE" tell thinks.json 1 loss=1 --done)" completed \
    'tell does not wait'
sed -i 's/"limits"/"trial": { "command": ["sh", "-c", "echo hpotune: loss=1; exec sleep 100"] }, &/
    s/"trials": 9/&, "parallel": 1/' thinks.json
server thinks.json
retry sql_is thinks.db "SELECT state FROM trials WHERE trial = 3" running
is "$("$HPOTUNE" ask --count 2 thinks.json | grep ^x= | tr '\n' ' ')" \
    'x=0.04 x=0.05 ' 'ask waits over the socket, too'
"$HPOTUNE" stop --now thinks.json >out
reap $server
sed -i 's/sampler.sh/nothing.sh/' thinks.json
like "$("$HPOTUNE" ask thinks.json 2>&1)" '^hpotune: the study is over: the strategy external: ' \
    'a strategy that fails'
sed -i 's/nothing.sh/sampler.sh/' thinks.json
like "$("$HPOTUNE" ask thinks.json 2>&1)" '^x=0.06$' 'and is corrected'

# Two at once, and deaths between and within calls: no number twice, no gap.
study both 30 -e $none
asker() {
	while asked=$("$HPOTUNE" ask both.json 2>"err-$1"); do
		eval "$asked"
		"$HPOTUNE" tell both.json "$trial" loss="$x" --done >/dev/null ||
		    echo "$trial" >>lost
	done
}
asker 1 &
one=$!
asker 2 &
children="$children $one $!"
wait $one $!
is "$(cat err-1 err-2 | sort -u)" \
    'hpotune: limits.trials is reached: there are 30 trials' \
    'two processes ask at once'
is "$(sql both.db "SELECT count(*), max(trial), count(DISTINCT params),
    sum(state = 'completed') FROM trials")" '30|30|30|30' \
    'no setting is used twice'
ok 'none was lost' test ! -e lost

study killed 400 -e 's/"tpe"/"random"/; s/, "n_startup_trials": 4//'
"$HPOTUNE" ask killed.json >out
i=0
while [ $i -lt 18 ]; do
	i=$((i + 1))
	background victim "$HPOTUNE" ask --count 5 killed.json
	until [ -s victim.out ] || ! kill -0 $child 2>/dev/null; do
		[ $((i % 3)) -ne 0 ] || break
	done
	kill -9 $child 2>/dev/null
	reap $child 2>/dev/null
done
is "$("$HPOTUNE" tell killed.json 1 loss=1 --done)" completed \
    'kill -9 of ask: the study continues'
is "$(sql killed.db 'SELECT count(*) = max(trial) FROM trials')" 1 \
    'trial numbers have no gap'
is "$(sql killed.db 'PRAGMA integrity_check')" ok 'the file is intact'
is "$(sql killed.db "SELECT count(*) FROM trials
    WHERE trial > 1 AND state <> 'running'")" 0 \
    'trials that were asked for are running'

# The process that asks: one that tells too is watched, others are not.
study watched 30 -e $none -e 's/"retries": 0/"retries": 1/'
sed -i 's/"tpe"/"random"/; s/, "n_startup_trials": 4//' watched.json
watched() { # query
	sql watched.db "$1"
}
cat >loop.sh <<'END'
eval "$("$HPOTUNE" ask watched.json)"
"$HPOTUNE" tell watched.json "$trial" loss=1 --done
eval "$("$HPOTUNE" ask watched.json)"
echo "$trial"
kill -9 $$
END
sh -c '"$HPOTUNE" ask watched.json; exit' >out
sh loop.sh >out 2>err
is "$(tail -n 1 out)" 3 'a loop is killed in its second trial'
"$HPOTUNE" ask watched.json --json >out
is "$(sed 's/"params":{[^}]*}/…/' out)" '{"trial":3,…,"attempt":2}' \
    'ask gives its trial again'
is "$(watched 'SELECT trial, state FROM trials ORDER BY trial')" '1|running
2|completed
3|running' 'one that only asked may be told of by somebody else'
is "$("$HPOTUNE" tell watched.json 1 loss=2)" keep 'and is'
sleeper() { # a process that can be killed
	background sleeper sleep 1000
}
sleeper
"$HPOTUNE" ask --pid $child watched.json >out
like "$(cat out)" '^trial=4$' 'ask --pid'
is "$(watched 'SELECT asker_pid FROM attempts WHERE trial = 4')" $child 'is recorded'
kill -9 $child
reap $child 2>/dev/null
is "$("$HPOTUNE" tell watched.json 4 loss=2)" keep \
    'somebody else goes on with it before it is asked for again'
"$HPOTUNE" ask watched.json >out
like "$(cat out)" '^trial=5$' 'then it stays with them'
sleeper
"$HPOTUNE" ask --pid $child watched.json >out
"$HPOTUNE" tell watched.json 6 loss=1 >out
kill -9 $child
reap $child 2>/dev/null
"$HPOTUNE" tell watched.json 5 loss=1 >out
like "$("$HPOTUNE" tell watched.json 6 loss=1 2>&1)" \
    '^hpotune: trial 6 waits for another attempt: process [0-9]+ of ' \
    'a report of a lost one is refused'
sleeper
"$HPOTUNE" ask --pid $child watched.json >out
i=0
while [ $i -lt 10 ]; do
	i=$((i + 1))
	"$HPOTUNE" tell watched.json 6 step=$i loss=1 >out
done
kill -9 $child
reap $child 2>/dev/null
"$HPOTUNE" tell watched.json 5 loss=1 >out
is "$(watched 'SELECT state FROM trials WHERE trial = 6')" completed \
    'one that has all its steps is complete'
# The machine was restarted since; another machine is not known.
"$HPOTUNE" ask --pid $$ --count 2 watched.json >out
sqlite3 watched.db "UPDATE t_asker SET mark = 'another' || substr(mark, 8)
    WHERE trial = 7; UPDATE t_asker SET mark = 'another' || substr(mark, 8),
    host = 'elsewhere' WHERE trial = 8"
"$HPOTUNE" tell watched.json 5 loss=1 >out
is "$(watched 'SELECT trial, state FROM trials WHERE trial > 6')" '7|waiting
8|running' 'a reboot ends all processes, of this machine'
"$HPOTUNE" ask --pid 0 --count 2 watched.json >out
is "$(watched 'SELECT count(*) FROM t_asker WHERE trial = 9')" 0 \
    '--pid 0: nobody is watched'

# A server that has nothing else to run leaves none behind whose process is gone.
study left 2 -e 's/"retries": 0/"retries": 1/; s/"tpe"/"random"/' \
    -e 's/, "n_startup_trials": 4//; s/"pretend", .*0.001/"local"/' \
    -e 's|\["true"\]|["./waits"]|'
cat >waits <<END
#!/bin/sh
until [ -e '$dir/go' ]; do sleep 0.05; done
echo 'hpotune: step=1 loss=1'
END
chmod +x waits
sleeper
asker=$child
"$HPOTUNE" ask --pid $asker left.json >out
background server "$HPOTUNE" start -q left.json
server=$child
other_runs() {
	[ "$(sql left.db 'SELECT state FROM trials WHERE trial = 2')" = running ]
}
ok 'a server runs the other one' retry other_runs
kill -9 $asker
reap $asker 2>/dev/null
touch "$dir/go"
reap $server 2>/dev/null
is "$(sql left.db 'SELECT trial, state, attempts FROM trials ORDER BY trial')" \
    '1|completed|2
2|completed|1' 'and then the one whose process is gone'

# A server and somebody else in one study.
study shared 8 -e 's/"parallel": 1/"parallel": 2/; s/0.001/5/'
"$HPOTUNE" ask --count 2 shared.json >out
server shared.json
retry sql_is shared.db "SELECT count(*) FROM attempts
    WHERE backend = 'pretend' AND state = 'running'" 2
ok 'trials of others hold no slot' test $? -eq 0
like "$("$HPOTUNE" status shared.json)" '; slots: [012] of 2 busy; 2 elsewhere$' \
    'status reports it'
out=$("$HPOTUNE" ask shared.json)
like "$out" '^trial=[567]$' 'ask over the socket'
eval "$out"
is "$("$HPOTUNE" tell shared.json $trial loss=0.5)" keep 'tell over the socket'
is "$("$HPOTUNE" judge shared.json $trial)" keep 'judge over the socket'
is "$("$HPOTUNE" tell shared.json 1 loss=0.25 --done)" completed \
    'trials from before the server'
no 1 'trial 3 is run by hpotune, not by hpotune ask' tell shared.json 3 loss=1
like "$("$HPOTUNE" judge shared.json 3)" '^keep' 'judge accepts a trial of the server'
"$HPOTUNE" stop shared.json >/dev/null
reap $server
is "$(sql shared.db "SELECT group_concat(trial) FROM trials
    WHERE state = 'running'")" "2,$trial" \
    'a server that exits does not end them'
sed -i 's/"seconds_per_step": 5/"seconds_per_step": 0.001/' shared.json
"$HPOTUNE" start -q shared.json
is "$? $(sql shared.db "SELECT state, why FROM t_study")" \
    '0 finished|nothing is left to run here; 2 of 8 trials run elsewhere' \
    'and exits without waiting for them'
is "$("$HPOTUNE" tell shared.json 2 loss=0.125 --done)" completed \
    'tell works after the server has ended'
is "$(sql shared.db 'SELECT best_trial, best FROM study')" '2|0.125' \
    'and may be the best trial'

# Several objectives, and a bound.
study wide 100 -e 's/"objective": .*/"objectives": [ { "metric": "loss", "goal": "minimize" }, { "metric": "size", "goal": "minimize" } ], "constraints": [ { "metric": "ms", "max": 20 } ],/' \
    -e '/"stopping"/d'
if "$HPOTUNE" check wide.json >out 2>&1; then
	"$HPOTUNE" ask --count 3 wide.json >out
	"$HPOTUNE" tell wide.json 1 loss=1 size=5 ms=10 >out
	is "$("$HPOTUNE" tell wide.json 1 loss=2 size=4 --done)" completed \
	    'several objectives: told by name'
	"$HPOTUNE" tell wide.json 2 loss=1 size=5 ms=30 --done >out
	is "$(sql wide.db "SELECT value FROM metrics WHERE trial = 1
	    ORDER BY name, step")" '1.0
2.0
10.0
5.0
4.0' 'all reports are there'
fi

# Each ask of a slow strategy starts a worker; where none finds a GPU, that is
# no news the second time.
study slow 4 -e 's/"tpe"/"cmaes"/; s/n_startup_trials": 4/popsize": 4/'
for n in 1 2 3; do
	HPOTUNE_WORKER_CUDA=/bin/true "$HPOTUNE" ask slow.json >>out || echo $n
done
is "$(sql slow.db 'SELECT text FROM events')" \
    'cmaes: it computes on the CPU: hpotune-worker-cuda found no device' \
    'the same of a strategy is reported once'
printf 'a\0b\n{\377}\nhpotune: loss=\351\nhpotune: step=7 loss=2\0\nhpotune: step=8 loss=1' |
    "$HPOTUNE" tell slow.json 2 - >out
is "$(sql slow.db 'SELECT step, value FROM curves WHERE trial = 2')" '8|1.0' \
    'invalid bytes affect only their own lines'
is "$("$HPOTUNE" tell slow.json 1 --failed \
    --why "$(printf '\033[31mred\nline')")" \
    'failed: \x1b[31mred\x0aline' 'a reason is printed as one harmless line'

# A report of another metric is recorded; where it may be the objective by a
# mistake, this is said.
study typo 4 -e $none
"$HPOTUNE" ask typo.json >out
quietly "$HPOTUNE" tell typo.json 1 step=1 los=0.5 val=3
is "$?:$(cat out err)" '0:keep
hpotune: warning: los is recorded, but the objective is loss: did you mean it?' \
    'a misspelt objective is named'
like "$("$HPOTUNE" tell --json typo.json 1 step=2 los=0.5)" '"warning": ?"los is recorded' \
    'also for programs'
quietly "$HPOTUNE" tell typo.json 1 --done
is "$?:$(cat err)" '1:hpotune: trial 1 has no report of loss: report one, or use --failed; it has one of los: did you mean it?' \
    'an end without it is refused'
quietly "$HPOTUNE" tell typo.json 1 step=3 loss=0.5 los=1
is "$?:$(cat err)" '0:' 'with it there is no warning'
quietly "$HPOTUNE" tell typo.json 1 --done
is "$?" 0 'and it ends'

# A program that has crashed, and one that is interrupted.
study ends 4 -e $none -e 's/"retries": 0/"retries": 1/'
for end in 'crashed --why "too hot"' crashed interrupted interrupted done; do
	"$HPOTUNE" ask ends.json --json >>ends.asked
	quietly "$HPOTUNE" tell ends.json 1 step=1 loss=1
	eval "quietly $HPOTUNE tell ends.json 1 --$end"
	cat out err
done >ends.told
is "$(cat ends.told)" 'waiting: too hot; attempt 2 follows
failed: reported as crashed
hpotune: trial 1 has ended already: failed
hpotune: trial 1 has ended already: failed
hpotune: trial 1 has ended already: failed' 'a trial that crashes is tried again'
for end in interrupted interrupted interrupted done; do
	"$HPOTUNE" ask ends.json --json >>ends.asked
	"$HPOTUNE" tell ends.json 2 step=1 loss=1 --$end
done >ends.told
is "$(cat ends.told)" 'waiting: interrupted; the next start resumes it
waiting: interrupted; the next start resumes it
waiting: interrupted; the next start resumes it
completed' 'one that is interrupted without an end'

# The lock file names its last holder, whatever it had before.
printf 'pid 12345678901 on a host with a longer name than this one has, %s\n%s\n' \
    "$(hostname)" 'and a line' >slow.d/lock
"$HPOTUNE" ask slow.json >/dev/null
is "$(sed 's/^pid [0-9]* on [^ ]*, for one command$/holder/' slow.d/lock)" holder \
    'of a longer text in the lock file nothing is left'

done_testing
