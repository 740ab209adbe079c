#!/bin/sh
# hpotune's entry script: process 1 of a training job, in any image that has a
# POSIX shell.  Starts the trial (alone, by torchrun or by mpirun), forwards
# SIGTERM to it, lets only rank 0 report, and ends with the trial's status.  Its
# settings are in the variables HPT_SPEC_0, HPT_SPEC_1, ...: pieces of one shell
# text that sets variables and the trial's arguments.

set -u
HPT_BASE=${SAGEMAKER_BASE_DIR:-/opt/ml}
HPT_BASE=${HPT_BASE%/}
work=/tmp/hpotune
[ "$HPT_BASE" = /opt/ml ] || work=$HPT_BASE/hpotune

# Count SIGTERM from here on: without a handler process 1 ignores it.
terms=0
child=
preparing=
watchdog=
session=
comm=
grace=100
stop=TERM
on_term() {
	terms=$((terms + 1))
	{ true >"$work/stop"; } 2>/dev/null
	[ -z "$preparing" ] || kill -TERM "$preparing" 2>/dev/null
	[ -z "$child" ] || send_stop
}

# The "mpirun" of many images is a shell script that runs the real one as its
# child, waits for it and forwards no signal.  So the signal goes to the first
# process with a handler, from $child downwards, by the bit mask in field 34 of
# /proc/PID/stat; heard: there was one.
HPT_LAUNCHER=none
heard=
send_stop() {
	[ -n "$comm" ] || read -r comm 2>/dev/null <"/proc/$child/comm"
	if [ "$HPT_LAUNCHER" != mpirun ]; then
		if [ "$terms" -ne 1 ] || ! tell_below; then
			kill "-$stop" "$child" 2>/dev/null
		fi
		return
	fi
	bit=16384
	[ "$stop" = TERM ] || bit=512
	family=
	while [ -z "$heard" ]; do
		below=
		for stat in /proc/[0-9]*/stat; do
			read -r fields 2>/dev/null <"$stat" || continue
			pid=${fields%% *}
			# shellcheck disable=SC2086
			set -- ${fields##*) }
			if [ -z "$family" ]; then
				[ "$pid" = "$child" ] || continue
			else
				case "$family " in
				*" $2 "*) ;;
				*) continue ;;
				esac
			fi
			if [ $((${32:-0} & bit)) -eq 0 ]; then
				below="$below $pid"
			elif kill "-$stop" "$pid" 2>/dev/null; then
				heard=1
			fi
		done
		[ -n "$below" ] || break
		family=$below
	done
}
trap on_term TERM
trap : INT HUP

# What follows reaches the program behind a shell or a script, as on a machine of
# one's own: a process of the trial that has lost its parent is told, once, unless
# it reads what another one prints, as tee does; and what the main process keeps
# to itself is told to its children.

# Whether a process has TERM or QUIT in one of its masks, SigIgn or SigCgt.
in_mask() { # pid mask signal
	while read -r word bits; do
		[ "$word" = "$2:" ] || continue
		[ "$3" = QUIT ] || bits=${bits%???}
		case $bits in
		*[4-7c-f]) return 0 ;;
		esac
		return 1
	done
	return 1
} 2>/dev/null <"/proc/$1/status"

is_shell() { # pid
	for shell in /bin/sh /bin/bash /bin/dash /bin/busybox /bin/zsh; do
		# shellcheck disable=SC3013 # dash, bash and busybox have it
		[ ! "/proc/$1/exe" -ef "$shell" ] || return 0
	done
	return 1
}

# Sets living: the processes of the trial's session, " PID:PARENT" each.
list_living() {
	living=
	for stat in /proc/[0-9]*/stat; do
		read -r fields 2>/dev/null <"$stat" || continue
		pid=${fields%% *}
		# shellcheck disable=SC2086
		set -- ${fields##*) }
		case ${4-}$1 in
		"${child}Z") ;;
		"$child"?) living="$living $pid:$2" ;;
		esac
	done
}

reads_other() { # pid: its input is what another one prints
	[ -p "/proc/$1/fd/0" ] || return 1
	for one in $living; do
		one=${one%%:*}
		for fd in 1 2; do
			# shellcheck disable=SC3013
			[ "$one" = "$1" ] ||
			    [ ! "/proc/$1/fd/0" -ef "/proc/$one/fd/$fd" ] ||
			    {
				: >"$work/reads-$1"
				return 0
			    }
		done
	done
	return 1
}

# Whether it is no reader whose writer has just ended: what that has printed may
# still be in the pipe.  One that goes on is told at the watchdog's second look.
late=
has_read() { # pid
	[ -e "$work/reads-$1" ] || return 0
	[ -n "$late" ] || return 1
	[ ! -e "$work/alone-$1" ] || return 0
	: >"$work/alone-$1"
	return 1
}

tell() { # pid
	[ ! -e "$work/told-$1" ] || return 0
	: >"$work/told-$1"
	kill -TERM "$1" 2>/dev/null
}

