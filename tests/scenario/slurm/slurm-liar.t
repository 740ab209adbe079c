#!/bin/sh
# A squeue that does not show the jobs of a study, because the site hides them, by a
# variable, or wrongly: the controller never has more jobs that may begin than the
# study has trials.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm-ledger.sh"
need sqlite3
cluster_up
ledger_trial 2

nodes() { # state: of all
	for n in n1 n2 n3 n4; do
		scontrol update nodename=$n state="$1" reason=test
	done
}

# It counts the jobs that wait before each answer to the server, by the real one.
real=$(command -v squeue)
mkdir fake
cat >fake/squeue <<END
#!/bin/sh
case "\$*" in
*--me*) $real --me --all --noheader --states=PENDING | wc -l >>"$dir/waiting" ;;
esac
case "\$*" in
*--me*)
	if [ -e "$dir/new" ]; then
		answer=\$($real "\$@")
		case \$answer in
		*'|PENDING|'*)
			printf '%s\n' "\$answer" |
			    sed 's/|PENDING|[^|]*|/|PENDING|InvalidAccount|/'
			rm "$dir/new"
			exit 0
			;;
		esac
	fi
	;;
esac
case "\$*\$(cat "$dir/lies" 2>/dev/null)" in
*--me*list*) exit 0 ;;
*--me*old*)
	[ -e "$dir/old" ] || $real "\$@" >"$dir/old"
	cat "$dir/old"
	exit 0
	;;
*--me*others*)
	$real "\$@" | sed 's/|hp-/|theirs-/g'
	exit 0
	;;
*--me*clock*)
	$real "\$@" | sed 's/|2[0-9]*-/|2094-/'
	exit 0
	;;
*--me*renamed*)
	for job in \$($real --me --all --noheader --states=PENDING --format=%A); do
		scontrol update jobid="\$job" jobname=site
	done
	;;
*--me*refused* | *--jobs=*refused*)
	echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2
	exit 1
	;;
*--jobs=*number*)
	echo 'slurm_load_jobs error: Invalid job id specified' >&2
	exit 1
	;;
esac
exec $real "\$@"
END
chmod +x fake/squeue
PATH=$PWD/fake:$PATH
asked() { # n: at least so many times
	[ "$(wc -l <waiting)" -ge "$1" ]
}
most_waited() {
	sort -n waiting | tail -n 1
}

# Two trials whose jobs cannot begin, while the server asks so many times.
waits() { # study what answers
	: >ledger
	: >waiting
	nodes drain
	slurm_study "$1" '"trials": 2, "parallel": 2' '"cpus": 1, "grace": 5' ''
	server "$1.json"
	ok "$2: squeue is asked many times" retry asked "$3"
	is "$(most_waited)" 2 'and two jobs wait, never more'
}
completes() { # study
	nodes resume
	reap "$server"
	is $? 0 'the study ends'
	is "$(ledger_faults "$1" 2)" '' 'each trial has run once'
	# What is asked here is answered truly.
	rm -f lies
	ok 'no job is left' retry no_job_left
}

# Of a job that was just submitted, 23.11 says what is not so.
touch new
export SQUEUE_PARTITION=side SQUEUE_NAMES=none SLURM_TIME_FORMAT=relative
export SBATCH_GPUS_PER_NODE=3 SBATCH_EXPORT=NIL SLURM_MEM_PER_CPU=1
waits variables 'variables of the user' 4
unset SQUEUE_PARTITION SQUEUE_NAMES SLURM_TIME_FORMAT
unset SBATCH_GPUS_PER_NODE SBATCH_EXPORT SLURM_MEM_PER_CPU
completes variables
is "$(sql variables.db 'SELECT count(*) FROM attempts')" 2 'in one attempt'
is "$(sql variables.db "SELECT count(*) FROM events
    WHERE text LIKE '%InvalidAccount%'")" 0 \
    'a reason of the first moment is no event'

echo list >lies
waits hidden 'a list without them' 6
is "$(sql hidden.db "SELECT count(*) FROM events
    WHERE text LIKE '%which it shows when it is asked for by its number'")" 1 \
    'that the list is wrong is said, once'
completes hidden
is "$(sql hidden.db 'SELECT count(*) FROM attempts')" 2 'in one attempt'

echo list number >lies
waits liar 'a list without them, and no answer by number' 8
is "$(sql liar.db "SELECT count(*) FROM events
    WHERE text LIKE 'Slurm no longer lists its job%'")" 1 \
    'that they are submitted again is said, once'
rm lies
completes liar

# Each lie as long as the study lasts.  Ends are then known by the files of trials.
for lie in 'old:an old list again and again' \
    'others:the jobs of others under these numbers' \
    'clock:times of another century' \
    'renamed:jobs that the site has renamed' \
    'refused:no answer at all'; do
	echo "${lie%%:*}" >lies
	waits "${lie%%:*}" "${lie#*:}" 5
	completes "${lie%%:*}"
done

# Without a next query of its queue: what waits is withdrawn before it ends.
waiting() {
	"$real" --me --all --noheader --states=PENDING | wc -l
}
waiting_are() { # n
	[ "$(waiting)" -eq "$1" ]
}
two_begin() { # study
	nodes drain
	slurm_study "$1" '"trials": 2, "parallel": 2' '"cpus": 1, "grace": 5' ''
	server "$1.json"
	ok 'two jobs wait' retry waiting_are 2
}
two_begin ended
kill "$server"
reap "$server"
is "$(waiting)" 0 'a server that ends leaves none in the queue'
two_begin unseen
echo list >lies
kill "$server"
reap "$server"
is "$(waiting)" 0 'nor where no list shows them'
rm lies
two_begin stopped
echo list >lies
"$HPOTUNE" stop stopped.db 1
ok 'the job of a stopped trial is withdrawn, though no list shows it' \
    retry waiting_are 1
kill "$server"
reap "$server"
is "$(waiting)" 0 'then the other one, too'
done_testing
