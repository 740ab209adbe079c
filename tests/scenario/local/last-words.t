#!/bin/sh
# A trial that fails says why: its last words are in why, in the log, in status
# and in show.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

cat >train <<'EOF'
#!/bin/sh
echo "reading data"
echo "hpotune: step=1 loss=0.5"
printf 'at 10 %%\rat 20 %%\r\033[31mValueError\033[0m: bad learning rate\n\n' >&2
echo "======"
exit 3
EOF
chmod +x train
cat >study.json <<'EOF'
{ "study": "s", "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "trial": { "command": ["./train"], "gpus": 0, "retries": 0 },
  "limits": { "trials": 1 } }
EOF
"$HPOTUNE" start study.json >out 2>&1
is "$(sql s.db "SELECT state, why FROM results JOIN trials USING (trial, state)")" \
    'failed|exit status 3: ValueError: bad learning rate' \
    'why: the exit status and the last line that says something, without colours'
like "$(cat out)" '1 failed: exit status 3: .*ValueError' 'the log has it'
"$HPOTUNE" status study.json >out
like "$(cat out)" '^failed: trial 1: exit status 3: .*bad learning rate$' \
    'status has it'
"$HPOTUNE" show study.json 1 >out
like "$(cat out)" '^why: exit status 3: .*ValueError' 'show has it'
is "$(sed -n '/^the end of its log/,$p' out)" 'the end of its log
reading data
hpotune: step=1 loss=0.5
at 10 %\x0dat 20 %\x0d\x1b[31mValueError\x1b[0m: bad learning rate

======' 'and the last lines of the log, made harmless'
done_testing