# Orphans; true while a process is left that may still end by itself.
tell_orphans() {
	list_living
	left_over=1
	for each in $living; do
		pid=${each%%:*}
		up=${each##*:}
		[ "$pid" != "$child" ] || continue
		in_mask "$pid" SigIgn TERM || left_over=0
		case "$living " in
		*" $up:"*) continue ;;
		esac
		# timeout has told its whole group.
		[ "$comm" = timeout ] || reads_other "$pid" ||
		    ! has_read "$pid" || tell "$pid"
	done
	return "$left_over"
}

# Whether the child is one with a handler, and no shell.
has_handler() { # pid
	in_mask "$1" SigCgt TERM && ! is_shell "$1"
}

# Where the main process has a handler and only waits for a child with one, as
# subprocess.call() of Python does, it would kill the child or forget the signal:
# the child is told, and the main process when no such child is left.  The numbers
# are those of wait4 and waitid.
tell_below() {
	[ -n "$session" ] && [ "$HPT_LAUNCHER" = none ] || return 1
	read -r call 2>/dev/null <"/proc/$child/syscall" || return 1
	case $call in
	61\ * | 247\ * | 260\ * | 95\ *) ;;
	*) return 1 ;;
	esac
	has_handler "$child" || return 1
	list_living
	below=1
	for each in $living; do
		pid=${each%%:*}
		if [ "${each##*:}" != "$child" ] || ! has_handler "$pid"; then
			continue
		fi
		below=0
		: >"$work/below"
		tell "$pid"
	done
	return "$below"
}

tell_above() {
	[ -e "$work/below" ] || return
	list_living
	for each in $living; do
		[ "${each##*:}" != "$child" ] ||
		    ! has_handler "${each%%:*}" || return
	done
	rm -f "$work/below"
	kill -TERM "$child" 2>/dev/null
}

# The children of a main process that ignores the signal, or of a shell that
# waits for one before it runs its trap; not those that it has put behind.
tell_children() {
	list_living
	if in_mask "$child" SigIgn TERM; then
		quiet=
	elif in_mask "$child" SigCgt TERM && is_shell "$child"; then
		quiet=1
	else
		return
	fi
	for each in $living; do
		pid=${each%%:*}
		[ "${each##*:}" = "$child" ] || continue
		[ -z "$quiet" ] || ! in_mask "$pid" SigIgn QUIT || continue
		reads_other "$pid" || tell "$pid"
	done
}

# After the grace all processes of the trial are killed.  Until then an mpirun
# that was just starting is searched for every second.
watch_grace() {
	nap=
	late=1
	trap 'kill "$nap" 2>/dev/null; exit 0' TERM
	left=$grace
	while [ "$left" -gt 0 ]; do
		sleep 1 &
		nap=$!
		wait "$nap"
		left=$((left - 1))
		if [ "$HPT_LAUNCHER" = mpirun ] && [ -z "$heard" ]; then
			send_stop
		fi
		[ -n "$session" ] || continue
		# Once: whom a trap starts later is left alone.
		if [ "$left" -eq $((grace - 1)) ] && [ "$HPT_LAUNCHER" = none ]
		then
			tell_children
		fi
		tell_orphans || :
		tell_above
	done
	kill -KILL -- "-$child" 2>/dev/null
	kill -KILL "$child" 2>/dev/null
}

# The last line: the server reads the log until it finds it.
in_child=
say_end() { # status
	[ -n "$in_child" ] || printf 'hpotune-end: status %s\n' "$1"
}

# SageMaker shows the first 1024 characters of this file.
fail() { # status text
	mkdir -p "$HPT_BASE/output" 2>/dev/null
	# A text of the trial itself is more specific.
	[ -s "$HPT_BASE/output/failure" ] ||
	    printf '%s\n' "$2" >"$HPT_BASE/output/failure" 2>/dev/null
	printf 'hpotune-run: %s\n' "$2" >&2
	say_end "$1"
	exit "$1"
}

# ---- what to run -----------------------------------------------------------

HPT_PROCESSES=1 HPT_GRACE=100
HPT_CODE='' HPT_CODE_AS='' HPT_CWD='' HPT_MPI_OPTIONS=''
HPT_PYTHON='' HPT_PROGRAM='' HPT_PROGRAM_JSON='""'
SM_CHANNELS='[]' SM_USER_ARGS='[]'
spec=
n=0
while eval "[ -n \"\${HPT_SPEC_$n-}\" ]"; do
	eval "spec=\$spec\$HPT_SPEC_$n"
	unset "HPT_SPEC_$n"
	n=$((n + 1))
done
[ -n "$spec" ] || fail 126 'the job has no HPT_SPEC_0: it was not made by hpotune'
set --
eval "$spec"
unset spec
[ $# -gt 0 ] || fail 126 'the job names no command'
[ "$HPT_GRACE" -gt 100 ] || grace=$HPT_GRACE

# Paths in arguments move with the tree.
move() { # text
	moved=
	rest=$1
	while :; do
		case $rest in
		*/opt/ml/*)
			moved=$moved${rest%%/opt/ml/*}$HPT_BASE/
			rest=${rest#*/opt/ml/}
			;;
		*) break ;;
		esac
	done
	moved=$moved$rest
}
if [ "$HPT_BASE" != /opt/ml ]; then
	n=$#
	while [ "$n" -gt 0 ]; do
		move "$1"
		shift
		set -- "$@" "$moved"
		n=$((n - 1))
	done
	move "$SM_USER_ARGS"
	SM_USER_ARGS=$moved
