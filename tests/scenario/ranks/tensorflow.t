#!/bin/sh
# TensorFlow's parameter servers, where a Python has TensorFlow: a trial of a
# chief, workers and a server, and one that resumes from a checkpoint.  The AWS
# requests beside the distributed examples are valid everywhere.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

need sqlite3
cp -r "$TOP_SRCDIR/examples/distributed" example
chmod -R u+w example
for far in example/*/far.json; do
	ok "check accepts ${far#example/}" quietly "$HPOTUNE" check "$far"
done

find_tensorflow() {
	for python in ${HPOTUNE_TEST_TENSORFLOW-} python3; do
		python=$("$python" -c 'import importlib.util, sys
print(sys.executable)
sys.exit(not importlib.util.find_spec("tensorflow"))' 2>/dev/null) && return
	done
	return 1
}
if ! find_tensorflow; then
	skip 'parameter servers of TensorFlow' \
	    'NOT RUN: no Python with tensorflow ($HPOTUNE_TEST_TENSORFLOW)'
	done_testing
	exit
fi
mkdir bin
printf '#!/bin/sh\nexec "%s" "$@"\n' "$python" >bin/python3
chmod +x bin/python3
PATH=$dir/bin:$PATH

study=example/tensorflow/study.json
ok 'check accepts the example' quietly "$HPOTUNE" check "$study"
# The chief ends by itself half way; its next attempt finds what it has saved.
cat >>example/tensorflow/train.py <<'END'
    if number == 5 and os.environ.get("HPOTUNE_ATTEMPT") == "1":
        raise SystemExit("half way")
END
timeout 300 "$HPOTUNE" start "$study" --quiet --trials 1 >out 2>err ||
    diag "$(cat err)"
db=example/tensorflow/tensorflow.db
is "$(sql $db 'SELECT state, reports FROM trials')" 'completed|10' \
    'a chief, two workers and a server'
is "$(sql $db 'SELECT count(*) FROM attempts')" 2 'in two attempts'
is "$(sql $db 'SELECT count(*), min(step), max(step) FROM curves')" '10|1|10' \
    'the second one continued'
is "$(sql $db 'SELECT (SELECT value FROM curves WHERE step = 10) <
    (SELECT value FROM curves WHERE step = 1)')" 1 'and it learns'
is "$(pgrep -f "$dir/example" | head -n 1)" '' 'nothing is left of them'
done_testing
