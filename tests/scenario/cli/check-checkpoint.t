#!/bin/sh
# hpotune check --checkpoint: a trial that goes on from its checkpoint, and trials
# that do not, each for another reason.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

need sqlite3 perl

mkdir study tmp
TMPDIR=$PWD/tmp
export TMPDIR
# A loss that falls by a tenth at each step, with a checkpoint after each.  In the
# first run it goes to its end; then it waits at step 8 until it is stopped.
cat >study/trial.pl <<'E2'
use strict;
$| = 1;
my ($mode, $x) = @ARGV;
my $told = 0;
$SIG{TERM} = sub { $told = 1 };
my $saved = "$ENV{HPOTUNE_CHECKPOINT_DIR}/state";
my ($first, $loss, $last) = (1, $x, $mode eq 'short' ? 3 :
    $mode eq 'bad' ? 11 : 12);
my $second = -e "whole.$mode";
if ($mode ne 'ignores' && open my $f, '<', $saved) {
	($first, $loss) = split ' ', <$f>;
	$first++;
	$first++ if $mode eq 'skips';
	$loss = $x if $mode eq 'forgets';
	exit 3 if $mode eq 'fails';
}
my $resumed = $ENV{HPOTUNE_ATTEMPT} > 1;
select undef, undef, undef, 14 if $resumed && $mode eq 'long';
for my $step ($first .. $last) {
	$loss *= 0.9;
	my $noise = $mode ne 'noise' ? 0 : $step * ($second ? 1e-3 : 2e-3);
	printf "hpotune: step=%d loss=%.9g\n", $step, $loss + $noise;
	if ($mode ne 'none' && open my $f, '>', "$saved.new") {
		printf $f "%d %.17g\n", $step, $loss;
		close $f;
		rename "$saved.new", $saved;
	}
	next if $mode eq 'quick';
	for (my $i = 0; $second && !$resumed && $step == 8 && $i < 5000; $i++) {
		select undef, undef, undef, 0.02;
		exit 0 if $told;
	}
}
if (open my $f, '>', "whole.$mode") { close $f }
exit 2 if $mode eq 'bad' || $mode eq 'late';
E2
check() { # mode option …
	mode=$1
	shift
	cat >study/study.json <<E2
{ "study": "demo", "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 1, "max": 2 } },
  "stopping": { "rule": "threshold", "upper": 0.01 },
  "trial": { "command": ["perl", "trial.pl", "$mode", "{x}"],
      "max_steps": 12, "grace": "10s" },
  "limits": { "trials": 4 } }
E2
	(cd study && "$HPOTUNE" check --checkpoint "$@" >../out 2>../err)
}
part() { # path
	sqlite3 :memory: "SELECT json_extract(readfile('out'), '\$$1')"
}

check good
is $? 0 'a trial that resumes' || diag "$(cat out err)"
is "$(cat out)" 'without a stop  12 reports of loss, up to step 12
stopped         after step 8, with 1 file of a checkpoint
resumed         at step 9, 0 steps repeated
difference      0 before the stop, 0 after it, of a curve that spans '"$(
    sed -n 's/.*spans //p' out)"'

The trial goes on from its checkpoint to the same curve.' 'what was compared'
is "$(find tmp study -newer study/study.json ! -type d | sort)" \
    'study/whole.good' 'nothing is left behind'

fault() { # mode what pattern
	check "$1" --json
	is $? 1 "$2: exit status" || diag "$(cat out err)"
	is "$(part .resumes)" 0 "$2: it does not resume"
	like "$(part .why)" "$3" "$2: the reason"
}
fault none 'no checkpoint' '^it leaves no file in .HPOTUNE_CHECKPOINT_DIR'
is "$(part .files)" 0 'there is no file'
fault ignores 'a checkpoint that is not read' '^it begins again at step 1'
is "$(part .repeated)" 8 'all steps are repeated'
fault forgets 'a part of the state is missing' \
    '^after the stop its curve differs by up to .* before it by 0: '
is "$(sqlite3 :memory: "SELECT json_extract(readfile('out'),
    '\$.difference') > 0.5 * json_extract(readfile('out'), '\$.range')")" 1 \
    'by more than half of what it spans'
fault skips 'steps that nobody runs' '^1 steps are missing'
fault fails 'an attempt that fails' '^the resumed trial is failed: '

check noise --json
is "$?|$(part .resumes)" '0|1' 'noise as before the stop is none of it'
is "$(printf '%.6f' "$(part .noise)")" 0.008000 'the greatest before it'

check quick
is $? 1 'a trial that ends too soon'
like "$(cat err)" 'ended before it could be stopped: expected one that runs for' \
    'the reason'
check short
is "$?|$(cat err)" '1|hpotune: check --checkpoint: the trial reports loss at 3 steps: 4 are needed to stop it in between' \
    'too few reports'
check bad
is $? 1 'a trial that fails without a stop'
like "$(cat err)" 'the run without a stop is failed: ' 'the reason, too'
check late
is $? 0 'a status after the last step is no failure'
check long
is "$?|$(cat err)" '0|' \
    'the stop does not end the process while a long trial resumes'
check good --log out
is "$?|$(cat err)" '2|hpotune: check: --checkpoint runs a trial: omit --log' \
    'both at once'
sed 's/"trial": {/"backend": "pretend", "trial": {/' study/study.json >p.json
fails 'another backend' 2 quietly "$HPOTUNE" check --checkpoint p.json
like "$(cat err)" 'check --checkpoint runs a trial on this machine, and the backend pretend' \
    'is named'

done_testing
