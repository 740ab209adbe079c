#!/bin/sh
# A second look at a packed trial: its stop frees a place of the program, which
# runs on, and the trial is begun again from its checkpoint.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/second-look.sh"
need sqlite3 perl

# The trials of look_program in one process.
cat >trial.pl <<'END'
use strict;
$| = 1;
open my $starts, '>>', 'starts' or exit 9;
print $starts "$$\n";
close $starts;
my (%trials, $in);
my $open = 1;
sub hear {
	my ($line) = @_;
	my ($what, $trial, $attempt) =
	    $line =~ /^\{"(start|stop)":(\d+),"attempt":(\d+)/ or return;
	if ($what eq 'stop') {
		print "{\"trial\":$trial,\"end\":0}\n" if delete $trials{$trial};
		return;
	}
	my ($from) = $line =~ /"from":([\d.]+)/;
	my ($to) = $line =~ /"to":([\d.]+)/;
	my ($dir) = $line =~ /"checkpoint_dir":"([^"]+)"/;
	my $step = 0;
	if (open my $f, '<', "$dir/step") { $step = <$f> + 0 }
	$trials{$trial} = { from => $from, to => $to, dir => $dir,
	    step => $step, hold => $from >= 9 && $from < 12 && $attempt == 1 };
}
while ($open) {
	my $ready = '';
	vec($ready, 0, 1) = 1;
	if (select $ready, undef, undef, 0.01) {
		$open = sysread STDIN, $in, 4096, length($in // '');
		hear($1) while $in =~ s/^(.*)\n//;
	}
	for my $trial (sort keys %trials) {
		my $t = $trials{$trial};
		next if $t->{hold} && $t->{step} == 6;
		my $step = ++$t->{step};
		printf "{\"trial\":%d,\"step\":%d,\"loss\":%.6g}\n", $trial,
		    $step, $t->{from} + ($t->{to} - $t->{from}) * $step / 20;
		open my $f, '>', "$t->{dir}/new" or exit 8;
		print $f $step;
		close $f;
		rename "$t->{dir}/new", "$t->{dir}/step";
		next if $step < 20;
		print "{\"trial\":$trial,\"end\":0}\n";
		delete $trials{$trial};
	}
}
END
look_study packed '"command": ["perl", "trial.pl"], "pack": 2'
ok 'a study of packed trials' quietly timeout 300 "$HPOTUNE" start -q packed.json
look_done packed
# One that a slow server leaves without trials for 5 s ends.
ok 'packed: one program had several' test "$(wc -l <starts)" -lt 8
is "$(sql packed.db 'SELECT count(*), count(DISTINCT step) FROM metrics
    WHERE trial = 7')" '20|20' 'packed: each step is done once'

done_testing
