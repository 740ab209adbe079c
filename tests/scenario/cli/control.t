#!/bin/sh
# The control socket used by hand: slow, silent, invalid and disconnected
# clients; and the commands that use it.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

need sqlite3 perl

cat >study.json <<'END'
{ "study": "s",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "trial": { "command": ["sh", "trial.sh"], "grace": "100s" },
  "limits": { "trials": 50, "parallel": 4 } }
END
# It can only be killed, or told to end by a file of its number.
cat >trial.sh <<'END'
trap '' TERM
echo hpotune: step=0 loss=1
while ! test -e end$HPOTUNE_TRIAL; do sleep 0.1; done
END

cat >say.pl <<'END'
use IO::Socket::UNIX;
$SIG{ALRM} = sub { print "silence\n"; exit };
$SIG{PIPE} = 'IGNORE';
alarm 300;
sub dial { IO::Socket::UNIX->new(Peer => "s.d/control") or die "$!" }
my ($how, $what) = @ARGV;
if ($how eq "ask") {
	my $s = dial();
	$s->send("$what\n");
	print <$s>;
} elsif ($how eq "leave") {	# without having heard the answer
	dial()->send("$what\n") for 1 .. 50;
} elsif ($how eq "crowd") {	# others who say nothing, then one who does
	my @silent = map { dial() } 1 .. 100;
	$_->send('{"command": "res') for @silent[0 .. 49];
	my $s = dial();
	$s->send("$what\n");
	print <$s>;
} elsif ($how eq "long") {
	my $s = dial();
	print $s "x" x 1000000, "\n";
	print "closed\n" unless defined <$s>;
}
END

says() { # request answer what
	is "$(perl say.pl ask "$1")" "$2" "$3"
}
no() {
	printf '{"ok": false, "text": "%s"}' "$1"
}

server study.json
retry sql_is s.db 'SELECT count(*) FROM curves' 4

says 'garbage' "$(no '1:1: expected a value, not garbage')" 'garbage'
says '' "$(no '1:1: there is nothing in it')" 'an empty line'
says '{"command": "ask", "params": {"count": 0}}' "$(no 'no trial can start now')" \
    'no trial is asked for'
says '{}' "$(no 'no such command')" 'no command'
says '{"command": "stop", "trial": "3"}' \
    "$(no '1:30: trial: expected a whole number, not a string')" \
    'a trial that cannot be read does not stop the server'
says '{"command": "stop", "trial": 0}' \
    "$(no '1:30: trial: expected a whole number from 1 to 9223372036854775807')" \
    'nor does trial 0'
says '{"command": "stop", "now": 1}' \
    "$(no '1:28: now: expected true or false, not a number')" \
    'nor what cannot be understood'
says '{"command": "stop", "trial": 99}' "$(no 'there is no trial 99')" \
    'a trial that is not there'
says '{"command": "enqueue", "params": {"y": 1}}' \
    "$(no '1:2: y: no such parameter; known: x')" 'a parameter that is not there'
is "$(perl say.pl long)" closed 'a line of a megabyte: hung up'
perl say.pl leave '{"command": "resume"}'
is "$(perl say.pl crowd '{"command": "resume"}')" \
    '{"ok": true, "text": "trials are started again"}' \
    'a hundred silent clients block no other client'

if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$dir"
	chmod 711 s.d
	chmod 666 s.d/control
	is "$(setpriv --reuid 65534 --clear-groups \
	    perl say.pl ask '{"command": "stop"}')" '' \
	    'another user is rejected'
	chmod 700 s.d
else
	skip 'another user is not heard' 'needs root and setpriv'
fi

is "$("$HPOTUNE" stop study.json 1 x 2>&1)" \
    'hpotune: trial: x: expected a whole number from 1' \
    'a number that is none'
is "$(sql s.db 'SELECT state FROM trials WHERE trial = 1')" running \
    'nothing was stopped'
is "$("$HPOTUNE" stop study.json 1)" 'trial 1 is being stopped' 'stop'
is "$("$HPOTUNE" stop --json --now study.json 1 99 2 2>err)" \
    '[{"ok": true, "text": "trial 1 is being stopped"},
{"ok": true, "text": "trial 2 is being stopped"}]' \
    'stop --json of several trials: one document'
is "$(cat err)" 'hpotune: there is no trial 99' 'and the error beside it'
ok 'stop --now does not wait for the grace' retry sql_is s.db \
    "SELECT count(*) FROM trials WHERE state = 'cancelled'" 2
is "$(sql s.db "SELECT group_concat(signal || end_class) FROM attempts
    WHERE trial < 3")" '9user,9user' 'it kills'

is "$("$HPOTUNE" enqueue x=0.1 x=0.2 2>&1)" \
    'hpotune: x: is given twice' 'a parameter twice'