fi

# ---- the host and the job --------------------------------------------------

# The file without white space: no name in it has any.
squeeze() { # file
	squeezed=
	[ -r "$1" ] || return 0
	while read -r squeeze_line || [ -n "$squeeze_line" ]; do
		set -f
		for squeeze_word in $squeeze_line; do
			squeezed=$squeezed$squeeze_word
		done
		set +f
	done <"$1"
}

# The text that is the member of a squeezed object, or nothing.
member() { # name
	case $squeezed in
	*"\"$1\":\""*)
		found=${squeezed#*"\"$1\":\""}
		found=${found%%\"*}
		;;
	*) found= ;;
	esac
}

config=$HPT_BASE/input/config
squeeze "$config/resourceconfig.json"
SM_RESOURCE_CONFIG=$squeezed
member current_host
SM_CURRENT_HOST=${found:-algo-1}
member network_interface_name
SM_NETWORK_INTERFACE_NAME=${found:-eth0}
member current_instance_type
SM_CURRENT_INSTANCE_TYPE=${found:-local}
member current_group_name
SM_CURRENT_INSTANCE_GROUP=${found:-homogeneousCluster}

# A JSON list of names, with its brackets or without: names, each with a blank in
# front.  AWS has no name with a blank.
names_read() {
	list=${1#\[}
	list=${list%\]}
	names=
	while [ -n "$list" ]; do
		name=${list%%,*}
		case $list in
		*,*) list=${list#*,} ;;
		*) list= ;;
		esac
		name=${name#\"}
		names="$names ${name%\"}"
	done
}

topology='[]'
case $squeezed in
*\"topology\":\[*)
	topology=${squeezed#*\"topology\":}
	topology=${topology%%\]*}]
	;;
esac

# The list of all hosts stands beside the groups, which have lists, too.
groups=
case $squeezed in
*\"instance_groups\":\[\{*)
	groups=${squeezed#*\"instance_groups\":\[}
	squeezed=${squeezed%%\"instance_groups\":*}${groups#*\}\]}
	groups=${groups%%\}\]*}\}
	;;
esac
case $squeezed in
*\"hosts\":\[*)
	hosts=${squeezed#*\"hosts\":\[}
	hosts=${hosts%%\]*}
	;;
*) hosts="\"$SM_CURRENT_HOST\"" ;;
esac
SM_HOSTS="[$hosts]"
names_read "$hosts"
host_names=$names
host_count=0
host_rank=0
for host in $host_names; do
	[ "$host" != "$SM_CURRENT_HOST" ] || host_rank=$host_count
	host_count=$((host_count + 1))
done
first_host=${host_names# }
first_host=${first_host%% *}

# The groups: their names, each by its name, and the hosts of our own.
group_names=
group_objects=
SM_CURRENT_INSTANCE_GROUP_HOSTS='[]'
group_count=0
while [ -n "$groups" ]; do
	squeezed=${groups%%\},*}
	case $groups in
	*\},*) groups=${groups#*\},} ;;
	*) groups= ;;
	esac
	squeezed=${squeezed%\}}
	member instance_group_name
	group_names=$group_names${group_names:+,}\"$found\"
	group_objects="$group_objects${group_objects:+,}\"$found\":$squeezed}"
	group_count=$((group_count + 1))
	if [ "$found" = "$SM_CURRENT_INSTANCE_GROUP" ]; then
		SM_CURRENT_INSTANCE_GROUP_HOSTS=${squeezed#*\"hosts\":}
		SM_CURRENT_INSTANCE_GROUP_HOSTS=${SM_CURRENT_INSTANCE_GROUP_HOSTS%%\]*}]
	fi
done

gpus=0
if command -v nvidia-smi >/dev/null 2>&1; then
	for word in $(nvidia-smi -L 2>/dev/null); do
		[ "$word" != GPU ] || gpus=$((gpus + 1))
	done
