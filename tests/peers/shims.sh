# Sourced by shims-*.t.
#
# A program of shim_libraries.py runs twice: with the tracker itself, which keeps
# what is logged in files, and as a trial with trial.shims.  Names, steps and values
# are the same, and wandb.config has the parameter of the trial.

# In copies, as in readers.sh.
peers=$dir/peers
mkdir "$peers"
cp "$TOP_SRCDIR"/tests/peers/shim_*.py "$peers"
OMP_NUM_THREADS=1
export OMP_NUM_THREADS
unset PYTHONDONTWRITEBYTECODE

# Whether a Python has the packages, which it does not import: it is $python.
installed() { # package, or package<MAJOR …
	for python in ${HPOTUNE_TEST_PYTHON-} python3; do
		"$python" -c 'import importlib.metadata, sys
for name in sys.argv[1:]:
    name, _, below = name.partition("<")
    found = importlib.metadata.version(name)
    assert not below or int(found.partition(".")[0]) < int(below)' \
		    "$@" 2>/dev/null && return
	done
	return 1
}
# SHIM_PROGRAMS names those that run; all without it.
compared() { # program objective package …
	program=$1
	objective=$2
	shim=${program%%_*}
	name=$(echo "$program" | tr _ -)
	shift 2
	[ -z "${SHIM_PROGRAMS-}" ] || case " $SHIM_PROGRAMS " in
	*" $program "*) ;;
	*) return 0 ;;
	esac
	package=$shim
	[ "$shim" != mlflow ] || package=mlflow-skinny
	if ! installed "$package" "$@"; then
		skip "$name" "NOT COMPARED: no Python with $package $*"
		return 0
	fi
	cat >"$name.json" <<-END
	{ "study": "$name",
	  "objective": { "metric": "$objective", "goal": "minimize" },
	  "parameters": { "lr": { "type": "fixed", "value": 0.25 } },
	  "strategy": { "name": "random", "seed": 1 }, "stopping": "none",
	  "trial": { "command": ["$(command -v "$python")",
	          "$peers/shim_libraries.py", "$program"],
	      "workdir": "{output_dir}", "shims": ["$shim"],
	      "env": { $([ "$shim" = wandb ] || echo '"LR": "{lr}"') }, "retries": 0 },
	  "limits": { "trials": 1 } }
	END
	mkdir -p "real.$name"
	ok "$name: the package itself" quietly in_real ||
	    diag "$(tail -n 20 out err)"
	ok "$name: the trial" quietly "$HPOTUNE" start -q "$name.json" ||
	    diag "$(cat err; "$HPOTUNE" logs "$name.json" 1 | tail -n 30)"
	[ -e "$dir/$name.history" ] || return 0
	is "$(python3 "$peers/shim_same.py" "$name.db" "$dir/$name.history" 2>&1)" '' \
	    "$name: the same names, steps and values"
}
# The second call is after the end: wandb writes its file in another process.
in_real() {
	(
		cd "real.$name" || exit 1
		HISTORY=$dir/$name.history
		WANDB_MODE=offline WANDB_SILENT=true
		WANDB_CACHE_DIR=$dir WANDB_CONFIG_DIR=$dir WANDB_DATA_DIR=$dir
		MLFLOW_ALLOW_FILE_STORE=true
		MLFLOW_TRACKING_URI=file://$PWD/store
		export HISTORY WANDB_MODE WANDB_SILENT WANDB_CACHE_DIR
		export WANDB_CONFIG_DIR WANDB_DATA_DIR
		export MLFLOW_ALLOW_FILE_STORE MLFLOW_TRACKING_URI
		LR=0.25 "$python" "$peers/shim_libraries.py" "$program" &&
		    "$python" "$peers/shim_libraries.py" "$program" kept
	)
}

MPLCONFIGDIR=$dir YOLO_CONFIG_DIR=$dir YOLO_OFFLINE=true TF_CPP_MIN_LOG_LEVEL=3
CUDA_VISIBLE_DEVICES='' HF_HUB_OFFLINE=1 DO_NOT_TRACK=1
export MPLCONFIGDIR YOLO_CONFIG_DIR YOLO_OFFLINE TF_CPP_MIN_LOG_LEVEL
export CUDA_VISIBLE_DEVICES HF_HUB_OFFLINE DO_NOT_TRACK
