#!/bin/sh
# What is to be measured on a GPU that is lent for minutes, on the fake driver: each
# part of the script ends, with the results that do not depend on a GPU.

TOP_SRCDIR=$(cd "$TOP_SRCDIR" && pwd)
TOP_BUILDDIR=$(cd "$TOP_BUILDDIR" && pwd)
. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/fashion.sh"
need sqlite3 setsid mkfifo

unset HPOTUNE_CHECKPOINT_DIR HPOTUNE_NVML HPOTUNE_CUDA FAKE_GPUS_FILE
fashion_small
HPOTUNE=$TOP_BUILDDIR/hpotune FAKE_GPUS_FILE=none BENCH_SMALL=yes \
    BENCH_SECONDS=100000 BENCH_LIMIT=100000 BENCH_MLP="$TOP_BUILDDIR/examples/fashion-mnist/mlp" \
    BENCH_MLP_OPTIONS="--data=$dir/data --train-size=600 --validation-size=500" \
    sh "$TOP_SRCDIR/bench/gpu-lent.sh" \
    server resume stray shared energy suspend pack >rows 2>err
is $? 0 'the script ends'
is "$(cat err)" '' 'without a word'
is "$(grep -c -e failed -e 'not ended' -e 'no time left' rows)" 0 \
    'no part has failed'

# cell ROW: what was found in the first row that begins so
cell() {
	sed -n "s/^| $1[^|]*| \([^|]*\) |.*/\1/p" rows | head -n 1
}
is "$(cell '... trials completed of 2')" '2 and 2' \
    'both trials go on under the next server'
is "$(cell 'the trainer killed')" yes 'a killed trainer goes on, to the bit'
is "$(cell '... completed, GPUs')" '2, 0' \
    'a process that is left behind harms nobody'
is "$(grep -c '^| 16 trials, [18] at a time' rows)" 2 'trials share a GPU'
like "$(cell 'energy of a trial')" '^[0-9.]+$|^unknown$' 'energy has a row'
like "$(cell 'suspended with 8 MiB')" \
    '^lock .*out .*in .*unlock .* ([0-9]+), ([0-9]+), \1 MiB free$' \
    'a process is suspended, and has its memory back'
like "$(cat rows)" 'memory after: same' 'which is as it was'
like "$(cell '... trials, stopped, best')" '^64, ' 'a pack of 64 trials'
[ "$tap_failed" -eq 0 ] || diag "$(cat rows err)"

done_testing