fi
# NeuronCores as AWS's training toolkit counts them.
neurons=0
case $SM_CURRENT_INSTANCE_TYPE in
*trn2.48xlarge*) neurons=64 ;;
*)
	! command -v neuron-ls >/dev/null 2>&1 ||
	    for word in $(neuron-ls -j 2>/dev/null |
		tr -d ' \n' | tr ',{}' '   '); do
		case $word in
		'"nc_count":'[0-9]*)
			neurons=$((neurons + ${word#*:}))
			;;
		esac
	done
	;;
esac
cpus=$(getconf _NPROCESSORS_ONLN 2>/dev/null || nproc 2>/dev/null || echo 1)
[ "$HPT_PROCESSES" -gt 0 ] || HPT_PROCESSES=$gpus
[ "$HPT_PROCESSES" -gt 0 ] || HPT_PROCESSES=$neurons
[ "$HPT_PROCESSES" -gt 0 ] || HPT_PROCESSES=1

# ---- environment and folders of the trial ----------------------------------

mkdir -p "$HPT_BASE/checkpoints" "$HPT_BASE/model" "$HPT_BASE/output/data" \
    "$HPT_BASE/code" "$work" || fail 126 "cannot make folders in $HPT_BASE"
rm -f "$work/reading" "$work/done" "$work/stop" "$work/below" "$work"/mute-*

HPOTUNE_CHECKPOINT_DIR=$HPT_BASE/checkpoints
HPOTUNE_OUTPUT_DIR=$HPT_BASE/output/data
HPOTUNE_METRICS=$work/metrics.jsonl
HPOTUNE_PARAMS=$work/params.json
SM_MODEL_DIR=$HPT_BASE/model
SM_OUTPUT_DIR=$HPT_BASE/output
SM_OUTPUT_DATA_DIR=$HPT_BASE/output/data
SM_INPUT_DIR=$HPT_BASE/input
SM_INPUT_CONFIG_DIR=$config
SM_HOST_COUNT=$host_count
SM_CURRENT_HOST_RANK=$host_rank
SM_MASTER_ADDR=$first_host
SM_MASTER_PORT=7777
SM_NUM_GPUS=$gpus
SM_NUM_CPUS=$cpus
SM_NUM_NEURONS=$neurons
SM_LOG_LEVEL=20
export HPOTUNE_CHECKPOINT_DIR HPOTUNE_OUTPUT_DIR HPOTUNE_METRICS \
    HPOTUNE_PARAMS SM_MODEL_DIR SM_OUTPUT_DIR SM_OUTPUT_DATA_DIR \
    SM_INPUT_DIR SM_INPUT_CONFIG_DIR SM_HOSTS SM_HOST_COUNT SM_CURRENT_HOST \
    SM_CURRENT_HOST_RANK SM_CURRENT_INSTANCE_TYPE SM_CURRENT_INSTANCE_GROUP \
    SM_NETWORK_INTERFACE_NAME SM_RESOURCE_CONFIG SM_MASTER_ADDR \
    SM_MASTER_PORT SM_NUM_GPUS SM_NUM_CPUS \
    SM_NUM_NEURONS SM_LOG_LEVEL
: "${MASTER_ADDR:=$first_host}" "${MASTER_PORT:=7777}" "${PYTHONUNBUFFERED=1}"
export MASTER_ADDR MASTER_PORT PYTHONUNBUFFERED
if [ "$host_count" -gt 1 ]; then
	: "${NCCL_SOCKET_IFNAME:=$SM_NETWORK_INTERFACE_NAME}"
	export NCCL_SOCKET_IFNAME
fi
[ -n "${SM_HPS-}" ] || SM_HPS='{}'
printf '%s\n' "$SM_HPS" >"$HPOTUNE_PARAMS"
: >"$HPOTUNE_METRICS"

# ---- variables of AWS's training toolkit ------------------------------------

json_bool() { # command ...
	if "$@" >/dev/null 2>&1; then
		bool=true
	else
		bool=false
	fi
}

# The requested channels, without ours.
channels_read() { # file
	SM_INPUT_DATA_CONFIG=
	[ -r "$1" ] || return 0
	while IFS= read -r line || [ -n "$line" ]; do
		SM_INPUT_DATA_CONFIG="$SM_INPUT_DATA_CONFIG$line "
	done <"$1"
	case $SM_INPUT_DATA_CONFIG in
	*\"hpotune\"*:*\{*\}*) ;;
	*) return 0 ;;
	esac
	rest=${SM_INPUT_DATA_CONFIG#*\"hpotune\"}
	rest=${rest#*\}}
	rest=${rest#"${rest%%[! ]*}"}
	line=${SM_INPUT_DATA_CONFIG%%\"hpotune\"*}
	line=${line%"${line##*[! ]}"}
	case $rest in
	,*) SM_INPUT_DATA_CONFIG=$line${rest#,} ;;
	*) SM_INPUT_DATA_CONFIG=${line%,}$rest ;;
	esac
}

channels_read "$config/inputdataconfig.json"
[ -n "$SM_INPUT_DATA_CONFIG" ] || SM_INPUT_DATA_CONFIG='{}'
channel_dirs=
names_read "$SM_CHANNELS"
for channel in $names; do
	channel_dirs="$channel_dirs${channel_dirs:+,}\"$channel\":\
\"$HPT_BASE/input/data/$channel\""
done
SM_USER_ENTRY_POINT=$HPT_PROGRAM
SM_MODULE_NAME=${HPT_PROGRAM%.py}
module_json=${HPT_PROGRAM_JSON%.py\"}
[ "$module_json" = "$HPT_PROGRAM_JSON" ] || module_json=$module_json\"
SM_MODULE_DIR=$HPT_BASE/code
SM_FRAMEWORK_MODULE=
SM_FRAMEWORK_PARAMS='{}'
SM_OUTPUT_INTERMEDIATE_DIR=$HPT_BASE/output/intermediate
SM_INSTANCE_GROUPS="[$group_names]"
SM_INSTANCE_GROUPS_DICT="{$group_objects}"
SM_DISTRIBUTION_INSTANCE_GROUPS='[]'
training_hosts='[]'
case $HPT_LAUNCHER in
torchrun | mpirun)
	SM_DISTRIBUTION_INSTANCE_GROUPS="[\
${group_names:-\"$SM_CURRENT_INSTANCE_GROUP\"}]"
	training_hosts=$SM_HOSTS
	;;
esac
[ "$group_count" -gt 0 ] || training_hosts=$SM_HOSTS
json_bool [ "$group_count" -gt 1 ]
SM_IS_HETERO=$bool
json_bool [ "$host_rank" -eq 0 ]
is_master=$bool
json_bool command -v smddprun
has_smddprun=$bool
json_bool command -v smddpmprun
[ -n "$SM_RESOURCE_CONFIG" ] || SM_RESOURCE_CONFIG='{}'
SM_TRAINING_ENV="{\
\"additional_framework_parameters\":$SM_FRAMEWORK_PARAMS,\
\"channel_input_dirs\":{$channel_dirs},\
\"current_host\":\"$SM_CURRENT_HOST\",\
\"current_instance_group\":\"$SM_CURRENT_INSTANCE_GROUP\",\
\"current_instance_group_hosts\":$SM_CURRENT_INSTANCE_GROUP_HOSTS,\
\"current_instance_type\":\"$SM_CURRENT_INSTANCE_TYPE\",\
\"distribution_hosts\":$training_hosts,\
\"distribution_instance_groups\":$SM_DISTRIBUTION_INSTANCE_GROUPS,\
\"framework_module\":null,\
\"hosts\":$SM_HOSTS,\
\"hyperparameters\":$SM_HPS,\
\"input_config_dir\":\"$SM_INPUT_CONFIG_DIR\",\
\"input_data_config\":$SM_INPUT_DATA_CONFIG,\
\"input_dir\":\"$SM_INPUT_DIR\",\
\"instance_groups\":$SM_INSTANCE_GROUPS,\
\"instance_groups_dict\":$SM_INSTANCE_GROUPS_DICT,\
\"is_hetero\":$SM_IS_HETERO,\
\"is_master\":$is_master,\
\"is_modelparallel_enabled\":null,\
\"is_smddpmprun_installed\":$bool,\
\"is_smddprun_installed\":$has_smddprun,\
\"job_name\":\"${TRAINING_JOB_NAME-}\",\
\"log_level\":$SM_LOG_LEVEL,\
\"master_hostname\":\"$first_host\",\
\"model_dir\":\"$SM_MODEL_DIR\",\
\"module_dir\":\"$SM_MODULE_DIR\",\
\"module_name\":$module_json,\
\"network_interface_name\":\"$SM_NETWORK_INTERFACE_NAME\",\
\"num_cpus\":$SM_NUM_CPUS,\
\"num_gpus\":$SM_NUM_GPUS,\
\"num_neurons\":$SM_NUM_NEURONS,\
\"output_data_dir\":\"$SM_OUTPUT_DATA_DIR\",\
\"output_dir\":\"$SM_OUTPUT_DIR\",\
\"output_intermediate_dir\":\"$SM_OUTPUT_INTERMEDIATE_DIR\",\
\"resource_config\":$SM_RESOURCE_CONFIG,\
\"topology\":$topology,\
\"user_entry_point\":$HPT_PROGRAM_JSON}"
export SM_USER_ARGS SM_USER_ENTRY_POINT SM_MODULE_NAME SM_MODULE_DIR \
    SM_FRAMEWORK_MODULE SM_FRAMEWORK_PARAMS SM_OUTPUT_INTERMEDIATE_DIR \
    SM_INPUT_DATA_CONFIG SM_INSTANCE_GROUPS SM_INSTANCE_GROUPS_DICT \
    SM_CURRENT_INSTANCE_GROUP_HOSTS SM_DISTRIBUTION_INSTANCE_GROUPS \
    SM_IS_HETERO SM_TRAINING_ENV
[ "$topology" = '[]' ] || export SM_TOPOLOGY="$topology"

# EFA, if the toolkit lists the type or the driver is loaded.  Between several
# hosts torchrun has the protocol that EFA needs, whatever the type, as with it.
efa=
case $HPT_LAUNCHER,$SM_CURRENT_INSTANCE_TYPE in
none,*) ;;
*,ml.g4dn.8xlarge | *,ml.g4dn.12xlarge | *,ml.g5.48xlarge | \
    *,ml.p3dn.24xlarge | *,ml.p4d.24xlarge | *,ml.p4de.24xlarge | \
    *,ml.p5.48xlarge | *,ml.p5e.48xlarge | *,ml.trn1.32xlarge | \
    *,ml.p6e-gb200.36xlarge)
	efa=1
	: "${NCCL_PROTO:=simple}"
	export NCCL_PROTO
	;;
*)
	for driver in "${HPT_SYS:-/sys}"/class/infiniband/*/device/driver; do
		case $(cd -P "$driver" 2>/dev/null && pwd) in
		*/efa) efa=1 ;;
		esac
	done
	;;
esac
if [ "$HPT_LAUNCHER" = torchrun ] && [ "$host_count" -gt 1 ]; then
	: "${NCCL_PROTO:=simple}"
	export NCCL_PROTO
fi
if [ -n "$efa" ]; then
	: "${FI_PROVIDER:=efa}"
	export FI_PROVIDER
	case $SM_CURRENT_INSTANCE_TYPE in
	ml.p4d.24xlarge | ml.p4de.24xlarge | ml.p5.48xlarge | \
	    ml.p5e.48xlarge | ml.trn1.32xlarge | ml.p6e-gb200.36xlarge)
		: "${FI_EFA_USE_DEVICE_RDMA:=1}" "${RDMAV_FORK_SAFE:=1}"
		export FI_EFA_USE_DEVICE_RDMA RDMAV_FORK_SAFE
		;;
	esac
