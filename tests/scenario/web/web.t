#!/bin/sh
# hpotune web: who is let in, what is answered, and clients that mean no good.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3 python3

# Without what sets up other pythons, which takes longer than all else.
python=$(python3 -c 'import sys; print(sys.executable)')
web() { # what site …: of web_client.py
	"$python" -S "$TOP_SRCDIR/tests/scenario/web/web_client.py" "$@"
}
pages() { # name option …: its process is $pages, its lines are in $name.out
	pages_name=$1
	shift
	background "$pages_name" "$HPOTUNE" web "$@"
	pages=$child
	retry grep -q '^web: ' "$dir/$pages_name.out"
}
listed() { # site: its list, when each study has been read
	web get "$1" / >out && ! grep -q 'not read yet' body
}
web_lists() { # study: the list of site has it
	web get "$site" / >out && grep -q "s/$1\"" body
}
study() { # name trials [sed-expression …]
	study_name=$1
	study_trials=$2
	shift 2
	sed "$@" >"$study_name.json" <<END_OF_STUDY
{ "study": "$study_name",
  "objective": { "metric": "acc", "goal": "maximize" },
  "parameters": {
    "lr": { "type": "float", "min": 1e-4, "max": 0.3, "scale": "log" },
    "opt": { "type": "choice", "values": ["sgd", ${study_choice-"\"adam\""}] } },
  "strategy": { "name": "random", "seed": 5 }, "stopping": "none",
  "trial": { "command": ["true"], "max_steps": 12, "retries": 0 },
  "backend": { "name": "pretend", "seconds_per_step": 0, "fail": 0.1 },
  "limits": { "trials": $study_trials, "parallel": 2 } }
END_OF_STUDY
}
same=s/nothing/nothing/
study small 100 -e $same
"$HPOTUNE" start -q small.json

# Bad clients take their time, on a server of their own.

pages many --socket many
for k in silent slow endless; do
	background "many-$k" web many "$dir/many" "$pages" $k
	echo "$child" >"many-$k.pid"
done

# A socket: what is answered.

pages own
own=$pages
site=$dir/.hpotune-web
is "$(head -n 1 own.out)" "web: $site" 'the socket is in the folder'
like "$(cat own.out)" "ssh -L 8080:$site " 'and the line that forwards it'
is "$(stat -c %a "$site")" 600 'the socket has mode 600'
is "$(web table "$site" <<'END'
200 GET /
200 HEAD /
200 GET /web.css
200 GET /web.js
200 GET /s/small
200 HEAD /s/small
200 HEAD /s/small/live
200 GET /s/small/trial/1
200 GET /s/small/trial/1/line
200 GET /s/small/trials?trial=1&trial=2
200 GET /compare?study=small
200 GET /s/small?where=lr+%3c+0.01&sort=lr&down=1&page=1
200 GET /s/small?page=999999999999999999&sort=nothing&columns=none
404 GET /nothing
404 GET /s/nothing
404 GET /s/nothing/live
404 GET /s/..%2f..%2fetc%2fpasswd
404 GET /s/small/trial/101
404 GET /s/small/trial/0
404 GET /s/small/trial/101/line
404 GET /s/small/trial/101/log
404 GET /s/small/trials
404 GET /s/small/trials?trial=0
404 GET /s/small/trials?trial=-1
404 GET /s/small/trials?trial=x
404 GET /compare
404 GET /compare?study=nothing
404 GET /s/small/do
404 GET /login
404 GET http://localhost/
403 GET / Host:evil.example
403 GET /web.css Host:evil.example
403 GET /web.js Host:evil.example
403 GET / Host:
403 GET / Host:localhost.evil.example
403 GET / Host:127.0.0.1.evil.example:80
200 GET / Host:127.0.0.1:8080
200 GET / Host:[::1]:8080
200 GET / Host:localhost:1 Origin:http://localhost:1
403 GET / Host:localhost:1 Origin:http://localhost:2
403 GET / Origin:null
403 GET /s/small/live Origin:http://evil.example
403 POST /s/small/do =do=pause
403 POST / =
403 POST /login =token=
501 PUT /
501 DELETE /s/small
501 OPTIONS /
END
)" '' 'each request has its status, and all the headers'
for k in 'GET / HT' 'bla' 'GET  HTTP/1.1' 'GET / HTTP/9.9' \
    'GET / HTTP/1.1|Host: localhost|Content-Length: -1' \
    'POST /s/run/do HTTP/1.1|Host: localhost|Content-Length: 999999999' \
    'POST /s/run/do HTTP/1.1|Host: localhost|Transfer-Encoding: chunked||fffffffff' \
    'GET / HTTP/1.1|Host: evil|Host: localhost' \
    'GET / HTTP/1.1|Host: localhost|Host: evil' \
    'GET / HTTP/1.1|Host: localhost|Origin: http://localhost|origin: http://evil' \
    "GET /$(printf %020000d 0) HTTP/1.1|Host: localhost"; do
	unlike "$(printf '%s||' "$k" | sed 's/|/\r\n/g' | web raw "$site" --half)" \
	    ' 200 ' "no page for ${k%"${k#??????????????????????????}"}"
done
is "$(printf 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n' |
    web raw "$site" --half)" 'HTTP/1.1 200 OK' 'a half-closed client is served'
