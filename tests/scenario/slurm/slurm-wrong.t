#!/bin/sh
# Bad input of the backend slurm is found by check, with one clear error; doctor
# says what is missing on the cluster.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm.sh"
cluster_up

printf '#!/bin/sh\necho "hpotune: step=1 loss=$1"\n' >trial
chmod +x trial
wrong() { # keys pattern what
	slurm_study wrong '"trials": 1' '"grace": 5' ", $1"
	"$HPOTUNE" check wrong.json >out 2>err
	is $? 2 "$3: exit status 2"
	like "$(cat err)" "$2" "$3"
	is "$(wc -l <err)" 1 '… in one line'
}
wrong '"partition": "nowhere"' 'Slurm does not accept such jobs: .*[Ii]nvalid partition' \
    'an unknown partition'
wrong '"gpus": "h100:1"' 'Requested node configuration is not available' \
    'an unknown type of GPU'
wrong '"gpus": "a100:"' 'backend\.gpus: expected a number of GPUs, or TYPE:NUMBER' \
    'GPUs without a number'
wrong '"cpus": 0' 'backend\.cpus: expected' 'no cores'
wrong '"partition": "short", "time": "2h"' \
    'a job gets 120 minutes .*, but its partition gives 1 at most' \
    'more time than the partition gives'
wrong '"time": "20s"' 'backend\.time: expected' 'less than a minute'
wrong '"extra": ["reservation=x"]' 'expected an option of sbatch' \
    'an extra word that is no option'
wrong '"extra": ["--output=x"]' 'hpotune sets this option of sbatch itself' \
    'an option that is ours'
wrong '"partion": "main"' 'partion: unknown key; did you mean "partition"' 'a misspelt key'
wrong '"memory": "64GiB"' 'Slurm does not accept such jobs: ' \
    'more memory than any node has'

slurm_study good '"trials": 1' '"grace": 5' ', "gpus": 1'
"$HPOTUNE" doctor good.json >out 2>err
found=$(cat out)
like "$found" 'slurm-wlm' 'doctor has the version'
like "$found" 'controller.*UP' 'the controller'
like "$found" 'KillWait 3 sec, MinJobAge' 'the configuration'
like "$found" 'a job on a node has written into' 'the folder that is shared'
ok 'no job is left' retry no_job_left
cluster crash
"$HPOTUNE" doctor good.json >out 2>err
like "$(cat out)" 'slurmctld' 'a controller that is down is found'
no_tools=$dir/none
mkdir "$no_tools"
for tool in sh env install; do
	ln -s "$(command -v $tool)" "$no_tools"
done
PATH=$no_tools "$HPOTUNE" doctor good.json >out 2>err
like "$(cat out)" 'sbatch.*cannot be started' 'missing commands are found'
PATH=$no_tools "$HPOTUNE" start good.json >out 2>err
like "$(cat err)" 'sbatch is not found or does not work' 'start reports it'

done_testing
