#!/bin/sh
# Importances on random studies: PED-ANOVA equals that of Optuna 5, fANOVA uses
# another forest and is close.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

find_python 'optuna>=5' scikit-learn

timeout 300 "$python" "$TOP_SRCDIR/tests/peers/optuna_importance.py" \
    "$TOP_BUILDDIR/tests/tools/importance-of" 12 >worst 2>differences
read -r ped forest <worst || :
ok "PED-ANOVA is the same (differs by ${ped:-?})" \
    awk -v worst="${ped:-1}" 'BEGIN { exit !(worst < 1e-6) }' ||
    diag "$(tail -n 20 differences)"
ok "fANOVA is near (shares differ by ${forest:-?})" \
    awk -v worst="${forest:-1}" 'BEGIN { exit !(worst < 0.1) }' ||
    diag "$(tail -n 20 differences)"

done_testing