for k in / /s/small /s/small/trial/7 '/s/small/trials?trial=1&trial=2' \
    '/compare?study=small' '/s/small?where=%3cb%3e' /nothing; do
	web get "$site" "$k" >out
	is "$(web check body)" '' "$k is a page"
done
web get "$site" '/s/small/trials?trial=2&trial=1' >out
is "$(tr -d '\n' <body |
    grep -o 'class="study s[0-9]" d="[^"]*"/></svg>[^<]*' |
    sed 's/^class="//; s/" d=.*svg>//')" 'study s0trial 2
study s1trial 1' 'trials beside each other: a colour for each'
web get "$site" /s/small/trial/1/line >out
like "$(cat body)" '^trial 1, completed: acc 0\.[0-9]+$' 'a trial in a line'
web get "$site" "/s/small/trials?$(seq -f 'trial=%.0f' 1 13 | tr '\n' '&')" >out
like "$(cat body)" 'The first 12 trials are shown' 'more than there is room for'
is "$(grep -o '<th[ >][^>]*' body | grep -vc scope=)" 0 'each head has its scope'
web get "$site" "/compare?$(yes study=small | head -n 9 | tr '\n' '&')" >out
like "$(cat body)" 'The first 8 studies are shown' 'of studies as well'
is "$(web check body)" '' 'which is a page'
is "$(web get "$site" /s/small/trial/1/live)" 404 'no other pages'

# What is asked first comes first; charts are files, too.

web get "$site" /s/small >out
is "$(tr -d '\n' <body | grep -o 'id="[a-z-]*"' |
    grep -E '"(part-.*|trials)"' | head -n 4 | tr '\n' ' ')" \
    'id="part-head" id="trials" id="part-about" id="part-history" ' \
    'the answers, the trials, then all else'
like "$(tr -d '\n' <body)" 'aria-label="parts of this page"><a href="#part-head">' \
    'a list of the contents'
like "$(tr -d '\n' <body)" '<dt>Its setting</dt><dd>lr=.* opt=' 'the best setting'
like "$(tr -d '\n' <body)" '<dt>Failed</dt><dd>[0-9]+; the last one is trial [0-9]+: ' \
    'what failed, and why'
like "$(cat body)" 'href="../s/small/chart\?kind=history&amp;as=svg" download=' \
    'a chart leads to its files'
is "$(web get "$site" '/s/small/chart?kind=history&as=svg') $(head -c 4 body)" \
    '200 <svg' 'a chart as SVG'
is "$(web get "$site" '/s/small/chart?kind=curves&as=csv') $(wc -l <body)" \
    "200 $(($(sql small.db 'SELECT count(*) FROM curves') + 1))" \
    'its numbers as CSV'
is "$(web get "$site" '/s/small/chart?kind=none&as=svg')" 404 'no other chart'
web get "$site" '/s/small?curves.over=seconds&curves.scale=log&curves.smooth=0.5' \
    >out
like "$(cat body)" 'acc of [0-9]+ trials by time' 'curves over time'
like "$(cat body)" 'acc, smoothed \(logarithmic\)' 'smoothed, in a logarithm'
like "$(web get "$site" '/s/small?curves.metric=none' && cat body)" \
    'No value of none has been reported' 'curves of no metric'
web get "$site" /s/small/trial/7 >out
again=$(tr -d '\n' <body | sed -n 's/.*<code>\(.*\)<\/code>.*/\1/p')
like "$again" "^hpotune enqueue $dir/small.db (&#39;)?lr=" 'what runs a trial again'
mkdir -p deep/er deep/x.d deep/.hidden
sqlite3 small.db "VACUUM INTO 'deep/er/below.db'"
cp deep/er/below.db deep/x.d/inside.db
cp deep/er/below.db deep/.hidden/hidden.db
ok 'studies of folders below' retry web_lists below
web get "$site" / >out
unlike "$(cat body)" 's/(inside|hidden)"' 'but of no state folder, no hidden one'
rm -r deep

# The table of trials: filter, order, pages.

table_rows() { # trials of the table in body
	tr -d '\n' <body | sed 's/.*id="trials"//; s/id="part-about".*//' |
	    grep -o '<tr data-trial="[0-9]*"' | tr -dc '0-9\n'
}
rows() { # query: trials of the table
	web get "$site" "/s/small?$1" >out
	table_rows
}
best() { # where order
	sql small.db "SELECT trial FROM trials WHERE $1 ORDER BY $2 LIMIT 50"
}
is "$(rows '')" "$(best 1 'trial DESC')" 'the newest first'
is "$(rows sort=acc)" "$(best 1 'objective IS NULL, objective, trial DESC')" \
    'in the order of a column'
is "$(rows 'sort=lr&down=1')" \
    "$(best 1 "json_extract(params, '\$.lr') DESC, trial DESC")" \
    'of a parameter, downwards'
is "$(rows 'where=lr+%3C+0.01+and+not+(opt+%3D+sgd+or+state+%3D+failed)')" \
    "$(best "json_extract(params, '\$.lr') < 0.01 AND state != 'failed' AND
	json_extract(params, '\$.opt') != 'sgd'" 'trial DESC')" \
    'those of a filter'
