#!/bin/sh
# A second look at a trial that was a job of Slurm: it is another job, which goes
# on from the checkpoint; also when the server is killed while it runs.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm.sh"
. "$TOP_SRCDIR/tests/support/sh/second-look.sh"
need sqlite3 perl
cluster_up

look_program trial
# In its second look it waits for the file go.
sed 's|^for my|if ($ENV{HPOTUNE_ATTEMPT} > 1) {\
	open my $f, ">", "$ENV{HPOTUNE_OUTPUT_DIR}/here" or exit 7;\
	select undef, undef, undef, 0.05 until -e "go";\
}\
&|' trial >t
cat t >trial
look_study jobs '"command": ["./trial", "{from}", "{to}"]' ',
  "backend": { "name": "slurm" }'
server -q jobs.json
ok 'a trial has its second look' retry test -e jobs.d/trials/7/output/here
kill -9 "$server"
reap "$server" 2>/dev/null
touch go
ok 'the next server ends the study' quietly timeout 300 "$HPOTUNE" start -q jobs.json
look_done jobs
is "$(sql jobs.db 'SELECT count(DISTINCT place) FROM attempts
    WHERE trial = 7')" 2 'jobs: each attempt is a job'
is "$(tr '\n' ' ' <jobs.d/trials/7/output/steps-0)" "$(seq -s ' ' 20) " \
    'jobs: each step is done once'

done_testing
