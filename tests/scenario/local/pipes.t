#!/bin/sh
# A pipe in the place of any file that a trial can reach: no open waits for its
# other end, neither in a server nor in a command, and the study goes on.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

# trials [command of a trial]
study() {
	cat >study.json <<END
{"study": "p", "objective": {"metric": "loss", "goal": "minimize"},
 "parameters": {"x": {"type": "float", "min": 0, "max": 1}},
 "strategy": {"name": "random", "seed": 1},
 "trial": {"command": ["sh", "-c", "${2-echo hpotune: loss={x\}}"],
           "reads": ["json"], "retries": 0},
 "hooks": {"best": ["true"]}, "limits": {"trials": $1, "parallel": 1}}
END
}

# A command that waits is killed: status 137.
bounded() { # command …
	timeout -s KILL 600 "$HPOTUNE" "$@" study.json >out 2>err </dev/null
}

# What the first two trials and folders made ahead have.
study 2
fails 'a study runs' 0 bounded start --quiet
study 3 'touch ready; sleep 2; echo hpotune: loss={x}'
server --quiet study.json
ok 'a trial runs' retry test -e ready
ok 'folders are made ahead' retry sh -c 'ls p.d/ahead/*/attempt-1/state'
kill -9 "$server"
wait "$server" 2>/dev/null
study 3
fails 'the next server adopts the trial' 0 bounded start --quiet
mkdir -p p.d/ahead/a/attempt-1
for file in log metrics.jsonl params.json state trial.lock; do
	: >p.d/ahead/a/attempt-1/$file
done

n=3
for file in $(find p.d p.db* -type f | sed 's|.*/||' | sort -u) p.db-wal; do
	mkdir kept
	cp -a p.d p.db* kept
	find p.d p.db* -name "$file" >list
	[ -s list ] || echo "$file" >list
	while read -r path; do
		rm -f "$path"
		mkfifo -m 600 "$path"
	done <list
	waited=
	for command in 'start --quiet' status trials show 'logs 1' \
	    'export --output e' gc; do
		study $((n + 1))
		# shellcheck disable=SC2086 # words of a command
		bounded $command
		[ $? -ne 137 ] || waited="$waited $command"
	done
	is "$waited" '' "nothing waits for the pipe $file"
	rm -rf p.d p.db* e
	mv kept/* .
	rmdir kept
done

# A server in the background opens its log before it is one.
mkfifo -m 600 p.d/server.log
fails 'nor does a server in the background for that of its log' 1 bounded start --detach
like "$(cat err)" 'server.log: no regular file' 'the command says so'
rm p.d/server.log

# A trial that does it while the server runs: in its own folder, and ahead.
cat >pipes <<'END'
#!/bin/sh
cd "$HPOTUNE_OUTPUT_DIR/../../.." || exit
# Without its record and its lock, whether it runs cannot be known (hostile-trials.t).
for file in trials/"$HPOTUNE_TRIAL"/attempt-1/[!st]* ahead/*/attempt-1/* hooks.log; do
	rm -f "$file"
	mkfifo "$file"
done
END
chmod +x pipes
study 12 './pipes; echo hpotune: loss={x}'
fails 'a study whose trials put pipes everywhere ends' 0 bounded start --quiet
like "$(bounded status; cat out)" '12 trials' 'with all its trials'

done_testing