is "$(rows page=1 | wc -l)" 50 'the second page is the last'
is "$(rows page=2)" "$(rows page=1)" 'there is no third one'
is "$(rows 'where=stat+%3D+completed')" '' 'a wrong filter shows none'
like "$(cat body)" 'stat.* in the filter is no column: did you mean state' \
    'and why'
is "$(rows 'where=TRIAL+%3D+1')" '' 'upper and lower case differ'
like "$(cat body)" 'TRIAL.* in the filter is no column: did you mean trial\?' \
    'which the sentence says'
is "$(rows 'where=trial+%3D+1&sort=lr&down=1&page=3&a=%3C')" 1 'one of a filter'
is "$(tr '\n' ' ' <body | sed 's/.*class="filter"//; s/<\/form>.*//' |
    grep -o 'type="hidden" name="[a-z]*" value="[^"]*"')" \
    'type="hidden" name="sort" value="lr"
type="hidden" name="down" value="1"
type="hidden" name="a" value="&lt;"' 'the form keeps the rest of the address'
is "$(rows "where=state+%3D+'x'+OR+1%3D1--")" '' 'nothing but a filter'
like "$(cat body)" '1.* in the filter is no column' 'is one'

study names 3 -e 's/"lr"/"state"/; s/"opt"/"step"/'
"$HPOTUNE" start -q names.json
web get "$site" '/s/names?where=params.state+%3E+0+and+state+!%3D+0.5' >out
is "$(table_rows | wc -l)" 3 'params.NAME is the parameter'
like "$(cat body)" 'sort=params.state' 'by which its heading sorts'
is "$(web get "$site" '/s/names?sort=params.state&down=1')" 200 'it does'
is "$(table_rows)" \
    "$(sql names.db "SELECT trial FROM trials ORDER BY
	json_extract(params, '\$.state') DESC")" 'by its values'

cp small.db two.db
sqlite3 two.db "INSERT INTO t_aim (position, metric, goal)
    VALUES (2, 'ms', 'minimize')"
web get "$site" '/?find=minimize' >out
like "$(cat body)" '>maximize acc, minimize ms<' 'the list: each goal beside its metric'
sqlite3 two.db "INSERT INTO t_front (trial, inside, better) VALUES
    (1, 1, 0), (2, 1, 0), (3, 0, 0)"
web get "$site" '/?find=minimize' >out
like "$(cat body)" 'data-head="best">front: 2 trials<' \
    'and of several objectives how many trials are on the front'

# A column for each of many parameters; the page of a trial says what was judged.

study many 3 -e '/"opt"/d' -e "s|\"lr\".*|$(for i in $(seq 2 60); do
	printf '"p%d": { "type": "float", "min": 0, "max": 1 }, ' "$i"
done)\"lr\": { \"type\": \"float\", \"min\": 0, \"max\": 1 } },|"
"$HPOTUNE" start -q many.json
web get "$site" /s/many >out
is "$(tr -d '\n' <body | sed 's/.*id="trials"//; s/<tbody>.*//' |
    grep -o '<th[^>]*>[^/]*</a>' | sed 's/.*>\(.*\)<.a>/\1/' | tr '\n' ' ')" \
    "trial state acc step seconds attempts started $(seq -s ' ' -f p%.0f 2 42) why " \
    'many parameters: columns as far as there is room'
like "$(cat body)" '19 more parameters have no column: choose them below' \
    'and the number of the others'
like "$(tr -d '\n' <body | sed 's/.*id="trials"//; s/id="part-about".*//')" \
    '<td class="w">20[0-9-]* [0-9:]*</td>' 'times are those of other tables'
is "$(web check body)" '' 'which is a page'
web get "$site" /s/many/trial/1 >out
like "$(cat body)" '>No rule has wanted to stop this trial.<' \
    'a trial that no rule has judged: its page says so'
best=$(sql small.db 'SELECT trial FROM best')
web get "$site" /s/small >out
like "$(cat body)" "<dd><a href=\"../s/small/trial/$best\">trial $best: acc " \
    'the best trial is a link'
like "$(tr -d '\n' <body | sed 's/.*<h2>Best trials//')" \
    "^[^!]*<tr data-trial=\"$best\"><td class=\"n\"><a href=\"../s/small/trial/$best\">$best</a>" \
    'and so is its number among the best trials'
map() { # query: the heading of the map, and whether the part is its own
	web get "$site" "/s/small$1" >out
	tr -d '\n' <body | sed 's/.*id="part-importance"//; s/id="part-best.*//' |
	    grep -o '^ data-zoomed\|<h2>[^<]*</h2><svg' |
	    sed 's/<h2>\(.*\)<.h2>.*/\1/' | tr '\n' '|'
}
is "$(map '')" 'The two parameters that matter most|' 'a map'
is "$(map '?map.x=opt&map.y=lr')" ' data-zoomed|opt and lr|' \
    'of the parameters that the address names'
like "$(tr -d '\n' <body)" \
    '<select name="map.x">.*<option selected="selected">opt</option>' \
    'which its form has'
