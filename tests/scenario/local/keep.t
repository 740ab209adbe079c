#!/bin/sh
# "keep": checkpoints of ended trials are deleted unless they are needed.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

need sqlite3

study() { # name stopping keep command [more]
	cat >"$1.json" <<END
{
  "study": "$1",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "int", "min": 1, "max": 9 } },
  "strategy": { "name": "grid", "shuffle": false, "seed": 4 },
  "stopping": $2,
  $3
  "trial": { "command": ["sh", "-c", "$4"], "grace": 1, "retries": 1 },
  "limits": { "trials": 9, "parallel": 1 }
}
END
}
left() { # study: the trials that have a checkpoint
	for number in 1 2 3 4 5 6 7 8 9; do
		[ ! -e "$1.d/trials/$number/checkpoint/model" ] ||
		    printf '%s ' "$number"
	done
}
left_are() { # study trials
	[ "$(left "$1")" = "$2" ]
}
save='cd \"$HPOTUNE_CHECKPOINT_DIR\" && echo {x} >model && mkdir -p deep/er \
    && echo >deep/er/file && echo hpotune: step=1 loss=$((({x} - 4) * ({x} - 4)))'
save=$(printf %s "$save" | tr -d '\n\\' | sed 's/"/\\"/g')

study all '"none"' '' "$save"
"$HPOTUNE" start --quiet all.json
is "$(left all)" '1 2 3 4 5 6 7 8 9 ' 'without keep every checkpoint stays'
fails 'clean without keep is an error' 1 quietly "$HPOTUNE" clean all.json
like "$(cat err out)" 'study\.json has no "keep"' 'the error names the key'

# Afterwards, by hand.
study all '"none"' '"keep": { "best": 2, "last": 1 },' "$save"
like "$("$HPOTUNE" check all.json)" \
    '^checkpoints of the 2 best and the 1 last trials are kept$' \
    'check shows what is kept'
like "$("$HPOTUNE" clean --dry-run all.json)" \
    '^6 of 9 checkpoints would be deleted: .* KiB: trials 1, 2, 5, 6, 7, 8$' \
    'clean --dry-run lists what it would delete'
is "$(left all)" '1 2 3 4 5 6 7 8 9 ' 'it deletes nothing'
like "$("$HPOTUNE" clean --json all.json)" '"trial": *1,' \
    'clean lists what it deletes'
is "$(left all)" '3 4 9 ' 'clean keeps the best two and the last'
ok 'nothing is left of the others' test ! -e all.d/trials/trash
is "$(sql all.db "SELECT count(*), min(text LIKE 'its checkpoint is deleted: %')
    FROM events WHERE area = 'checkpoint'")" '6|1' 'each has an event'
like "$("$HPOTUNE" show all.json 1)" 'its checkpoint is deleted: ' \
    'show says that the checkpoint is gone'
like "$("$HPOTUNE" clean all.json)" '^0 of 3 checkpoints are deleted' \
    'a second clean has nothing to do'

# While the study runs.
study live '"none"' '"keep": { "best": 1 },' \
    "$save; ls ../../*/checkpoint/model | wc -l >>../../../seen"
ok 'a study deletes while it runs' "$HPOTUNE" start --quiet live.json
is "$(left live)" '4 ' 'the best one stays'
is "$(sort -n live.d/seen | tail -n 1)" 2 \
    'at no time are there more than the best one and the running one'

# Links are never followed.
mkdir precious
echo 1 >precious/model
ln -s "$PWD/precious" link
study links '"none"' '"keep": { "best": 0 },' \
    "$save; cd ..; ln -s $PWD/precious checkpoint/out; \
[ {x} != 2 ] || ( rm -rf checkpoint; ln -s $PWD/precious checkpoint ); \
[ {x} != 3 ] || ( cd ..; mv 3 old; mkdir -p $PWD/else/checkpoint; \
echo 1 >$PWD/else/checkpoint/model; ln -s $PWD/else 3 )"
"$HPOTUNE" start --quiet links.json >/dev/null 2>&1
is "$(cat precious/model else/checkpoint/model)" '1
1' 'what links point to is not deleted'
ok 'a link in the place of a checkpoint is' test ! -L links.d/trials/2/checkpoint

