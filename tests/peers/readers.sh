# Sourced by readers.t and readers-*.t.
#
# A training of a library runs as trial 1 of a study, with its usual output and
# no hpotune in it, and the curves of the database equal what the library itself
# remembers.  The first attempt of a training that is cut is ended by SIGTERM in
# the middle of an epoch, the second continues from the checkpoint.

# In copies: Python keeps beside a module what it has compiled, which must not be in
# the source, and which takes longer than the trainings where it is not kept.
peers=$dir/peers
mkdir "$peers"
cp "$TOP_SRCDIR"/tests/peers/reader*.py "$peers"
PYTHONPATH="$peers${PYTHONPATH:+:$PYTHONPATH}"
OMP_NUM_THREADS=1
export PYTHONPATH OMP_NUM_THREADS
unset PYTHONDONTWRITEBYTECODE

# Whether a Python that is there has the modules: it is $python.
has() { # module …
	for python in ${HPOTUNE_TEST_PYTHON-} python3; do
		command -v "$python" >/dev/null && python_has "$@" && return
	done
	python_why="HPOTUNE_TEST_PYTHON names none"
	return 1
}

# Without the modules the tests that follow are skipped.
library() { # has or python_found, module …
	library=$2
	library_there=false
	"$@" && library_there=true && return
	shift
	skip "$library" "NOT COMPARED: no Python with $*: $python_why"
}

# The keys of "trial" are a line of JSON; the variables of the environment are
# words.  A pair is as in reader_same.py.
training() { # way name program variables keys tolerance pair …
	$library_there || return 0
	way=$1
	name=$2-$1
	program=$peers/$3
	variables="$4 HISTORY=$dir/$name.history"
	keys=$5
	tolerance=$6
	shift 6
	retries=0
	case $way in
	*cut*) variables="$variables CUT=2" retries=1 ;;
	esac
	case $way in
	*slow*) variables="$variables SLOW=0.06" ;;
	esac
	cat >"$name.json" <<-END
	{ "study": "$name",
	  "objective": { "metric": "${1%%=*}", "goal": "minimize" },
	  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
	  "trial": { "command": ["$(command -v "$python")", "$program"],
	      "workdir": "{output_dir}", "retries": $retries, $keys },
	  "strategy": { "name": "random", "seed": 1 }, "stopping": "none",
	  "limits": { "trials": 1 } }
	END
	# shellcheck disable=SC2086 # words
	quietly env $variables "$HPOTUNE" start -q "$name.json"
	if [ ! -e "$name.history" ]; then
		ok "$name: the training ends" false
		diag "$(cat out err; "$HPOTUNE" logs "$name.json" 1 | tail -n 20)"
		return 0
	fi
	is "$("$python" "$peers/reader_same.py" "$name.db" \
	    "$name.history" "$tolerance" "$@" 2>&1)" '' \
	    "$name: the curve is that of the library" ||
	    diag "$(cat out err; "$HPOTUNE" logs "$name.json" 1 | tail -n 40)"
	is "$(sql "$name.db" "SELECT state, attempts FROM trials")" \
	    "completed|$((retries + 1))" "$name: the trial is completed"
}