for k in 'map.x=opt' 'map.x=opt&map.y=opt' 'map.x=opt&map.y=none'; do
	like "$(map "?$k")" 'The two parameters that matter most' \
	    "not of $k"
done

# Many studies: a page does not wait until all have been read.

mkdir lot
i=0
while [ $i -lt 400 ]; do
	i=$((i + 1))
	ln small.db "lot/m$i.db"
done
head -c 10000 /dev/zero >lot/none.db
pages list --socket list lot
web get "$dir/list" / >out
is "$(grep -o 'href="\./s/m[0-9]*"' body | wc -l)" 400 'all studies are listed at once'
like "$(cat body)" '<td colspan="8">not read yet</td>' 'though some are not read'
is "$(web check body)" '' 'which is a page'
is "$(web get "$dir/list" /s/m7)" 200 'others are answered meanwhile'
# 400 openings, with sanitizers on a busy machine.
RETRY_SECONDS=800
ok 'and soon all are, with their states' retry eval \
    'web get "$dir/list" / >out && [ "$(grep -c ">finished<" body)" = 400 ]'
unset RETRY_SECONDS
like "$(cat body)" 'class="trouble"' 'also what cannot be read'
kill "$pages"
reap "$pages"
rm -r lot
pages=$own

# Names from outside.

evil='<script>alert("1")</script>&amp;'"'x"
study_choice=$(printf '"%s"' "$(printf %s "$evil" | sed 's/"/\\"/g')")
study evil 2 -e $same
"$HPOTUNE" ask evil.json opt="$evil" >out 2>&1 || "$HPOTUNE" ask evil.json >out
"$HPOTUNE" tell evil.json 1 step=1 acc=0.5 >out
"$HPOTUNE" tell evil.json 1 --failed \
    --why "$(printf '</td>%s\033[2J' "$evil")" >out
cp evil.db '<b>"evil&amp;.db'
odd='%3cb%3e%22evil&amp;'
odd="/s/$(printf %s "$odd" | sed 's/&/%26/g')"
for k in / /s/evil /s/evil/trial/1 '/s/evil/trials?trial=1' \
    '/compare?study=evil' "$odd" "$odd/trial/1" \
    '/s/evil?where=%3Cscript%3Ealert(1)%3C/script%3E&%3Cb%3E=%3Cb%3E' \
    '/%3Cscript%3E' '/compare?study=%3Cscript%3E'; do
	like "$(web get "$site" "$k")" '^(200|404)$' "evil: $k"
	is "$(web check body)" '' '… is a page'
	unlike "$(cat body)" '<script>|<b>' '… and no more'
done
rm -f '<b>"evil&amp;.db'

# Logs, by pieces.

cat >train.sh <<'END'
#!/bin/sh
printf 'first \342\202\254\n\033[31mred\n'
i=1
while [ ! -e "$dir/end" ]; do
	echo "hpotune: step=$i acc=0.$i"
	i=$((i + 1))
	sleep 0.1
done
echo last
END
chmod +x train.sh
study run 3 -e 's/"true"/".\/train.sh"/; s/12/100000/' -e '/pretend/d' \
    -e 's/"parallel": 2/"parallel": 1/'
dir=$dir; export dir
server run.json -q
retry sql_is run.db "SELECT state FROM trials WHERE trial = 1" running
log=run.d/trials/1/attempt-1/log
retry grep -q step=1 "$log"
study silent 1 -e '/pretend/d'
"$HPOTUNE" start -q silent.json >out 2>&1 || :
web get "$site" /s/silent/trial/1 >out
like "$(cat body)" '>No value of acc has been reported\.<' \
    'a trial without a report: a sentence, not an empty chart'
unlike "$(cat body)" 'data-zoom=' 'and no chart'
web get "$site" /s/run/trial/1 >out
like "$(cat body)" "Its folder: .*/run.d/trials/1<" 'a trial names its folder'
is "$(web get "$site" '/s/run/trial/1/log?attempt=1&from=0')" 200 'a log'
like "$(cat body)" '^first €$' 'its text'
like "$(cat body)" '^\\x1b\[31mred$' 'without what a terminal would obey'
like "$(cat head)" '^X-Over: 0' 'it goes on'
next=$(sed -n 's/^X-Next: \([0-9]*\).*/\1/p' head)
retry eval '[ "$(stat -c %s "$log")" -gt "$next" ]'
web get "$site" "/s/run/trial/1/log?attempt=1&from=$next" >out
unlike "$(cat body)" first 'the next piece does not repeat the first'
like "$(cat body)" 'step=' 'the next piece has the new lines'
web get "$site" '/s/run/trial/1/log?attempt=1&from=8' >out
like "$(cat body)" '^\\x82\\xac|^\\xac|red' 'a piece may begin anywhere'
for k in attempt=0 attempt=2 attempt=99999999999; do
	is "$(web get "$site" "/s/run/trial/1/log?$k&from=0")" 404 "no log of $k"
done
is "$(web get "$site" "/s/run/trial/1/log?attempt=1&from=999999999999")" 200 \
    'a piece from beyond the end'

# Events of a study that runs.

