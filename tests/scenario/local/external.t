#!/bin/sh
# A strategy that is a program of the user: its input, its valid answers, and
# its errors.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

need sqlite3

# sampler.sh MOOD: the settings are 1, 2, 3, … hundredths.
cat >sampler.sh <<'END'
mood=$1
echo "$$ $(cut -d ' ' -f 22 /proc/$$/stat)" >"$mood.pid"
echo "sampler: $mood" >&2
[ "$mood" != chatty ] || echo 'hello'
echo "start $PWD" >>"$mood.heard"
while read -r line; do
	printf '%s\n' "$line" >>"$mood.heard"
	case $line in
	*'"type":"ask"'*) ;;
	*) continue ;;
	esac
	n=${line#*\"trial\":}
	n=${n%%,*}
	x=0.$(printf '%02d' "$n")
	case $mood in
	once)
		[ -e died ] || { : >died; exit 3; }
		echo "{\"params\":{\"x\":$x,\"c\":\"b\"}}"
		;;
	each) echo "{\"params\":{\"x\":$x,\"c\":\"b\"}}"; exit 0 ;;
	dies) kill -9 $$ ;;
	noise) echo 'x=1' ;;
	name) echo "{\"params\":{\"x\":$x,\"see\":\"b\"}}" ;;
	range) echo '{"params":{"x":7,"c":"b"}}' ;;
	lacks) echo '{"params":{"c":"b"}}' ;;
	key) echo "{\"param\":{\"x\":$x}}" ;;
	long) head -c 3000000 /dev/zero | tr '\0' x; echo ;;
	twice)
		echo "{\"params\":{\"x\":$x,\"c\":\"a\"}}"
		echo "{\"params\":{\"x\":$x,\"c\":\"a\"}}"
		;;
	silent) ;;
	empty) [ "$n" -lt 4 ] && echo "{\"params\":{\"x\":$x}}" ||
	    echo '{"empty":true}' ;;
	same) echo '{"params":{"x":0.5,"c":"a"}}' ;;
	*) echo "{\"params\":{\"x\":$x,\"c\":\"b\"}}" ;;
	esac
done
echo end >>"$mood.heard"
[ "$mood" != stays ] || while :; do sleep 1; done
END

study() { # mood trials [options [limits]]
	default=
	[ "$1" != empty ] || default=', "default": "a"'
	cat >"$1.json" <<END
{
  "study": "$1",
  "objective": { "metric": "m", "goal": "maximize" },
  "parameters": {
    "x": { "type": "float", "min": 0, "max": 1 },
    "c": { "type": "choice", "values": ["a", "b"] $default }
  },
  "strategy": { "name": "external", "seed": 3,
      "command": ["sh", "sampler.sh", "$1"] ${3-} },
  "stopping": "none",
  "trial": { "command": ["true"], "max_steps": 2 },
  "backend": { "name": "pretend", "seconds_per_step": 0.001 },
  "limits": { "trials": $2, "parallel": 1 ${4-} }
}
END
}
wrong() { # mood pattern what
	study "$1" 5 "${4-}"
	fails "$1: the study fails" 1 timeout 300 "$HPOTUNE" start --quiet \
	    "$1.json" 2>err
	like "$(cat err)" "$2" "$1: $3"
}

study good 3
like "$("$HPOTUNE" check good.json)" '^strategy +external' 'check accepts it'
ok 'a study' "$HPOTUNE" start --quiet good.json
is "$(sql good.db 'SELECT x, c FROM results ORDER BY trial')" '0.01|b
0.02|b
0.03|b' 'has its settings'
is "$(sql good.db 'SELECT strategy, made_by, redraws FROM suggestions
    WHERE trial = 2')" 'external|external|0' 'and they say whose they are'
