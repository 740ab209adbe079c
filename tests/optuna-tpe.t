#!/bin/sh
# TPE sees what Optuna 5 sees: the densities of both on random histories, with
# stopped and running trials and every kind of parameter.

. "$TOP_SRCDIR/tests/lib.sh"

seeds=40
venv=$TOP_BUILDDIR/build-peers
python=${BENCH_PYTHON-$venv/bin/python}

has_optuna() {
	"$python" -c 'import optuna, sys
sys.exit(int(optuna.__version__.split(".")[0]) < 5)' 2>/dev/null
}

# Once for each build tree; a machine without its package index goes without.
install_optuna() {
	[ -z "${BENCH_PYTHON-}" ] && command -v python3 >/dev/null || return
	[ -x "$python" ] || timeout 60 python3 -m venv "$venv" || return
	timeout 120 "$python" -m pip install -q --timeout 5 --retries 1 \
	    'optuna>=5' >pip.out 2>&1
}

has_optuna || install_optuna || :
has_optuna ||
    skip_all 'Optuna 5 is not there and could not be installed: NOT COMPARED'

worst=$(timeout 300 "$python" "$TOP_SRCDIR/tests/optuna_tpe.py" \
    "$TOP_BUILDDIR/tests/tpe-density" $seeds 2>differences)
ok "densities differ by less than 1e-9 (by ${worst:-?})" \
    awk -v worst="${worst:-1}" 'BEGIN { exit !(worst < 1e-9) }' ||
    diag "$(tail -n 20 differences)"

done_testing