fi

# ---- the code --------------------------------------------------------------

archive=$HPT_BASE/input/data/hpotune/code.tar.gz
if [ -n "$HPT_CODE" ]; then
	[ -f "$archive" ] || fail 126 "the code is not there: $archive"
	command -v tar >/dev/null 2>&1 ||
	    fail 126 'the image has no tar, which unpacks the code folder'
	tar -xzof "$archive" -C "$HPT_BASE/code" || fail 126 \
	    'tar could not unpack the code folder (has the image gzip?)'
fi
# The command was written for a folder above the code: make its paths valid.
if [ -n "$HPT_CODE_AS" ] && [ ! -e "$HPT_BASE/code/$HPT_CODE_AS" ]; then
	up=
	case $HPT_CODE_AS in
	*/*)
		mkdir -p "$HPT_BASE/code/${HPT_CODE_AS%/*}"
		rest=${HPT_CODE_AS%/*}
		while [ -n "$rest" ]; do
			up=../$up
			case $rest in
			*/*) rest=${rest%/*} ;;
			*) rest= ;;
			esac
		done
		;;
	esac
	ln -s "${up:-.}" "$HPT_BASE/code/$HPT_CODE_AS"
fi
cd "$HPT_BASE/code/$HPT_CWD" ||
    fail 126 "the working folder is not in the code: $HPT_CWD"

# What the code needs of PyPI, as the toolkit installs it: on every host, before
# the program.  CA_REPOSITORY_ARN names a repository of CodeArtifact instead.
code_artifact() {
	"$HPT_PYTHON" - <<'END'
import os, re, sys
import boto3

m = re.match("arn:[^:]+:codeartifact:([^:]+):([^:]+):repository/([^/]+)/(.+)$",
             os.environ["CA_REPOSITORY_ARN"])
if not m:
    sys.exit("CA_REPOSITORY_ARN names no repository of CodeArtifact")
region, owner, domain, name = m.groups()
client = boto3.client("codeartifact", region_name=region)
token = client.get_authorization_token(
    domain=domain, domainOwner=owner)["authorizationToken"]
url = client.get_repository_endpoint(
    domain=domain, domainOwner=owner, repository=name,
    format="pypi")["repositoryEndpoint"]
print(url.replace("https://", "https://aws:%s@" % token).rstrip("/") +
      "/simple/")
END
}

install_requirements() {
	case $HPT_PYTHON in
	/*) ;;
	*/*) HPT_PYTHON=$PWD/$HPT_PYTHON ;;
	esac
	command -v "$HPT_PYTHON" >/dev/null 2>&1 || fail 127 \
	    "the image has no $HPT_PYTHON, which installs requirements.txt"
	if [ -n "${CA_REPOSITORY_ARN-}" ]; then
		PIP_INDEX_URL=$(code_artifact) || fail 126 \
		    "no token for CodeArtifact: $CA_REPOSITORY_ARN"
	fi
	(
		trap - TERM
		cd "$HPT_BASE/code" || exit 126
		[ -z "${CA_REPOSITORY_ARN-}" ] || export PIP_INDEX_URL
		exec "$HPT_PYTHON" -m pip install -r requirements.txt
	) &
	preparing=$!
	before=$terms
	wait "$preparing"
	status=$?
	if [ "$terms" -ne "$before" ]; then
		wait "$preparing"
	fi
	preparing=
	[ "$terms" -eq 0 ] || fail 143 'the job was stopped before the trial began'
	[ "$status" -eq 0 ] || fail "$status" \
	    "pip could not install requirements.txt: status $status"
}