is "$(sed 's/"seed":[0-9]*/"seed":N/; s/[0-9.]*[0-9]\(,"loss":\)/V\1/
    s/\("m":\)[-0-9.e]*/\1V/; s/\("loss":\)[-0-9.e]*/\1L/' good.heard)" \
    "start $dir
{\"type\":\"study\",\"version\":1,\"study\":\"good\",\"seed\":N,\"parameters\":{\"x\":{\"type\":\"float\",\"min\":0,\"max\":1},\"c\":{\"type\":\"choice\",\"values\":[\"a\",\"b\"]}},\"objectives\":[{\"metric\":\"m\",\"goal\":\"maximize\"}],\"constraints\":[]}
{\"type\":\"ask\",\"trial\":1,\"seed\":N,\"redraw\":0}
{\"type\":\"tell\",\"trial\":1,\"state\":\"completed\",\"params\":{\"x\":0.01,\"c\":\"b\"},\"values\":{\"m\":V},\"loss\":L}
{\"type\":\"ask\",\"trial\":2,\"seed\":N,\"redraw\":0}
{\"type\":\"tell\",\"trial\":2,\"state\":\"completed\",\"params\":{\"x\":0.02,\"c\":\"b\"},\"values\":{\"m\":V},\"loss\":L}
{\"type\":\"ask\",\"trial\":3,\"seed\":N,\"redraw\":0}
end" 'it receives all trials and requests, and ends with its input'
is "$(cat good.d/strategy.log)" 'sampler: good' \
    'its standard error is in strategy.log'
is "$(sql good.db "SELECT round(value, 9) FROM curves WHERE trial = 1
    ORDER BY step DESC LIMIT 1")" "$(sql good.db "SELECT round($(sed -n \
    's/.*"trial":1,"state":"completed".*"m":\([-0-9.e]*\).*/\1/p' \
    good.heard), 9)")" 'the result is in the sign of the user'

# A restart tells everything again.
: >good.heard
ok 'started again for more' "$HPOTUNE" start --quiet --trials 5 good.json
is "$(grep -c '"type":"tell"' good.heard)" 4 'it receives all trials'
is "$(sql good.db 'SELECT x FROM results ORDER BY trial' | tail -n 1)" 0.05 \
    'and continues'

# What runs is told, too.
study many 4 '' ', "no_improvement": 90'
sed -e 's/"parallel": 1/"parallel": 3/' -e 's/0.001/2/' many.json >m &&
    mv m many.json
ok 'three at once' "$HPOTUNE" start --quiet many.json
ok 'it is told of those that run' grep -q \
    '"trial":1,"state":"running","params":{"x":0.01,"c":"b"}}' many.heard

# Death.
study once 4
ok 'it dies once' "$HPOTUNE" start --quiet once.json
is "$(sql once.db 'SELECT count(*) FROM trials')|$(grep -c start once.heard)" \
    '4|2' 'it is started again'
study each 3
ok 'one that ends after each answer' "$HPOTUNE" start --quiet each.json
is "$(grep -c start each.heard)" 3 'is started for each'
is "$(tail -n 2 each.heard | head -n 1 | grep -c '"trial":2,"state":"comp')" 1 \
    'and received everything'
wrong dies 'external: sh was killed by signal 9, 2 times over trial 1' \
    'two deaths over one question'
is "$(sql dies.db 'SELECT state, trials FROM study')" 'failed|0' \
    'no trial without a setting'
study dies 5 '' && sed 's/"dies"\]/"good"]/' dies.json >d && mv d dies.json
ok 'a better one goes on' "$HPOTUNE" start --quiet dies.json

# Nonsense.
wrong noise 'sh: line 1 of its output: .*' 'no JSON'
wrong name 'line 1 of its output: .*see' 'an unknown parameter'
wrong range 'line 1 of its output: .*params.x: ' 'a value out of range'
wrong lacks 'line 1 of its output: .*x is missing, and it has no default' \
    'no value for a parameter'
wrong key 'line 1 of its output: .*param: .*did you mean "params"' \
    'an unknown key'
wrong long 'line 1 of its output has more than [0-9]* bytes' 'an endless line'
# The second answer to a request may be read as that to the next one.
wrong twice 'line [2-9] of its output: unexpected output: no suggestion was requested' 'two answers'
wrong chatty 'line 1 of its output: ' 'a word of its own'
wrong silent 'sh: no answer for 1 s' 'silence' ', "timeout": 1'
study gone 2 && sed 's/"sh"/".\/none"/' gone.json >g && mv g gone.json
fails 'a program that is not there' 1 "$HPOTUNE" start --quiet gone.json 2>err
like "$(cat err)" 'external: ./none cannot be started in .*: No such file' \
    'is reported'

# Nothing left, and nothing new.
study empty 9
ok 'it may have nothing left' "$HPOTUNE" start --quiet empty.json
is "$(sql empty.db 'SELECT why FROM t_study')|$(sql empty.db \
    "SELECT count(*) FROM results WHERE c = 'a'")" \
    'the strategy external has nothing left to try|3' \
    'what it leaves out has its default'
study same 3
ok 'the same again and again' "$HPOTUNE" start --quiet same.json
is "$(sql same.db 'SELECT count(DISTINCT params) FROM trials')" 3 \
    'is not tried again'
is "$(grep -c '"trial":2,.*"redraw":100}' same.heard)" 1 \
    'though it was asked for another a hundred times'

# It ends with the server, whatever it thinks of that.
study stays 2
ok 'one that does not end' "$HPOTUNE" start --quiet stays.json
is "$(tail -n 1 stays.heard)" end 'receives the end of its input'
# The state of the program that a study had last, by its start time too; nothing
# when there is no such process, not even one that nobody has waited for.
state() { # mood
	read -r pid start <"$1.pid"
	awk -v start="$start" '$22 == start { print $3 }' "/proc/$pid/stat" \
	    2>/dev/null
}
is "$(state stays)" '' 'and is ended'
study killed 50 '' ', "wall_time": "1h"'
sed 's/0.001/1/' killed.json >k && mv k killed.json
background server "$HPOTUNE" start --quiet killed.json
ok 'a server with its program' retry sql_is killed.db \
    'SELECT count(*) > 1 FROM trials' 1
like "$(state killed)" '^[RSD]$' 'which is alive'
kill -9 "$child"
reap "$child" 2>/dev/null
# Whoever adopts it may never wait for it.
ended() {
	case $(state killed) in
	'' | [XZ]) ;;
	*) return 1 ;;
	esac
}
ok 'a killed server takes it along' retry ended

# The block.
study words 2 && sed 's/\["sh".*"words"\]/"sh x"/' words.json >w &&
    mv w words.json
fails 'a command that is a text' 2 "$HPOTUNE" check words.json 2>err
like "$(cat err)" 'strategy.command: expected an object or a list' 'is an error'
sed 's/"command": "sh x"/"timeout": 5/' words.json >w && mv w words.json
fails 'no command' 2 "$HPOTUNE" check words.json 2>err
like "$(cat err)" 'external: "command" is missing' 'is one, too'
study hasty 2 && sed 's/"external",/"external", "timeout": 0,/' hasty.json >w &&
    mv w hasty.json
fails 'no time to answer' 2 "$HPOTUNE" check hasty.json 2>err
like "$(cat err)" 'strategy.timeout: expected seconds' 'is one, too'

done_testing
