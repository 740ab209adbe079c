#!/bin/sh
# hpotune web in Chromium: pointing, brushing, the table, logs, actions, looks.
# With $HPOTUNE_TEST_SHOTS it leaves screenshots in that folder.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3 python3
command -v chromium >/dev/null ||
    skip_all 'NOT TESTED: chromium is not installed'

cat >train.sh <<'END'
#!/bin/sh
if [ "$HPOTUNE_TRIAL" -gt 1 ]; then
	for i in 1 2 3 4 5 6; do echo "hpotune: step=$i acc=0.$i$1"; done
	exit 0
fi
i=1
while [ -e "$2" ]; do
	echo "hpotune: step=$i acc=0.3$i"
	i=$((i + 1))
	sleep 0.1
done
END
chmod +x train.sh
cat >run.json <<END
{ "study": "run",
  "objective": { "metric": "acc", "goal": "maximize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 },
    "opt": { "type": "choice", "values": ["sgd", "adam"] } },
  "strategy": { "name": "random", "seed": 5 }, "stopping": "none",
  "trial": { "command": ["./train.sh", "0", "$dir/train.sh"],
    "max_steps": 100000 },
  "limits": { "trials": 21, "parallel": 2 } }
END
server run.json -q
retry sql_is run.db "SELECT count(*) FROM trials WHERE state = 'completed'" 20
quietly "$HPOTUNE" report run.json
background pages "$HPOTUNE" web --port 0
retry grep -q '^web: ' pages.out
python3 "$TOP_SRCDIR/tests/scenario/web/browser.py" \
    "$(sed -n 's/^web: //p' pages.out)" ${HPOTUNE_TEST_SHOTS:+"$HPOTUNE_TEST_SHOTS"} \
    >seen 2>why
is $? 0 'the browser does what it is asked' || diag "$(tail -n 5 why)"
while IFS= read -r line; do
	case $line in
	+*) verdict 0 "${line#+ }" ;;
	*) verdict 1 "${line#- }" ;;
	esac
done <seen
is "$(sql run.db 'SELECT state FROM trials WHERE trial = 1')" cancelled \
    'the trial was stopped'
done_testing
