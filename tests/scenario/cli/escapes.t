#!/bin/sh
# Terminal control sequences in every text of a study, a trial or a foreign
# database: no command prints them to a terminal, and no log and no column for
# people contains them.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3 perl script

# ESC, BEL, CSI as one character, DEL, CR, the marks that turn the direction of
# writing, line separators, a byte order mark; and a byte that is no UTF-8.
evil=$(printf '\033[31m\033]0;t\007\302\233' ; printf '31m\177\r\342\200\256' ;
    printf '\342\201\246\342\200\250\357\273\277\342\200\217\330\234')
# The same for JSON.
json='\u001b[31m\u001b]0;t\u0007\u009b31m\u007f\r\u202e\u2066\u2028\ufeff\u200f\u061c'
bad=$(printf '\377')

# What hpotune itself tells a terminal (colours, its own screen) is taken out.
cat >clean.pl <<'END'
local $/;
my $text = <STDIN>;
if ($ARGV[0] eq 'terminal') {
	$text =~ s/\r+\n/\n/g;
	$text =~ s/\r?\e\[(?:[0-9;]*m|\d*[AJKH])\r?//g;
}
die "not UTF-8\n" unless utf8::decode($text);
my $obeyed = '\x00-\x08\x0b-\x1f\x7f-\x9f\x{61c}\x{200e}\x{200f}' .
    '\x{2028}-\x{202e}\x{2066}-\x{2069}\x{feff}';
exit 0 unless $text =~ /[$obeyed]/;
printf "U+%04X after \"%s\"\n", ord $&, substr $`, -40;
exit 1;
END
clean() { # file kind what
	clean_said=$(perl clean.pl "$2" <"$1" 2>&1)
	is "$?$clean_said" 0 "$3"
}
# A command, into a pipe and on a terminal.
runs=0
run() { # words of the command
	"$HPOTUNE" "$@" >said 2>&1 </dev/null
	clean said pipe "$(printf %s "$*" | tr -cd 'a-z0-9. =-'): into a pipe"
	printf '%s' "NO_COLOR=1 exec '$HPOTUNE'" >command
	for word; do
		printf " '%s'" "$(printf %s "$word" | sed "s/'/'\\\\''/g")"
	done >>command
	script -qc ". ./command" /dev/null >said 2>&1 </dev/null
	clean said terminal 'and on a terminal'
	runs=$((runs + 1))
}

# Metrics have plain names; everything else is free.
cat >trial <<END
#!/bin/sh
echo "hpotune: step=1 loss=0.5"
printf 'out $evil $bad\n'
echo '{"step": 2, "loss": 0.4, "$json": 1}' >>"\$HPOTUNE_METRICS"
case \$HPOTUNE_TRIAL in
2) exit 3 ;;
esac
END
chmod +x trial
cp trial "trial$evil"
mkdir "in$evil"
study() { # name members
	cat >"$1.json" <<END
{ "study": "$1",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": {
    "x": { "type": "float", "min": 0, "max": 1 },
    "opt": { "type": "choice", "values": ["$json", "b$json", "c$json"] } },
  "strategy": { "name": "random", "seed": 1 },
  $2
  "limits": { "trials": 4, "parallel": 1 } }
END
}

study evil "\"trial\": { \"command\": [\"$dir/trial$json\", \"{opt}\"],
    \"workdir\": \"in$json\", \"retries\": 0, \"env\": { \"A\": \"$json\" } },"
run check evil.json
run check --json evil.json
script -qc "'$HPOTUNE' start evil.json" /dev/null >said 2>&1 </dev/null
clean said terminal 'start on a terminal: the live view and the last words'
is "$(sql evil.db 'SELECT count(*) FROM trials')" 4 'it ran'
sed -i 's/"trials": 4/"trials": 6/; s/"A": "/&x/' evil.json
"$HPOTUNE" start evil.json >said 2>&1
clean said pipe 'start into a pipe: the log and the last words'
"$HPOTUNE" start --detach evil.json >said 2>&1
clean said pipe 'start --detach'
ok 'it has a log' retry test -s evil.d/server.log
"$HPOTUNE" stop evil.json >out 2>&1
clean evil.d/server.log pipe 'the log of a server in the background'

# Programs and folders that are not there: the words of the error.
study gone "\"trial\": { \"command\": [\"./gone$json\"] },"
run check gone.json
run start gone.json
study gone "\"trial\": { \"command\": [\"true\"], \"workdir\": \"gone$json\" },"
run check gone.json
run start "gone$evil.json"
run "status$evil"
run status "--no$evil"
run trials evil.db --sort "a$evil"
run enqueue evil.db "y$evil=1"
run stop evil.db "7$evil"
printf '#!/none%s\n' "$evil" >interpreter
chmod +x interpreter
study gone "\"trial\": { \"command\": [\"./interpreter\"] },"
run start gone.json
# One that is seen only when it is run: in why, events and the log.
printf '\177ELF' >"broken$evil"
chmod +x "broken$evil"
study broken "\"trial\": { \"command\": [\"./broken$json\"], \"retries\": 0 },"
"$HPOTUNE" start broken.json >said 2>&1
clean said pipe 'start of a program that cannot be run'
like "$(cat said)" 'broken\\x1b\[31m' 'which is named'

# Trials of others.
study told ''
"$HPOTUNE" ask --count 4 told.json >out
run ask --json told.json
run tell told.db 1 "loss=1$evil"
run tell told.db 1 "$evil=1"
run tell told.db 1 --failed --why "why $evil$bad"
run tell --json told.db 2 --failed --why "why $evil"
"$HPOTUNE" tell told.db 3 loss=1 --done >out

# Whatever the server wrote for people can be read with any program.
for db in evil.db broken.db told.db; do
	sql $db "SELECT why FROM t_study; SELECT why FROM trials;
	    SELECT why, place FROM t_attempt; SELECT why FROM stops;
	    SELECT text FROM events; SELECT 'all'" >said
	is "$(tail -n 1 said)" all "$db: it can be read"
	clean said pipe 'why, place and text'
done
like "$(sql told.db 'SELECT why FROM trials')" '^why \\x1b\[31m' \
    'why: with escapes'

# A database of a stranger, who wrote what he liked.
cp evil.db strange.db
sqlite3 strange.db >out 2>err <<END
PRAGMA writable_schema = ON;
UPDATE t_study SET why = 'w$evil', rule = 'r$evil', dir = '/d$evil',
    metric = 'loss$evil';
UPDATE t_name SET name = name || '$evil';
UPDATE t_trial SET why = 'w$evil';
UPDATE t_attempt SET why = 'w$evil', place = 'p$evil', backend = 'b$evil';
UPDATE t_event SET text = 't$evil', area = 'a$evil';
END
is "$(cat err)" '' 'a strange database is made'
sqlite3 strange.db "UPDATE t_study SET name = 'strange'"

for db in evil.db strange.db told.db broken.db; do
	for command in best status 'trials' 'show 1' 'show 2' 'show --all 1' \
	    'logs 1' importance 'report --output -' doctor; do
		set -- $command
		word=$1
		shift
		run "$word" $db "$@"
		[ "$word" = logs ] || [ "$word" = report ] ||
		    run "$word" --json $db "$@"
	done
done
run replay evil.db
run replay strange.db
run replay --json strange.db
diag "$runs commands, each twice"
done_testing
