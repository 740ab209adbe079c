# Sourced after lib.sh by tests of second looks on other backends than plain
# processes: a study whose seventh trial a rule stops, and which would be the
# best, and a program of it.

# Two trials at a time.  The first one begins badly and becomes one of the best
# five, of which the median would thus have stopped one.  The seventh and the
# eighth are stopped at step 6, and no other one is behind the median.  There is no
# guard: it would wait for the end of the sixth, the best, which may be slow.  The
# budget has room for the seventh alone, also when one trial has not reported yet.
look_study() { # name keys-of-trial [keys-of-study]
	cat >"$1.json" <<-END
	{ "study": "$1",
	  "objective": { "metric": "loss", "goal": "minimize" },
	  "parameters": { "from": { "type": "float", "min": 0, "max": 20 },
	      "to": { "type": "float", "min": 0, "max": 20 } },
	  "strategy": { "name": "random", "seed": 1 },
	  "stopping": { "rule": "median", "guard": false },
	  "enqueue": [ { "from": 14, "to": 0.9 }, { "from": 1.4, "to": 1.4 },
	    { "from": 1.3, "to": 1.3 }, { "from": 1.29, "to": 1.29 },
	    { "from": 1.2, "to": 1.2 }, { "from": 0.8, "to": 0.8 },
	    { "from": 10, "to": 0.1 }, { "from": 9, "to": 9 },
	    { "from": 0.88, "to": 0.88 }, { "from": 0.87, "to": 0.87 },
	    { "from": 0.86, "to": 0.86 } ],
	  "trial": { $2, "max_steps": 20, "grace": 60 }${3:-},
	  "limits": { "trials": 11, "parallel": 2 } }
	END
}

# A line from one loss to another, with a checkpoint after each step; those that
# are to be stopped wait at step 6.  Several processes of a trial have one each,
# and write the steps they do into the folder of its output.
look_program() { # file
	cat >"$1" <<-'END'
	#!/usr/bin/perl
	use strict;
	$| = 1;
	my ($from, $to) = @ARGV;
	my $rank = $ENV{RANK} // $ENV{SLURM_PROCID} // 0;
	my $told = 0;
	$SIG{TERM} = sub { $told = 1 };
	my $saved = "$ENV{HPOTUNE_CHECKPOINT_DIR}/step-$rank";
	my $first = 1;
	if (open my $f, '<', $saved) { $first = <$f> + 1 }
	my $hold = $from >= 9 && $from < 12 && $ENV{HPOTUNE_ATTEMPT} == 1;
	open my $steps, '>>', "$ENV{HPOTUNE_OUTPUT_DIR}/steps-$rank" or exit 9;
	for my $step ($first .. 20) {
		syswrite $steps, "$step\n";
		printf "hpotune: step=%d loss=%.6g\n", $step,
		    $from + ($to - $from) * $step / 20 if $rank == 0;
		open my $f, '>', "$saved.new" or exit 8;
		print $f $step;
		close $f;
		rename "$saved.new", $saved;
		while ($hold && $step == 6) {
			exit 0 if $told;
			select undef, undef, undef, 0.02;
		}
	}
	END
	chmod +x "$1"
}

# What must be true of it when it has ended.
look_done() { # name
	is "$(sql "$1.db" "SELECT trial, step, verdict FROM stops
	    WHERE trial IN (7, 8) AND verdict IN ('stop', 'resume')
	    ORDER BY trial, time")" '7|6|stop
7|6|resume
8|6|stop' "$1: two are stopped, and one is resumed"
	is "$(sql "$1.db" "SELECT trial, hindsight, price, spent,
	    spent + price <= budget FROM stops WHERE rank IS NOT NULL")" \
	    '7|0.2|14|0|1' "$1: for 14 steps, within its budget"
	is "$(sql "$1.db" 'SELECT trial, state, step, attempts, objective
	    FROM trials WHERE trial IN (7, 8)')" '7|completed|20|2|0.1
8|stopped|6|1|9.0' "$1: to its end"
	is "$(sql "$1.db" 'SELECT resumed_step FROM attempts
	    WHERE trial = 7 AND attempt = 2')" 7 "$1: from its checkpoint"
	is "$(sql "$1.db" 'SELECT trial FROM best')" 7 "$1: it is the best"
	is "$(sql "$1.db" 'SELECT sum(failures), count(*) FROM t_trial')" \
	    '0|11' "$1: without a retry or another trial"
}
