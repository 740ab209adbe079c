#!/bin/sh
# The preset "optuna", asha and hyperband make the same decisions as Optuna on
# random streams.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

streams=${OPTUNA_STREAMS:-$(often 120 400)}
seconds=${OPTUNA_SECONDS:-60}

find_python 'optuna>=5'

same() { # rule
	"$python" -W ignore "$TOP_SRCDIR/tests/peers/optuna_median.py" \
	    "$TOP_BUILDDIR/tests/tools/stop-stream" "$1" "$streams" "$seconds" \
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
exec "$TOP_BUILDDIR/tests/tools/stop-stream" optuna '{"n_startup_trials": 2}' "\$2"
END
chmod +x wrong
"$python" -W ignore "$TOP_SRCDIR/tests/peers/optuna_median.py" ./wrong optuna 20 60 \
    >out 2>err
is $? 1 'other settings, other decisions'

done_testing