[ -z "$HPT_PYTHON" ] || [ ! -f "$HPT_BASE/code/requirements.txt" ] ||
    install_requirements

# ---- ranks -----------------------------------------------------------------

# Started once per rank.  Rank 0 is unchanged; every output line of another rank
# gets a prefix, so that it is no report, and its metrics file is ignored.
cat >"$work/rank.sh" <<'END'
work=${0%/*}
[ -n "${HPOTUNE_METRICS-}" ] || . "$work/env.sh"
rank=${HPT_RANK:-${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-${RANK:-0}}}}

# SIGUSR1 is the signal that mpirun forwards at once; the trial gets SIGTERM.
run() {
	[ -n "${HPT_STOP-}" ] || exec "$@"
	stops=0
	status=127
	trap 'stops=$((stops + 1))
	[ "$stops" -gt 1 ] || kill -TERM "$trial" 2>/dev/null' USR1 TERM
	# mpirun was stopped before it had registered this rank.
	[ ! -e "$work/stop" ] || exit 143
	(trap '' USR1; trap - TERM; exec "$@") &
	trial=$!
	[ "$stops" -eq 0 ] || kill -TERM "$trial"
	while :; do
		before=$stops
		wait "$trial"
		now=$?
		[ "$now" -eq 127 ] || status=$now
		[ "$stops" -ne "$before" ] || break
		if [ -n "${BASH_VERSION-}" ] && ! kill -0 "$trial" 2>/dev/null
		then
			case " $(echo $(jobs -pr)) " in
			*" $trial "*) break ;;
			esac
			wait "$trial"
			now=$?
			[ "$now" -eq 127 ] || status=$now
			break
		fi
	done
	exit "$status"
}

[ "$rank" != 0 ] || run "$@"
HPOTUNE_METRICS=$work/metrics-$rank.jsonl
export HPOTUNE_METRICS
mute() {
	trap '' TERM INT HUP USR1
	while IFS= read -r line || [ -n "$line" ]; do
		case $line in
		'hpotune: '*) line=${line#hpotune: } ;;
		esac
		printf 'hpotune-rank-%s: %s\n' "$rank" "$line"
	done
	rm -f "$work/mute-$rank"
}
fifo=$work/rank-$rank.fifo
rm -f "$fifo"
mkfifo "$fifo" || exec >/dev/null 2>&1
: >"$work/mute-$rank"
(mute <"$fifo" &)
[ ! -p "$fifo" ] || exec >"$fifo" 2>&1
run "$@"
END
# On SIGTERM Open MPI waits, twice, before it signals its ranks.  SIGUSR1 it
# forwards at once, on every host; rank.sh handles it.
if [ "$HPT_LAUNCHER" = mpirun ]; then
	case $(mpirun --version 2>&1) in
	*'Open MPI'* | *OpenRTE*)
		stop=USR1
		HPT_STOP=USR1
		export HPT_STOP
		;;
	esac
fi
# For ranks that are started over the network, without our environment.
export -p >"$work/env.sh"

need() { # program what-for
	command -v "$1" >/dev/null 2>&1 || fail 127 "the image has no $1$2"
}

start_torchrun() { # command ...
	need torchrun ', which the launcher torchrun needs'
	if [ "$host_count" -gt 1 ]; then
		set -- "--node_rank=$host_rank" "--master_addr=$first_host" \
		    --master_port=7777 --no_python sh "$work/rank.sh" "$@"
	else
		set -- --no_python sh "$work/rank.sh" "$@"
	fi
	exec $session torchrun "--nnodes=$host_count" \
	    "--nproc_per_node=$HPT_PROCESSES" "$@"
}

# mpirun starts the ranks of other hosts over ssh: wait until they listen.
wait_for_hosts() {
	tries=0
	for host in $host_names; do
		[ "$host" != "$first_host" ] || continue
		until ssh -o BatchMode=yes -o ConnectTimeout=5 \
		    -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
		    "$host" true 2>/dev/null; do
			tries=$((tries + 1))
			[ "$tries" -lt 300 ] ||
			    fail 126 "no ssh to $host: mpirun needs it"
			sleep 1
		done
	done
}

start_mpirun() { # command ...
	need mpirun ', which the launcher mpirun needs'
	total=$((host_count * HPT_PROCESSES))
	where=
	for host in $host_names; do
		[ "$host_count" -gt 1 ] || host=localhost
		where=$where${where:+,}$host:$HPT_PROCESSES
	done
	if [ "$host_count" -gt 1 ]; then
		wait_for_hosts
	fi
	set -- sh "$work/rank.sh" "$@"
	if [ "$stop" = TERM ]; then
		# shellcheck disable=SC2086
		exec $session mpirun -n "$total" -ppn "$HPT_PROCESSES" \
		    -hosts "$(printf %s "$where" | sed 's/:[0-9]*//g')" \
		    $HPT_MPI_OPTIONS "$@"
	fi
	net=
	[ "$host_count" -eq 1 ] || net="--mca btl_tcp_if_include \
$SM_NETWORK_INTERFACE_NAME --mca oob_tcp_if_include $SM_NETWORK_INTERFACE_NAME"
	# shellcheck disable=SC2086
	exec $session mpirun --allow-run-as-root -np "$total" --host "$where" \
	    --bind-to none --map-by slot \
	    --mca plm_rsh_args '-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null' \
	    $net $HPT_MPI_OPTIONS "$@"
}

