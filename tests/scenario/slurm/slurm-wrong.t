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
wrong '"partition": "nowhere"' \
    'Slurm does not accept such jobs: .*[Ii]nvalid partition.*: there are main, short, urgent$' \
    'an unknown partition'
wrong '"gpus": "h100:1"' \
    'Requested node configuration is not available: no node has 1 GPU of type h100, the most is 0$' \
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
wrong '"cpus": 3' 'no node has 3 cores, the most is 2$' 'more cores'
wrong '"partition": "short", "nodes": 5' \
    'not available: 4 nodes have so much, nodes is 5 \(partition short\)$' 'more nodes'
scontrol create reservation reservationname=later starttime=now+60minutes \
    duration=60 nodes=n1 users="$(id -un)" >/dev/null
slurm_study later '"trials": 1' '"grace": 5' ', "extra": ["--reservation=later"]'
ok 'a reservation that begins later is no error of doctor' eval \
    '"$HPOTUNE" doctor --timeout 300 later.json >out 2>err'
like "$(cat out)" 'the reservation later begins at [0-9-]*T[0-9:]*: jobs are accepted' \
    'which says when'
unlike "$(cat out)" 'Invalid time' 'and nothing of a wrong time'
scontrol delete reservationname=later
scontrol update nodename=n4 state=drain reason=test
wrong '"gpus": "a100:5"' \
    'Requested node configuration is not available: no node has 5 GPUs of type a100, the most is 2$' \
    'more GPUs than a node has, while another one is drained'
slurm_study drained '"trials": 1' '"grace": 5' ', "gpus": 1, "extra": ["--nodelist=n4"]'
ok 'what only a drained node has is no error' quietly "$HPOTUNE" check drained.json
scontrol update nodename=n4 state=resume
slurm_study good '"trials": 1' '"grace": 5' ', "gpus": 1'
"$HPOTUNE" doctor --timeout 300 good.json >out 2>err
found=$(cat out)
said=$("$HPOTUNE" check good.json)
like "$said" '^job +--gres=gpu:1, the default time and memory of the partition$' \
    'check prints what a job asks for'
like "$said" '^slots +16, the default with slurm' 'and how many run at once'
like "$found" 'slurm-wlm' 'doctor has the version'
like "$found" 'controller.*UP' 'the controller'
like "$found" 'KillWait 3 sec, MinJobAge' 'the configuration'
like "$found" 'a job on a node has written into' 'the folder that is shared'
like "$found" 'accounting.*none \(sacct does not answer\)' 'whether there is accounting'
ok 'no job is left' retry no_job_left

# What a login node sees: here the nodes are this machine, there they are not.
unlike "$said" '^warning' 'a program that is there, and a folder of all nodes'
sed 's|"./trial"|"./train"|' good.json >absent.json
like "$("$HPOTUNE" check absent.json)" \
    '^warning +trial\.command: \./train: not found in the folder .*: is it on the nodes' \
    'a program that is not there'
mkdir fake
cat >fake/sinfo <<END
#!/bin/sh
case "\$*" in
*%o*) echo 'main*|node1.cluster' ;;
*) exec $(command -v sinfo) "\$@" ;;
esac
END
chmod +x fake/sinfo
slurm_study far '"trials": 1' '"grace": 5' ", \"dir\": \"$dir/none/a/b\""
far=$(PATH=$PWD/fake:$PATH "$HPOTUNE" check far.json)
like "$far" "^warning +the folder $dir is on a disk of this machine" \
    'a folder that other machines may not see'
like "$far" "^warning +backend\\.dir: $dir/none/a does not exist here" \
    'and one that cannot be made'

# Jobs under names of ours: of an attempt that runs, of one that has ended and
# came back, of a study that is not here, and one of somebody else.
printf '#!/bin/sh\necho "hpotune: step=1 loss=$1"\nuntil [ -e "${0%%/*}/go" ]; do sleep 0.1; done\n' >trial
slurm_study gc '"trials": 1' '"grace": 5' ''
server gc.json
ok 'a trial runs' retry sql_is gc.db \
    "SELECT count(*) FROM trials WHERE state = 'running'" 1
owned=$(squeue --me --noheader --format='%j')
touch go
reap "$server"
ok 'its job has ended' retry no_job_left
rm go
"$HPOTUNE" slurm gc gc.json >out 2>err
like "$(cat out)" 'no job with a name of hpotune is running' 'there is none'
uuid=$(sql gc.db 'SELECT uuid FROM t_attempt')
put() { # name comment
	sbatch --parsable --output=/dev/null --job-name="$1" --comment="$2" \
	    --wrap='sleep 600' >>jobs
}
put "$owned" "$uuid"
put hp-other-123abc-1.1-12345678 12345678-1234-1234-1234-123456789012
put "$owned" 'a comment of the site'
put 'hp-x' ''
sed -i 's/"trials": 1/"trials": 2/' gc.json
server gc.json
ok 'another trial runs' retry sql_is gc.db \
    "SELECT count(*) FROM trials WHERE state = 'running'" 1
"$HPOTUNE" slurm gc gc.json --json >out 2>err
is "$(sed -n 's/.*"owner": *"\([a-z]*\)".*/\1/p' out | sort | tr '\n' ' ')" \
    'elsewhere elsewhere orphan owned ' 'slurm gc says whose each job is' ||
    diag "$(cat out err)"
ok 'with --stop it cancels the orphan' quietly "$HPOTUNE" slurm gc gc.json --stop
job_is() { # line of the file jobs, state
	[ "$(squeue --noheader --states=all --format=%T \
	    --jobs="$(sed -n "${1}p" jobs)")" = "$2" ]
}
ok 'which has ended' retry job_is 1 CANCELLED
is "$(squeue --me --noheader | wc -l)" 4 'and no other one'
ok 'a lost study can be named' quietly "$HPOTUNE" slurm gc gc.json --stop \
    --lost other-123abc
ok 'its job is cancelled' retry job_is 2 CANCELLED
touch go
reap "$server"
is "$(sql gc.db "SELECT count(*) FROM trials WHERE state = 'completed'")" 2 \
    'the study has not noticed'
scancel --me
ok 'no job is left after it' retry no_job_left
cluster crash
"$HPOTUNE" doctor --timeout 300 good.json >out 2>err
like "$(cat out)" 'slurmctld' 'a controller that is down is found'
no_tools=$dir/none
mkdir "$no_tools"
for tool in sh env install; do
	ln -s "$(command -v $tool)" "$no_tools"
done
PATH=$no_tools "$HPOTUNE" doctor --timeout 300 good.json >out 2>err
like "$(cat out)" 'sbatch.*cannot be started' 'missing commands are found'
PATH=$no_tools "$HPOTUNE" start good.json >out 2>err
like "$(cat err)" 'sbatch is not found or does not work' 'start reports it'

done_testing