events=$(web events "$site" /s/run/live '"name":"history"')
like "$events" '^retry: 2000' 'events: when to come back'
like "$events" '^event: tick' 'events: something has changed'
like "$events" '^event: part' 'events: and a part of the page'
events=$(web events "$site" '/s/run/live?tick=1' 'event: tick(.|\n)*event: tick')
unlike "$events" '^event: part' 'events: a trial has no use for parts'
is "$(printf '%s\n' "$events" | grep -c '^event: tick' | sed 's/[2-9]/2/')" 2 \
    'events: each change is an event'

# Actions.

form=$(web form "$site" /s/run)
like "$form" '^[0-9a-f]{32}$' 'a page has its form token'
act() { # body [site]
	web post "${2-$site}" /s/run/do "$1" Origin:http://localhost \
	    "X-Hpotune-Form:$form"
}
is "$(act do=pause)" 200 'a study is paused'
ok 'it is' retry sql_is run.db 'SELECT state FROM study' paused
is "$(act do=resume)" 200 'and resumed'
ok 'it is' retry sql_is run.db 'SELECT state FROM study' running
is "$(act 'do=enqueue&words=lr%3D0.02+opt%3Dsgd')" 200 'a setting is enqueued'
for k in 'do=enqueue&words=' 'do=enqueue&words=lr' 'do=enqueue' \
    'do=enqueue&words=--help' 'do=enqueue&words=-x%3D1' \
    'do=enqueue&words=lr%3D0.1+--count%3D3' 'do=start' 'do=stop%00' do= '' \
    'do=stop&trial=--all' 'do=stop&trial=0' 'do=stop&trial=1x' 'do=stop&trial=' \
    'do=pause&trial=1'; do
	is "$(act "$k")" 400 "no such action: $k"
done
is "$(act 'do=enqueue&words=lr%3D7')" 409 'a wrong setting is an error'
like "$(cat body)" 'lr' 'and the answer names the parameter'
is "$(act 'do=stop&trial=9')" 409 'to stop a trial that does not exist is an error'
is "$(web post "$site" /s/run/do do=pause Origin:http://localhost)" 403 \
    'no action without the form token'
is "$(web post "$site" /s/run/do do=pause "X-Hpotune-Form:$form")" 403 \
    'no action without an origin'
is "$(web post "$site" /s/run/do do=pause Origin:http://evil.example \
    "X-Hpotune-Form:$form")" 403 'no action from another site'
is "$(web post "$site" /s/run do=pause Origin:http://localhost \
    "X-Hpotune-Form:$form")" 404 'no action at another address'
sql_is run.db 'SELECT state FROM study' running ||
    verdict 1 'none of them has paused the study'
is "$(act 'do=stop&trial=1')" 200 'a trial is stopped'
ok 'it is' retry sql_is run.db "SELECT state FROM trials WHERE trial = 1" cancelled
ok 'its log is over' retry eval \
    'web get "$site" "/s/run/trial/1/log?attempt=1&from=0" >out &&
    grep -q "^X-Over: 1" head'
for k in do=retry do=forget do=count do=tag 'do=note&trial=x&words=a' \
    'do=retry&trial=--failed' 'do=tag&trial=0&words=a'; do
	is "$(act "$k")" 400 "no such action: $k"
done
is "$(act 'do=note&trial=1&words=--%3Cb%3E+of+trial+1')" 200 'a note about a trial'
is "$(act 'do=tag&trial=1&words=good+late')" 200 'tags of a trial'
is "$(act 'do=tag&trial=1&words=-late+early')" 200 'one more, and one less'
is "$(sql run.db 'SELECT note, tags FROM trials WHERE trial = 1')" \
    '--<b> of trial 1|early, good' 'the trial has them'
is "$(act 'do=tag&trial=1&words=a%2Cb')" 409 'what is no tag is an error'
is "$(act 'do=forget&trial=1')" 200 'a trial is forgotten'
is "$(sql run.db 'SELECT forgotten FROM trials WHERE trial = 1')" 1 'it is'
is "$(web get "$site" /s/run/trial/1)" 200 'its page'
like "$(cat body)" 'data-do="count" data-trial="1"' 'offers to count it again'
unlike "$(cat body)" 'data-do="(retry|forget)"' 'and nothing else'
like "$(cat body)" '<dd>early, good</dd>' 'shows its tags'
like "$(cat body)" 'value="--&lt;b&gt; of trial 1"' 'and its note, to be changed'
is "$(web check body)" '' 'and is a page'
is "$(act 'do=count&trial=1')" 200 'it counts again'
web get "$site" /s/run/trial/1 >out
like "$(cat body)" 'data-do="retry" data-trial="1"' 'its page offers a retry'
is "$(act 'do=retry&trial=1')" 200 'it is retried'
is "$(sql run.db 'SELECT trial, state FROM retries')" '1|cancelled' 'it is'
is "$(act 'do=stop&trial=1')" 200 'and stopped again'
ok 'it is' retry sql_is run.db "SELECT state FROM trials WHERE trial = 1" cancelled
web get "$site" '/s/run?where=tags+%7E+early' >out
like "$(cat body)" '1 to 1 of 1\.' 'a filter finds it by its tag'
ok 'the enqueued setting is next' retry sql_is run.db \
    "SELECT json_extract(params, '\$.lr') FROM trials WHERE trial = 2" 0.02