# A further host of mpirun: stay while its daemon runs here.
orted_runs() {
	for comm in /proc/[0-9]*/comm; do
		read -r name 2>/dev/null <"$comm" || continue
		case $name in
		orted | prted | hydra_pmi_proxy) return 0 ;;
		esac
	done
	return 1
}

serve_mpirun() {
	sshd=$(command -v sshd || echo /usr/sbin/sshd)
	[ -x "$sshd" ] ||
	    fail 127 'the image has no sshd, which mpirun needs on other hosts'
	if [ "$HPT_BASE" = /opt/ml ]; then
		mkdir -p /run/sshd
		ssh-keygen -A >/dev/null 2>&1
	fi
	"$sshd" -D &
	server=$!
	# Ranks are stopped by mpirun, and keep this host until they end.
	stopped=
	trap 'stopped=1' TERM USR1
	until orted_runs; do
		[ -z "$stopped" ] || {
			kill "$server"
			exit 143
		}
		kill -0 "$server" 2>/dev/null || fail 126 'sshd does not run'
		sleep 1
	done
	while orted_runs; do
		sleep 1
	done
	kill "$server"
	exit 0
}

# A session of its own, so that all of it can be killed.
session=
! command -v setsid >/dev/null 2>&1 || session=setsid
# A shell ignores two signals for what it starts in the background.
[ -z "$session" ] || ! env --default-signal=INT,QUIT true 2>/dev/null ||
    session='setsid env --default-signal=INT,QUIT'

