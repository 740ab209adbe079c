#!/bin/sh
# Folders of trials that are made ahead: a trial gets one by a rename, nothing of
# them is left when the server ends, and what a killed server has left is removed.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

# A supervisor that writes down what it is started for; the inodes of folders that
# it has made, and its process id then.
cat >shim <<END
#!/bin/sh
for word; do
	case \$word in
	dir=* | ahead=*) printf '%s ' "\${word##*/}" ;;
	--) break ;;
	esac
done >>"$dir/words"
echo >>"$dir/words"
case \$1 in
ahead=*)
	if [ -e "$dir/broken" ]; then
		mkdir -p "\${1#ahead=}/\$2/attempt-1"
		echo \$\$ >>"$dir/makers"
		exit 28
	fi
	"$HPOTUNE_SHIM" "\$@" || exit
	(cd "\${1#ahead=}" && shift && stat -c %i "\$@") >>"$dir/inodes"
	echo \$\$ >>"$dir/makers"
	exit
	;;
esac
exec "$HPOTUNE_SHIM" "\$@"
END
chmod +x shim
HPOTUNE_SHIM=$dir/shim

# A trial that ends when as many folders have been made as trials have started
# and the last maker has ended, or when it is told to.
cat >trial <<'END'
#!/bin/sh
maker() {
	[ -e makers ] || return 1
	[ -e broken ] || [ "$(wc -l <makers)" -ge "$HPOTUNE_TRIAL" ] || return 1
	status=/proc/$(tail -n 1 makers)/status
	[ ! -e "$status" ] || grep -q '^State:[[:space:]]*Z' "$status"
}
until [ -e go ] || { [ ! -e hold ] && maker; }; do
	sleep 0.02
done
ls "$HPOTUNE_CHECKPOINT_DIR" "$HPOTUNE_OUTPUT_DIR/model" >/dev/null || exit 3
echo "hpotune: step=1 score=0.$HPOTUNE_TRIAL"
END
chmod +x trial

make_study() { # name trials
	cat >"$1.json" <<-END
	{ "study": "$1",
	  "objective": { "metric": "score", "goal": "maximize" },
	  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
	  "strategy": "random", "stopping": "none",
	  "trial": { "command": ["./trial"] },
	  "backend": { "name": "local" },
	  "limits": { "trials": $2, "parallel": 1 } }
	END
	rm -f words makers inodes go hold broken
}
made_ahead() { # study: how many of its trials are in such a folder
	stat -c %i "$1".d/trials/* | grep -cxFf inodes
}
states() { # database
	sqlite3 "$1" "SELECT group_concat(state || ' ' || objective, ', ')
	    FROM (SELECT * FROM trials ORDER BY trial)"
}

make_study first 3
ok 'three trials run one after the other' quietly "$HPOTUNE" start first.json
is "$(states first.db)" 'completed 0.1, completed 0.2, completed 0.3' \
    'each of them finds its folders'
like "$(cat words)" '^ahead ' 'folders are made by the program of the supervisor'
is "$(made_ahead first)" 2 'the second and the third trial get theirs'
is "$(ls first.d)" 'lock
trials' 'no folder that was made ahead is left'
files() { # trial: its files with their modes
	(cd "first.d/trials/$1" && find . -printf '%p %m\n' | sort)
}
is "$(files 2)" "$(files 1)" \
    'a folder that was made ahead looks like one that was not'

# A killed server leaves a folder; the next one makes its own.
make_study second 2
touch hold
server second.json
ok 'a folder is made while the first trial runs' retry test -s makers
left=$(ls second.d/ahead | head -n 1)
kill -9 $server
wait $server 2>/dev/null
ok 'a killed server leaves it' test -d "second.d/ahead/$left"
rm hold
touch go
ok 'another server finishes the study' quietly "$HPOTUNE" start second.json
is "$(states second.db)" 'completed 0.1, completed 0.2' 'with all trials'
is "$(find second.d -name "$left" -o -name ahead)" '' 'and the folder is removed'

# Folders cannot be made whole: a full disk, for example.
make_study third 2
touch broken
ok 'a study runs without them' quietly "$HPOTUNE" start third.json
is "$(states third.db)" 'completed 0.1, completed 0.2' 'with all trials'
ok 'in folders that the server has made' test ! -e inodes

done_testing
