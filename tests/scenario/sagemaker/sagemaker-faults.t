#!/bin/sh
# A study of training jobs under all faults: by seed the stand-in AWS throttles,
# fails before and after acting, loses answers, acts late, skews its clock,
# expires keys, delays and repeats log lines, interrupts spot jobs and runs out
# of machines; and the server is killed in between.  The journal of the stand-in
# is the judge: no job started twice, none left running, no result lost.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/standin.sh"
need sqlite3 awk

seeds=${HPOTUNE_FAULT_SEEDS-1 2}
trials=24

# A curve that its parameter alone decides; it goes on from its checkpoint and
# remembers in a place of the test's own what it has said.
mkdir code said
cat >code/trial <<END
#!/bin/sh
x=\$SM_HP_X
c=\$HPOTUNE_CHECKPOINT_DIR
i=0
[ ! -e \$c/step ] || i=\$(cat \$c/step)
while [ \$i -lt 6 ]; do
	i=\$((i + 1))
	v=\$(awk "BEGIN { printf \"%.6f\", (\$x - 0.3) ^ 2 + 1 / \$i }")
	echo "hpotune: step=\$i loss=\$v"
	echo "\$HPOTUNE_TRIAL|\$i|\$v" >>$dir/said/\$HPOTUNE_TRIAL
	echo \$i >\$c/step.new
	mv \$c/step.new \$c/step
	sleep 0.1
done
END
chmod +x code/trial

cat >faults.json <<'END'
{ "throttle": 0.08, "error500_before": 0.04, "error503_before": 0.03,
  "error500_after": 0.05, "drop_before": 0.03, "drop_after": 0.05,
  "twice": 0.05, "clock_skew": { "seconds": 600 },
  "late_create": [{ "p": 0.08, "seconds": [0.2, 1.5] }],
  "delay": { "p": 0.03, "seconds": [0.05, 0.3] },
  "retry_after": { "p": 0.02, "seconds": 0.1 },
  "stale_list": { "p": 0.3, "seconds": 1 }, "list_empty_page": 0.1,
  "expire_credentials": { "every": 100 },
  "log_delay": { "p": 0.3, "seconds": [0.005, 0.03] }, "log_duplicate": 0.1,
  "log_empty_page": 0.2, "log_token_expired": 0.05,
  "spot_interrupt": { "p": 0.4, "seconds": [0.1, 0.5] },
  "no_capacity": { "p": 0.1, "max": 10 }, "spot_ignored": 0.05,
  "internal_failure": { "p": 0.05, "max": 5 } }
END

block=$(sagemaker_block '"spot": true' '"max_wait": "2h"' \
    '"on_demand_after": 2' | sed 's/"pace": 50/"pace": 200/')
cat >study.json <<END
{ "study": "cloud",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "random", "seed": 5 }, "stopping": "none",
  "trial": { "command": ["./trial", "{params}"], "max_steps": 6 },
  "backend": $block,
  "limits": { "trials": $trials, "parallel": 6 } }
END

all_faults=0

# The server dies without warning while it runs, three times.
deaths() {
	for death in 1 2 3; do
		retry sql_is cloud.db "SELECT count(*) >= 6 * $death FROM trials
		    WHERE state IN ('completed', 'running')" 1 || return 1
		kill -9 $server
		reap $server 2>/dev/null
		server study.json
	done
}

for seed in $seeds; do
	rm -rf aws cloud.db* cloud.d said/*
	standin --speed 200 --seed $seed --faults faults.json --keep "$dir"
	# Keys of a container, which expire; the last run has those of the account,
	# whose secret is looked for below.
	if [ $((seed % 2)) = 1 ]; then
		unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY
		AWS_CONTAINER_CREDENTIALS_FULL_URI=$AWS_ENDPOINT_URL/v2/credentials/room
		export AWS_CONTAINER_CREDENTIALS_FULL_URI
	fi
	server study.json
	ok "seed $seed: the server is killed and comes again" deaths
	ended() {
		! kill -0 $server 2>/dev/null
	}
	ok "seed $seed: the study comes to its end" retry ended
	kill -9 $server 2>/dev/null
	reap $server
	is $? 0 "seed $seed: and ends well" || diag "$(tail -n 20 server.err)"
	is "$(sql cloud.db "SELECT count(*), sum(state = 'completed')
	    FROM trials")" "$trials|$trials" "seed $seed: every trial completed" ||
	    diag "$(sql cloud.db "SELECT trial, state, why FROM trials
	    WHERE state <> 'completed'")"
	cat said/* | sort -t '|' -k 1n -k 2n -u >said.all
	sql cloud.db "SELECT trial, step, printf('%.6f', value)
	    FROM curves ORDER BY trial, step" >recorded
	ok "seed $seed: no result is lost, none is made up" \
	    cmp -s said.all recorded || diag "$(diff said.all recorded)"
	proved_clean "seed $seed"
	sql cloud.db 'SELECT uuid FROM t_attempt' | sort >rows
	sed -n '/"acted":true/s/.*"hpotune:attempt":"\([^"]*\)".*/\1/p' \
	    aws/requests.jsonl | sort >jobs
	is "$(wc -l <jobs)" "$(proved jobs)" "seed $seed: their tags are read"
	is "$(comm -13 rows jobs)" '' "seed $seed: every job has its row"
	is "$(uniq -d jobs)" '' "seed $seed: no attempt has two jobs"
	[ $((seed % 2)) = 0 ] ||
	    like "$(proved errors)" ExpiredToken "seed $seed: keys expired"
	kill $standin
	reap $standin
	n=$(proved faults | tr -d '{}"' | tr ',' '\n' |
	    awk -F ': ' '{ n += $2 } END { print n }')
	diag "seed $seed: $n faults, $(proved jobs) jobs"
	all_faults=$((all_faults + n))
done
ok "there were many faults ($all_faults)" test $all_faults -ge 1000

# Nothing that was written holds the secret.
ok 'the secret is in no file of the study' \
    test -z "$(grep -rl canary-secret cloud.db* cloud.d server.* 2>/dev/null)"

done_testing