start() { # command ...
	trap - TERM INT HUP
	in_child=1
	case $HPT_LAUNCHER in
	torchrun) start_torchrun "$@" ;;
	mpirun)
		[ "$host_rank" -eq 0 ] || serve_mpirun
		start_mpirun "$@"
		;;
	esac
	[ "$host_rank" -eq 0 ] || set -- sh "$work/rank.sh" "$@"
	HPT_RANK=$host_rank
	[ "$host_rank" -eq 0 ] || export HPT_RANK
	exec $session "$@"
}

case $1 in
*/*)
	[ -e "$1" ] || fail 127 "there is no $1 in the code or the image"
	[ -x "$1" ] || chmod +x "$1" 2>/dev/null
	[ -x "$1" ] || fail 126 "$1 cannot be executed"
	;;
*) need "$1" '' ;;
esac

# ---- run -------------------------------------------------------------------

# Copy lines of the metrics file to our output, which the server reads.  When
# the file "done" exists, copy the rest and end; SIGUSR1 only shortens the wait.
echo_metrics() {
	part=
	trap : USR1
	trap '' TERM
	: >"$work/reading"
	exec 3<"$HPOTUNE_METRICS"
	while :; do
		last=
		[ ! -e "$work/done" ] || last=1
		while IFS= read -r line <&3; do
			printf 'hpotune-json: %s\n' "$part$line"
			part=
		done
		part=$part$line
		[ -z "$last" ] || break
		kill -0 $$ 2>/dev/null || break
		sleep 1 &
		wait $!
	done
	[ -z "$part" ] || printf 'hpotune-json: %s\n' "$part"
}
echo_metrics &
reader=$!

[ "$terms" -eq 0 ] || fail 143 'the job was stopped before the trial began'
start "$@" &
child=$!
[ "$terms" -eq 0 ] || on_term

# A wait that a signal cut short has another status than the trial.
status=127
while :; do
	before=$terms
	# Not in the handler: a shell that forks there may lose a child.
	if [ "$before" -gt 0 ] && [ -z "$watchdog" ]; then
		watch_grace &
		watchdog=$!
	fi
	wait "$child"
	now=$?
	[ "$now" -eq 127 ] || status=$now
	[ "$terms" -ne "$before" ] || break
	# bash may have lost a child that ended as the signal came, and would
	# wait for ever: it is gone, but still among those that run.
	if [ -n "${BASH_VERSION-}" ] && ! kill -0 "$child" 2>/dev/null; then
		# shellcheck disable=SC2046,SC3044 # in bash alone; its lines
		case " $(echo $(jobs -pr)) " in
		*" $child "*) break ;;
		esac
		wait "$child"
		now=$?
		[ "$now" -eq 127 ] || status=$now
		break
	fi
done
# The program may be one that the child has started.
if [ "$terms" -gt 0 ] && [ -n "$session" ] && [ -z "$watchdog" ]; then
	watch_grace &
	watchdog=$!
fi
while [ "$terms" -gt 0 ] && [ -n "$session" ] && tell_orphans &&
    kill -0 "$watchdog" 2>/dev/null; do
	sleep 0.1 2>/dev/null || sleep 1
done
# Other ranks may still write output.
tries=0
while [ "$tries" -lt 20 ]; do
	for muted in "$work"/mute-*; do
		:
	done
	[ -e "$muted" ] || break
	sleep 0.1 2>/dev/null || sleep 1
	tries=$((tries + 1))
done
kill -KILL -- "-$child" 2>/dev/null
[ -z "$watchdog" ] || kill -TERM "$watchdog" 2>/dev/null
: >"$work/done"
[ ! -e "$work/reading" ] || kill -USR1 "$reader" 2>/dev/null
while kill -0 "$reader" 2>/dev/null; do
	wait "$reader"
done

if [ "$status" -eq 0 ]; then
	say_end 0
	exit 0
fi
if [ "$status" -gt 128 ] && [ "$status" -le 192 ]; then
	fail "$status" "the trial was ended by signal $((status - 128))"
fi
fail "$status" "the trial exited with status $status"
