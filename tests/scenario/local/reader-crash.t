#!/bin/sh
# A server that crashes while it reads a file of a trial: the next one leaves that
# file alone, says so, and goes on.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

failing=$TOP_BUILDDIR/tests/torture/hpotune-fail
export HPOTUNE_FAIL_LOG="$dir/crashes"

cat >train <<'END'
#!/bin/sh
echo "{\"loss\": $1}" >"$HPOTUNE_OUTPUT_DIR/a.jsonl"
touch ready
exec sleep "${SLOW-0.3}"
END
chmod +x train
cat >study.json <<'END'
{"study": "c", "objective": {"metric": "loss", "goal": "minimize"},
 "parameters": {"x": {"type": "float", "min": 0, "max": 1}},
 "strategy": {"name": "random", "seed": 1},
 "trial": {"command": ["./train", "{x}"], "retries": 0,
     "metrics": [{"from": "json", "path": "{output_dir}/a.jsonl"}]},
 "limits": {"trials": 2, "parallel": 2}}
END

start() { # status what; $program
	(
		ulimit -c 0
		"$program" start --quiet study.json >out 2>err
	)
	is $? "$1" "$2"
}
notes() {
	sql c.db "SELECT count(*) FROM events WHERE text LIKE '%left alone%$1%'"
}

# Each server crashes in the first file that it reads.
program=$failing
HPOTUNE_FAIL=reading.begin=crash
export HPOTUNE_FAIL
start 134 'a server crashes while it reads'
first=$(tr '\0' '\n' <c.d/left-alone | sed 's/^[^ ]* //')
like "$first" '^trials/[12]/attempt-1/log$' 'the file is noted'
start 134 'the next one crashes in another file'
like "$(tr '\0' '\n' <c.d/left-alone)" "^[0-9.]+ $first\$" 'the first note stays'
is "$(tr '\0' '\n' <c.d/left-alone | sort | uniq -d)" '' \
    'and no server crashes in the same file twice'
unset HPOTUNE_FAIL

# What is left alone is named, and the study goes on; what another version of the
# program has noted is read.
version=$(tr '\0' '\n' <c.d/left-alone | sed 's/ .*//;q')
printf '%s trials/1/output/a.jsonl\0%s.1 trials/2/output/a.jsonl\0' \
    "$version" "$version" >c.d/left-alone
program=$HPOTUNE
start 0 'with other notes the study ends'
is "$(notes '')" 1 'one file is left alone'
is "$(notes read)|$(sql c.db "SELECT count(*) FROM events WHERE trial = 1
    AND text LIKE '%/trials/1/output/a.jsonl: it is left alone%'")" '1|1' 'it is named'
is "$(sql c.db 'SELECT trial, state, objective IS NOT NULL FROM trials')" \
    '1|failed|0
2|completed|1' 'the other one was read'
like "$(sql c.db 'SELECT why FROM attempts WHERE trial = 1')" \
    'a.jsonl: it is left alone' 'the failure has the reason'

# A signal that another process sends says nothing about a file.  Sanitizers take it
# for a fault of the program.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_segv=0
export ASAN_OPTIONS
rm -rf c.d c.db* ready
background server env SLOW=30 "$failing" start --quiet study.json
ok 'a study runs' retry test -e ready
kill -SEGV "$child"
wait "$child" 2>/dev/null
is "$?|$(ls c.d/left-alone 2>&1 | grep -c No)" '139|1' 'a kill is not noted'

done_testing