# Logs, notes and databases that are something else.

echo secret >secret
attempt=run.d/trials/1/attempt-1
mv $attempt/log log.kept
ln -s "$dir/secret" $attempt/log
is "$(web get "$site" '/s/run/trial/1/log?attempt=1')" 404 'a link is no log'
unlike "$(cat body)" secret 'and is not followed'
is "$(web get "$site" /s/run/trial/1)" 200 'the page of its trial'
unlike "$(cat body)" secret 'does not follow it either'
rm $attempt/log
mkfifo $attempt/log
is "$(web get "$site" '/s/run/trial/1/log?attempt=1')" 404 'nor is a pipe'
rm $attempt/log
mv log.kept $attempt/log
ln -s "$dir/secret" run.d/note
retry listed "$site"
unlike "$(cat body)" secret 'a note is not followed'
rm run.d/note
mkfifo run.d/note pipe.db
mkdir folder.db
ln -s loop.db loop.db
is "$(web get "$site" /)" 200 'pipes hold nobody up'
retry listed "$site"
like "$(cat body)" 'pipe.db: not a regular file' 'and the list says what they are'
is "$(web get "$site" /s/pipe)" 503 'a pipe is no study'
is "$(web get "$site" /s/folder)" 503 'nor is a folder'
is "$(web get "$site" /s/loop)" 404 'nor a link to itself'
rm -r run.d/note pipe.db folder.db loop.db

# Studies beside each other.

web get "$site" '/compare?study=small&study=names' >out
like "$(cat body)" '<h2>Best value by time</h2>' 'compared by time'
for k in 'Not drawn: two: several objectives, so that no value is the best' \
    'Not drawn: nothing: no such study' 'Not drawn: late: .*: not a database' \
    'Their objectives differ: small maximizes acc, down minimizes acc\.'; do
	head -c 10000 /dev/zero >late.db
	[ -e down.db ] || {
		study down 3 -e s/maximize/minimize/
		"$HPOTUNE" start -q down.json
		web get "$site" '/compare?study=small&study=two&study=late&study=nothing&study=down' >out
	}
	like "$(cat body)" "$k" "what cannot be compared: $k"
done
is "$(web check body)" '' 'which is a page'
like "$(cat body)" '<a href="\./s/down">down</a>' 'names lead to pages'
is "$(web get "$site" '/compare?study=two&study=late')" 404 'nothing is left'
like "$(cat body)" 'two: several objectives' 'and why'
rm late.db two.db down.db
first_tick() { # number of the chart
	tr -d '\n' <body | sed 's/<h2>Best/\n&/g' | sed -n "$(($1 + 1))p" |
	    grep -o 'class="xt"[^>]*>[^<]*' | sed -n '1s/.*>//p'
}
web get "$site" '/compare?study=small&trials.x=20..40&time.x=1..9&time.y=x' >out
is "$(first_tick 1)" 20 'a range of trials'
is "$(first_tick 2)" 1s 'a range of seconds'
like "$(cat body)" '<a href="\?study=small#part-compare">the whole range<' \
    'and back'
web get "$site" '/compare?study=small&study=names' >out
best=$(sql small.db 'SELECT printf("%.6g", objective) FROM best')
like "$(tr -d '\n' <body)" "<td>small</td><td>[a-z]*</td><td>$best</td>" \
    'and in numbers'
unlike "$(cat body)" 'by cost' 'not by cost, when there is none'
cp small.db paid.db
sqlite3 paid.db 'UPDATE t_attempt SET gpus = 2, gpu_seconds = 7.25
    WHERE trial = 1; UPDATE t_trial SET cost = 0.5 WHERE trial <= 20'
web get "$site" /s/paid/trial/1 >out
like "$(tr -d '\n' <body | sed 's/.*<h2>Usage//')" \
    '^.*<tr><td class="n">1</td>.*<td class="n">2</td><td class="n">7.25</td>' \
    'a trial shows what it used'
is "$(web get "$site" '/compare?study=small&study=paid')" 200 'one that cost'
like "$(cat body)" '<h2>Best value by cost</h2>' 'is compared by cost'
is "$(web check body)" '' 'which is a page'
is "$(tr -d '\n' <body | sed 's/.*by cost//' | grep -o 'class="xt"[^>]*>[0-9]*<' |
    sed -n '$s/.*>\(.*\)<$/\1/p')" 10 'up to the cost of all trials'
rm paid.db

# The list: progress, time left, archived studies.

retry listed "$site"
like "$(cat body)" '<progress max="100" value="100" ' 'a study that is over: its bar'
is "$(act do=archive)" 200 'a study is archived'
ok 'which is a file' test -f run.d/archived
web get "$site" / >out
unlike "$(cat body)" '"\./s/run"' 'the list has it no more'
like "$(cat body)" 'href="\./\?archived=1">1 archived<' 'but says so'
web get "$site" '/?archived=1&find=RU' >out
like "$(cat body)" '"\./s/run"' 'there it is'
unlike "$(cat body)" '"\./s/small"' 'and the others are not'
is "$(web check body)" '' 'which is a page'
is "$(web get "$site" /s/run)" 200 'its own page is as before'
like "$(cat body)" 'data-do="restore"' 'and offers to bring it back'
is "$(act do=restore)" 200 'it is brought back'
ok 'the file is gone' test ! -e run.d/archived
web get "$site" / >out
like "$(cat body)" '"\./s/run"' 'the list has it'
is "$(act do=restore)" 200 'twice is no error'
is "$(act 'do=note&words=%3Cb%3E+of+Monday')" 200 'a note is saved'
is "$(cat run.d/note)" '<b> of Monday' 'as a file'
web get "$site" '/?find=MONDAY' >out
like "$(cat body)" '"\./s/run".*' 'by which it is found'
like "$(cat body)" '<div class="note">&lt;b&gt; of Monday</div>' \
    'and which the list shows as a text'
