#!/bin/sh
# The official Python client of the Model Context Protocol, by the newest version
# and by the one before it, drives hpotune mcp.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3
find_python 'mcp>=2'

for mode in auto legacy; do
	rm -rf peer.*
	cat >peer.json <<-'END'
	{ "study": "peer", "objective": { "metric": "loss", "goal": "minimize" },
	  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
	  "strategy": "random", "stopping": "none", "limits": { "trials": 9 } }
	END
	timeout 300 "$python" "$TOP_SRCDIR/tests/peers/mcp_client.py" \
	    "$HPOTUNE" "$dir/peer.json" "$mode" >found 2>errors ||
	    diag "$(tail -n 5 errors)"
	while IFS='	' read -r said what; do
		is "$said" ok "$mode: $what"
	done <found
	is "$(wc -l <found)" 24 "$mode: all was looked at"
	like "$(sql peer.db 'SELECT DISTINCT caller FROM requests')" \
	    '^mcp [0-9.]+ \(pid [0-9]+\)$' "$mode: the name of the client"
done

done_testing
