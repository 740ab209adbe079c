#!/bin/sh
# Kernels without pidfd_open and containers that deny it: trials are stopped and
# adopted, ends of helpers are noticed, as elsewhere.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

without=$TOP_BUILDDIR/tests/tools/without
calls=pidfd_open,pidfd_send_signal
"$without" ENOSYS $calls true 2>err || skip_all "$(cat err)"

# Whole units: they start, stop and adopt, and find no difference.  They wait
# more than they compute, so all of them run at once.
cat >units <<'END'
1 ENOSYS pidfd_open,pidfd_send_signal local/t_local without pidfd_open
2 ENOSYS pidfd_open,pidfd_send_signal local/t_adopt without pidfd_open
3 ENOSYS pidfd_open,pidfd_send_signal base/t_child without pidfd_open
4 EPERM pidfd_open,pidfd_send_signal local/t_local where it is denied
5 EPERM pidfd_open,pidfd_send_signal base/t_child where it is denied
6 EPERM pidfd_send_signal local/t_local where only signals are denied
END
while read -r n error denied unit words; do
	mkdir "unit-$n"
	(
		cd "unit-$n" || exit 99
		TMPDIR=$PWD "$without" "$error" "$denied" \
		    "$TOP_BUILDDIR/tests/unit/$unit" >out 2>&1
		echo $? >status
	) &
done <units
wait
while read -r n error denied unit words; do
	is "$(cat "unit-$n/status")" 0 "$unit: $words" ||
	    diag "$(grep -v '^ok' "unit-$n/out")"
done <units

# A server: a trial that the user stops, one that its end stops.
cat >trial <<'END'
#!/bin/sh
trap 'echo "$HPOTUNE_TRIAL" >>told; exit 0' TERM
echo 'hpotune: step=1 score=1'
while :; do sleep 0.05; done
END
chmod +x trial
cat >study.json <<'END'
{ "study": "old",
  "objective": { "metric": "score", "goal": "maximize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": "random", "stopping": "none",
  "trial": { "command": ["./trial"], "grace": 1000 },
  "limits": { "trials": 2, "parallel": 1 } }
END
background server "$without" ENOSYS $calls "$HPOTUNE" start study.json --quiet
server=$child
ok 'a trial runs' retry sql_is old.db \
    'SELECT count(*) FROM metrics WHERE trial = 1' 1
ok 'stop is heard' quietly "$HPOTUNE" stop old.db 1
ok 'the next trial runs' retry sql_is old.db \
    'SELECT count(*) FROM metrics WHERE trial = 2' 1
is "$(cat told)" 1 'the first one received the stop'
is "$(sql old.db 'SELECT trials.state, end_class FROM attempts JOIN trials
    USING (trial) WHERE trial = 1')" 'cancelled|user' 'and it has ended'
kill -INT $server
reap $server
is $? 3 'Ctrl-C ends the study'
is "$(tail -n 1 told)" 2 'and its trial with grace'
done_testing