unlike "$(cat body)" '"\./s/small"' 'others are not found'
web get "$site" /s/run >out
like "$(cat body)" 'value="&lt;b&gt; of Monday"' 'its page has it, to be changed'
is "$(act 'do=note&words=a%0Ab')" 409 'a note has one line'
is "$(act "do=note&words=$(printf %0501d 0)")" 409 'of 500 bytes'
is "$(cat run.d/note)" '<b> of Monday' 'otherwise it stays'
is "$(act 'do=note&words=')" 200 'none'
ok 'removes it' test ! -e run.d/note
mkdir run.d/archived
is "$(act do=restore)" 409 'what cannot be removed is one'
rmdir run.d/archived

# Databases that come, go, and are none.

is "$(web get "$site" /s/late)" 404 'a study that is not there'
cp small.db late.db
is "$(web get "$site" /s/late)" 200 'until it is'
cp small.db other.db
is "$(web get "$site" /s/other/trial/1)" 200 'another one'
rm late.db
like "$(web get "$site" /s/late)" '^(404|503)$' 'it is removed'
is "$(web check body)" '' '… which a page says'
web get "$site" / >out
unlike "$(cat body)" '/s/late' 'and the list does not have it'
head -c 10000 /dev/zero >late.db
retry listed "$site"
like "$(cat body)" 'trouble' 'a file that is no database: the list says so'
is "$(web get "$site" /s/late)" 503 'and so does its page'
dd if=/dev/zero of=other.db bs=1000 seek=20 count=60 conv=notrunc 2>/dev/null
for k in /s/other /s/other/trial/1 /s/other/trial/1/line /; do
	like "$(web get "$site" "$k")" '^(200|404|503)$' "a damaged one: $k"
done
cp small.db new.db && mv new.db other.db
is "$(web get "$site" /s/other)" 200 'it is replaced'
rm -f other.db late.db

# Bad clients.

for k in silent slow endless; do
	# shellcheck disable=SC2046
	reap $(cat "many-$k.pid")
	is "$(cat "many-$k.out")" '' "300 $k clients are no trouble"
done
background deaf web deaf "$site" /s/run/live "$pages" "$dir/seen"
deaf=$child
web events "$site" /s/run/live '"name":"timeline"' >out
web events "$site" '/s/run/live' 'event: tick(.|\n)*event: tick' >out
touch seen
reap "$deaf"
ok 'a deaf client costs little' test "$(cat deaf.out)" -lt 24
ok 'the server is as it was' kill -0 "$pages"

# Sockets.

fails 'a second one on the same socket' 1 quietly "$HPOTUNE" web
like "$(cat err)" 'another hpotune web listens there' 'says so'
echo mine >file
fails 'what is no socket is not removed' 2 quietly "$HPOTUNE" web --socket file
is "$(cat file)" mine 'it is as it was'
fails 'a path that is too long' 2 quietly "$HPOTUNE" web \
    --socket "$(printf %0200d 0)"
kill -TERM "$pages"
reap "$pages"
is $? 0 'SIGTERM ends it'
ok 'the socket is removed' test ! -e "$site"
pages killed --socket s
kill -9 "$pages"
reap "$pages" 2>/dev/null
ok 'kill -9 leaves it' test -S s
rm killed.out
pages again --socket s --read-only run.json small.db
is "$(head -n 1 again.out)" "web: $dir/s" 'another one takes it'
site=$dir/s
is "$(web get "$site" /s/run)" 200 'the studies that are named'
is "$(web get "$site" /s/evil)" 404 'and no others'
is "$(web form "$site" /s/run)" '' 'read-only: no form token'
unlike "$(cat body)" '<button type="button"' 'and no buttons'
web get "$site" /s/run/trial/1 >out
unlike "$(cat body)" 'data-(do|words)=' 'read-only: no buttons on the page of a trial'
is "$(act do=pause)" 403 'read-only: an action is refused'
kill -INT "$pages"
reap "$pages"
is $? 0 'SIGINT ends it'

# Beside a server in the background.

study beside 100000 -e 's/step": 0,/step": 0.01,/'
"$HPOTUNE" start -d --web beside.json >out
is "$(sed -n 's/^web: //p' out)" "$dir/beside.d/web" \
    'a server in the background: the command prints where its pages are'
