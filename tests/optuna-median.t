#!/bin/sh
# The preset "optuna", asha and hyperband decide what Optuna itself decides, on
# random streams.
# $OPTUNA_PYTHON is a Python that has Optuna; else one is made in the build
# folder, when the package index can be reached.

. "$TOP_SRCDIR/tests/lib.sh"

streams=${OPTUNA_STREAMS:-400}
seconds=${OPTUNA_SECONDS:-60}

# A Python with Optuna, in $python.
find_python() {
	python=${OPTUNA_PYTHON-}
	[ -z "$python" ] || return 0
	command -v python3 >/dev/null || return 1
	venv=$TOP_BUILDDIR/build-optuna
	python=$venv/bin/python
	[ -x "$python" ] && "$python" -c 'import optuna' 2>/dev/null && return 0
	rm -rf "$venv"
	timeout 120 python3 -m venv "$venv" >pip.log 2>&1 &&
	    timeout 240 "$python" -m pip install -q --disable-pip-version-check \
		--retries 1 --timeout 15 optuna >>pip.log 2>&1
}

if ! find_python; then
	diag 'NOT COMPARED WITH OPTUNA: it could not be installed'
	[ ! -s pip.log ] || diag "$(tail -n 3 pip.log)"
	skip_all 'NOT COMPARED WITH OPTUNA: it could not be installed'
fi

same() { # rule
	"$python" -W ignore "$TOP_SRCDIR/tests/optuna-median.py" \
	    "$TOP_BUILDDIR/tests/stop-stream" "$1" "$streams" "$seconds" \
	    >out 2>err
	status=$?
	diag "$(cat out err)"
	is "$status" 0 "$1: the decisions of Optuna itself"
	like "$(cat out)" 'streams, [0-9]{4,} decisions' 'thousands of them'
}
same optuna
same asha
same hyperband

# The comparison finds a difference when there is one.
cat >wrong <<END
#!/bin/sh
shift
exec "$TOP_BUILDDIR/tests/stop-stream" optuna '{"n_startup_trials": 2}' "\$2"
END
chmod +x wrong
"$python" -W ignore "$TOP_SRCDIR/tests/optuna-median.py" ./wrong optuna 20 60 \
    >out 2>err
is $? 1 'other settings, other decisions'

done_testing
