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

# ./trial runs several trials at once, whose attempts have TRIAL.ATTEMPT in the place
# of the uuid.
ledger_program() {
	cat >trial <<-END
	#!/bin/sh
	cd "\${0%/*}" && exec $TOP_BUILDDIR/tests/tools/packed-program
	END
	chmod +x trial
	: >ledger
	: >slow
	ledger_id="trial || '.' || attempt"
	# What it had written for hpotune-pack goes with a process that is killed.
	ledger_ends="attempts.end_class = 'ok'"
	ledger_reports=$ledger_ends
}
ledger_id=uuid
# A node may fail after the last line of a program, and before its end is written.
ledger_ends="attempts.why IS NULL OR attempts.why NOT GLOB 'its node * failed'"
ledger_reports=1

# A clause a line for each fault; nothing when all is well.
ledger_faults() { # study trials
	awk '$1 == "begin" { print $3 }' ledger | sort | uniq -d |
	    sed 's/.*/attempt & has run twice/'
	# A line of an attempt after another one of its trial has begun.
	awk '$1 == "begin" { last[$2] = $3 }
	    last[$2] != $3 { print "trial " $2 " has run twice at once" }' \
	    ledger | sort -u
	ledger_lines() { # what which study: lines of such attempts
		sql "$3.db" "SELECT $ledger_id FROM t_attempt JOIN attempts
		    USING (trial, attempt) WHERE $2" >those
		awk -v what="$1" 'FILENAME == "those" { those[$1]; next }
		    $1 == what && $3 in those' those ledger
	}
	ledger_lines end "$ledger_ends" "$1" | cut -d' ' -f2 | sort -n |
	    uniq -d | sed 's/.*/trial & has ended twice/'
	[ "$(sql "$1.db" "SELECT count(*) FROM trials
	    WHERE state = 'completed'")" -eq "$2" ] ||
		sql "$1.db" "SELECT 'trial ' || trial || ' is ' || state || ': ' ||
		    coalesce(why, '') FROM trials WHERE state <> 'completed'"
	sql "$1.db" "SELECT 'attempt ' || attempt || ' of trial ' || trial ||
	    ' is open' FROM attempts WHERE ended IS NULL"
	sql "$1.db" "SELECT $ledger_id, step FROM t_attempt JOIN metrics
	    USING (trial, attempt)" | tr '|' ' ' | sort >recorded
	ledger_lines report "$ledger_reports" "$1" | awk '{ print $3, $4 }' |
	    sort -u | comm -23 - recorded | sed 's/.*/report & is lost/'
}