is "$(grep -c '^web: ' beside.d/server.log)" 1 'and so does the log'
is "$(web get "$dir/beside.d/web" /s/beside)" 200 'there they are'
stop_beside() { # its server has gone
	"$HPOTUNE" stop --now beside.json >out
	retry sh -c '! "$0" status --json beside.json | grep -q "\"server\":true"' \
	    "$HPOTUNE"
}
stop_beside
ok 'its end takes the socket away' test ! -S beside.d/web
"$HPOTUNE" start -d --web-port 0 --json beside.json >out
like "$(cat out)" '"web": "http://127\.0\.0\.1:[0-9]+/[0-9a-f]{32}/"\}$' \
    'also as JSON'
stop_beside
"$HPOTUNE" start -qd --web beside.json >out
is "$(cat out)" '' 'quietly'
ok 'its log has it' retry grep -q '^web: /' beside.d/server.log
stop_beside

# TCP.

pages tcp --port 0
echo "$pages" >tcp.pid
like "$(cat tcp.out)" '^web: http://127\.0\.0\.1:[0-9]+/[0-9a-f]{32}/$' \
    'a port of its own choice'
site=$(sed -n 's|^web: ||p' tcp.out)
port=${site#http://127.0.0.1:} port=${port%%/*}
secret=${site%/} secret=${secret##*/}
other=00000000000000000000000000000000
is "$(web table "127.0.0.1:$port" <<END
403 GET /
403 HEAD /
403 GET /s/small
403 GET /s/small/live
403 GET /s/nothing
403 GET /nothing
403 GET /?$secret
403 GET /s/$secret/
403 GET /$other/
403 GET /$other/s/small
403 GET /$other
403 GET /${secret}0/
403 GET //$secret/
403 GET /web.js/$secret/
403 GET / Cookie:hpotune-00000000=$secret
403 POST /s/small/do Origin:http://localhost =do=pause
403 POST /$other/s/small/do Origin:http://localhost =do=pause
403 POST /login Origin:http://localhost =token=$secret
403 GET /$secret/ Host:evil.example
403 GET /$secret/ Origin:http://evil.example
403 GET /$secret/ Origin:http://127.0.0.1:1
200 GET /web.css
200 GET /web.js
303 GET /$secret
200 GET /$secret/
200 HEAD /$secret/
200 GET /$secret/web.css
200 GET /$secret/web.js
200 GET /$secret/s/small
404 GET /$secret/nothing
404 GET /$secret/$secret/
END
)" '' 'nothing is shown without the secret'
web get "127.0.0.1:$port" / >out
is "$(web check body)" '' 'what is shown is a page'
like "$(cat body)" 'Open the address that hpotune web printed' \
    'an old bookmark says what to do'
unlike "$(cat body)" "data-form|small|script|$secret" 'and nothing else'
web get "127.0.0.1:$port" "/$secret" >out
like "$(cat head)" "^Location: /$secret/$" 'a slash that is missing is added'
for k in / /s/small /s/run '/compare?study=small' /s/small/trial/1 \
    '/s/small/trials?trial=1' /nothing; do
	web get "$site" "$k" >out
	unlike "$(cat body head)" "$secret|[Ss]et-[Cc]ookie" \
	    "$k: neither the secret nor a cookie"
	is "$(web check body)" '' '… and each link stays below it'
done
pages twice --port 0
is "$(web get "127.0.0.1:$(sed -n 's|.*:\([0-9]*\)/.*|\1|p' twice.out)" \
    "/$secret/")" 403 'the secret of one server opens no other one'
kill "$pages"
reap "$pages"
pages=$(cat tcp.pid)
form=$(web form "$site" /s/run)
is "$(act do=pause)" 200 'who has it may act'
touch end
"$HPOTUNE" stop run.json >out
reap "$server"
ok 'the pages see that the server is gone' retry eval \
    'web get "$site" / >out && ! grep -q ">alive<" body'
fails 'the port is taken' 1 quietly "$HPOTUNE" web --port "$port"
like "$(cat err)" 'port [0-9]*: Address already in use' 'and why'
kill "$pages"
reap "$pages"
for k in '--bind 127.0.0.1' '--port 1 --socket x' '--port 99999' '--port x' \
    '--port 0 --bind 0.0.0.0' '--port 0 --bind ::' '--port 0 --bind name' \
    nothing.json; do
	# shellcheck disable=SC2086 # words
	fails "web $k" 2 quietly "$HPOTUNE" web $k
done
for k in 'localhost 127.0.0.1' '127.0.0.2 127.0.0.2' 'box.example 0.0.0.0'; do
	name=${k% *} bind=${k#* }
	[ "$bind" = 0.0.0.0 ] && allow="--allow-host $name" || allow=
	# shellcheck disable=SC2086
	pages "bind-$bind" --port 0 --bind "$bind" $allow
	port=$(sed -n 's|.*:\([0-9]*\)/.*|\1|p' "bind-$bind.out")
	is "$(web get "127.0.0.1:$port" / "Host:$name:$port" 2>err ||
	    web get "127.0.0.2:$port" / "Host:$name:$port")" 403 \
	    "bound to $bind it answers to $name"
	like "$(cat body)" 'This address is not complete' 'but shows nothing'
	kill "$pages"
	reap "$pages"
done

for k in *.err; do
	[ ! -s "$k" ] || verdict 1 "$k: $(head -n 5 "$k")"
done
done_testing
