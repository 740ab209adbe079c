# Sourced after slurm.sh by tests that kill: a trial that keeps a ledger of its
# own, and what it says against the database.

# ./trial reports steps with 0.2 seconds between them, or as many as are given; it
# ends when there is no file "hold" beside it.
ledger_trial() { # steps [seconds]
	cat >trial <<-END
	#!/bin/sh
	say() {
		echo "\$1 \$HPOTUNE_TRIAL \$HPOTUNE_ATTEMPT_UUID \$2 \$SLURMD_NODENAME" >>"\${0%/*}/ledger"
	}
	say begin 0
	step=0
	while [ \$step -lt $1 ]; do
		step=\$((step + 1))
		echo "hpotune: step=\$step loss=\$1"
		say report \$step
		# When it is ended from outside, it may be the first of both.
		sleep ${2:-0.2} || exit
	done
	while [ -e "\${0%/*}/hold" ]; do sleep 0.1; done
	# Its last line and its exit are one: a signal between them would not be.
	trap '' TERM
	say end 0
	END
	chmod +x trial
	: >ledger
}

# A clause a line for each fault; nothing when all is well.
ledger_faults() { # study trials
	awk '$1 == "begin" { print $3 }' ledger | sort | uniq -d |
	    sed 's/.*/attempt & has run twice/'
	# A line of an attempt after another one of its trial has begun.
	awk '$1 == "begin" { last[$2] = $3 }
	    last[$2] != $3 { print "trial " $2 " has run twice at once" }' \
	    ledger | sort -u
	# A node may fail after the last line of a program, and before its end is written.
	sql "$1.db" "SELECT uuid FROM t_attempt JOIN attempts USING (trial, attempt)
	    WHERE attempts.why GLOB 'its node * failed'" >on-failed
	awk '$1 == "end"' ledger | grep -vFf on-failed | cut -d' ' -f2 | sort -n |
	    uniq -d | sed 's/.*/trial & has ended twice/'
	[ "$(sql "$1.db" "SELECT count(*) FROM trials
	    WHERE state = 'completed'")" -eq "$2" ] ||
		sql "$1.db" "SELECT 'trial ' || trial || ' is ' || state || ': ' ||
		    coalesce(why, '') FROM trials WHERE state <> 'completed'"
	sql "$1.db" "SELECT 'attempt ' || attempt || ' of trial ' || trial ||
	    ' is open' FROM attempts WHERE ended IS NULL"
	sql "$1.db" 'SELECT uuid, step FROM t_attempt JOIN metrics
	    USING (trial, attempt)' | tr '|' ' ' | sort >recorded
	awk '$1 == "report" { print $3, $4 }' ledger | sort -u |
	    comm -23 - recorded | sed 's/.*/report & is lost/'
}
