# Sourced by the tests of Slurm, after lib.sh: a private cluster in the folder
# cluster, which is ended with the scenario.

# shellcheck disable=SC2034 # for who sources this
cluster_tool=$TOP_SRCDIR/tests/support/slurm/slurm-cluster
# Of another Slurm than the system's, where SLURM_PREFIX names its folder.
PATH=${SLURM_PREFIX:+$SLURM_PREFIX/bin:$SLURM_PREFIX/sbin:}$PATH:/usr/sbin:/sbin

cluster() { # what [argument …]
	cluster_what=$1
	shift
	sh "$cluster_tool" "$cluster_what" "$dir/cluster" "$@"
}

cluster_end() {
	# The server first: it would miss its jobs.
	for child in $children; do
		kill -9 "$child" 2>/dev/null
	done
	[ ! -e "$dir/cluster" ] || cluster down
	cleanup
}

# Start it, or skip everything; lines of slurm.conf replace those of the same key.
cluster_up() { # [line …]
	for cluster_need in slurmctld slurmd sbatch; do
		command -v "$cluster_need" >/dev/null ||
		    skip_all "NOTHING OF SLURM IS TESTED: $cluster_need is missing, install slurmctld, slurmd and slurm-client"
	done
	trap cluster_end EXIT
	cluster up "$@" >cluster.env || {
		diag "$(cat cluster/log/*.log 2>/dev/null | tail -n 20)"
		exit 99
	}
	. ./cluster.env
}

# study.json whose trial is ./trial; $3 and $4 are further keys of the trial and
# of the backend, $5 is the stopping rule.
slurm_study() { # name limits keys-of-trial keys-of-backend [stopping]
	cat >"$1.json" <<-END
	{ "study": "$1",
	  "objective": { "metric": "loss", "goal": "minimize" },
	  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
	  "strategy": { "name": "random", "seed": 1 },
	  "stopping": ${5:-\"none\"},
	  "trial": { "command": ["./trial", "{x}"], $3 },
	  "backend": { "name": "slurm"$4 },
	  "limits": { $2 } }
	END
}

# Jobs of this user that have not ended.
jobs_left() {
	squeue --me --noheader --states=PENDING,RUNNING,COMPLETING | wc -l
}
no_job_left() {
	[ "$(jobs_left)" -eq 0 ]
}

# The id of the job of an attempt that runs.
job_of() { # study trial.attempt
	squeue --me --noheader --format='%A %j' | grep -- "-$2-" | cut -d' ' -f1
}