# A trial that puts a link in the place of the trash.
study trash '"none"' '"keep": { "best": 1 },' \
    "$save; [ {x} != 1 ] || ln -s $PWD/precious ../../trash"
"$HPOTUNE" start --quiet trash.json
is "$(cat precious/*)" 1 'nothing is moved through a link'
like "$(sql trash.db "SELECT text FROM events WHERE area = 'checkpoint'")" '^the checkpoint of trial 1 could not be deleted: ' \
    'an event says that a checkpoint could not be deleted'

# What may be continued stays: stopped trials that may get a second look.
waits='[ {x} = 1 ] && sleep 600; [ {x} = 2 ] && until [ -e ../../../../go ]; \
do sleep 0.1; done; exit 0'
waits=$(printf %s "$waits" | tr -d '\n\\')
for share in 50 0; do
	rm -f go
	study "look$share" "{ \"rule\": \"threshold\", \"upper\": 8,
	    \"second_look\": \"$share%\" }" '"keep": { "best": 0 },' \
	    "$save; $waits"
	sed -i 's/"trials": 9/"trials": 2/; s/"retries": 1 }/"max_steps": 5 }/' \
	    "look$share.json"
	"$HPOTUNE" start --quiet "look$share.json" >/dev/null 2>&1 &
	server=$!
	retry test -e "look$share.d/trials/2/checkpoint/model"
	[ "$share" = 50 ] && want='1 2 ' || want='2 '
	ok "a stopped trial, second looks of $share %" retry left_are \
	    "look$share" "$want" || diag "$(left "look$share")"
	echo >go
	wait "$server"
done

# Members of a population go on from checkpoints of ended trials.
cat >train <<'END'
#!/bin/sh
cd "$HPOTUNE_CHECKPOINT_DIR" || exit 1
step=0
[ ! -e model ] || read -r step <model
while [ "$step" -lt "$HPOTUNE_UNTIL_STEP" ]; do
	step=$((step + 1))
	echo "$step" >model
	echo "hpotune: step=$step loss=$1"
done
END
chmod +x train
cat >members.json <<'END'
{ "study": "members",
  "objective": { "metric": "loss", "goal": "minimize", "value": "last" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "pbt", "seed": 3, "population": 3,
      "perturbation_interval": 2, "quantile_fraction": 0.4 },
  "stopping": "none", "keep": { "best": 0 },
  "trial": { "command": ["./train", "{x}"], "retries": 1 },
  "limits": { "trials": 9, "parallel": 2 } }
END
ok 'a population runs' "$HPOTUNE" start --quiet members.json
is "$(sql members.db "SELECT state, count(*) FROM trials GROUP BY state")" \
    'completed|9' 'no trial lacks the checkpoint that it continues'
is "$(left members)" '' 'none of them is left at the end'

# A kill between the record and the deletion: the next server deletes.
faulty=$TOP_BUILDDIR/tests/torture/hpotune-fail
study killed '"none"' '"keep": { "best": 1 },' "$save"
HPOTUNE_FAIL=checkpoints.before_rename=kill "$faulty" start --quiet killed.json \
    >/dev/null 2>&1
like "$(left killed)" '^1 2 ' 'a server is killed before it deletes'
ok 'the study goes on' "$HPOTUNE" start --quiet killed.json
is "$(left killed)" '4 ' 'the best one stays'
mkdir -p killed.d/trials/trash/7
echo >killed.d/trials/trash/7/rest
"$HPOTUNE" clean killed.json >/dev/null
ok 'what an earlier server had not deleted is deleted' test ! -e killed.d/trials/trash

done_testing