is "$("$HPOTUNE" pause --json)" \
    '{"ok": true, "text": "no further trial is started until hpotune resume"}' pause
is "$("$HPOTUNE" enqueue --json x=0.125)" \
    '{"ok": true, "text": "the setting will be tried next"}' enqueue
touch end3 end4
ok 'what runs goes on' retry sql_is s.db \
    "SELECT count(*) FROM trials WHERE state = 'completed'" 2
"$HPOTUNE" resume >/dev/null
ok 'the setting is tried' retry sql_is s.db \
    "SELECT state FROM results WHERE x = 0.125" running

# A pause survives its server, and can be given and taken without one.
"$HPOTUNE" pause >/dev/null
kill -9 $server
reap $server 2>/dev/null
server study.json
retry grep -q 'it is paused: hpotune resume starts trials again' "$dir/server.err"
is "$(sql s.db 'SELECT state FROM study')" paused 'a pause survives its server'
retry perl say.pl ask '{}' >/dev/null
"$HPOTUNE" stop --now >/dev/null
reap $server
is "$? $(sql s.db 'SELECT state FROM study')" '3 paused' 'one that leaves, too'
is "$("$HPOTUNE" resume)" 'the next start resumes the study' \
    'resume without a server'
is "$(sql s.db 'SELECT state FROM study')" interrupted 'is recorded'
is "$("$HPOTUNE" pause 2>&1)" 'no further trial is started until hpotune resume' \
    'pause without a server'
is "$(sql s.db 'SELECT state FROM study')" paused 'is recorded, too'
server study.json
retry perl say.pl ask '{}' >/dev/null
is "$("$HPOTUNE" resume)" 'trials are started again' \
    'and lasts until a server has it'
ok 'which then goes on' retry sql_is s.db \
    "SELECT count(*) >= 4 FROM trials WHERE state = 'running'" 1

# Killed without a server, too.
kill -9 $server
reap $server 2>/dev/null
is "$("$HPOTUNE" stop --now study.json 2>err)" \
    'no server runs: trials still running were asked to stop' \
    'stop --now without a server' || diag "$(cat err)"
server study.json
ok 'they were killed' retry sql_is s.db \
    "SELECT count(*) > 0 FROM attempts WHERE signal = 9 AND attempt > 1" 1
"$HPOTUNE" stop --now >/dev/null
reap $server
is $? 3 'stop ends the server as an interrupt does'

# The socket of a server that was killed is held by its child for a moment: what may
# be done twice is sent again.
cat >dies.pl <<'END'
use IO::Socket::UNIX;
chdir 's.d' or die;
unlink 'control';
my $s = IO::Socket::UNIX->new(Local => 'control', Listen => 1) or die;
open my $ready, '>', '../listens' or die;
my $c = $s->accept;
<$c>;
unlink 'control';
END
background dies perl dies.pl
dies=$child
retry test -e listens
is "$("$HPOTUNE" stop study.json 2>&1)" \
    'no server runs: trials still running were asked to stop' \
    'stop while a child of a dead server has its socket'
reap $dies

sed -i 's/"trials": 50/"trials": 1/' study.json
touch $(seq -f end%.0f 60)
"$HPOTUNE" start --quiet study.json
is "$("$HPOTUNE" pause 2>&1)" 'hpotune: the study has ended' \
    'a study that has ended is not paused'

# A setting that nothing will try is kept, and that is said.
n=$(sql s.db 'SELECT count(*) FROM trials')
is "$("$HPOTUNE" enqueue x=0.25)" "the setting is kept, but limits.trials is \
reached: it is tried when more than $n may run" 'enqueue behind the last trial'
sed -i "s/\"trials\": 1/\"trials\": $((n + 1))/" study.json
is "$("$HPOTUNE" enqueue x=0.75)" \
    'the setting is kept, but 2 wait and limits.trials leaves room for 1' \
    'enqueue where there is room for another one'
touch $(seq -f end%.0f $((n + 3)))
"$HPOTUNE" start --quiet study.json
is "$(sql s.db 'SELECT trial, x FROM results WHERE x IN (0.25, 0.75)')" \
    "$((n + 1))|0.25" 'when it may, the next start tries it'
sed -i "s/\"trials\": $((n + 1))/\"trials\": $((n + 3))/" study.json
is "$("$HPOTUNE" enqueue x=0.375)" 'the next start tries the setting first' \
    'enqueue before a start'
sed -i 's/"goal": "m[a-z]*"/&, "target": -1e9/' study.json
sed -i 's/"minimize", "target": -1e9/"minimize", "target": 1e9/' study.json
like "$("$HPOTUNE" enqueue x=0.5)" \
    'kept, but the target [-+0-9e]* was reached by trial [0-9]+$' \
    'enqueue into a study that reached its target'

done_testing
