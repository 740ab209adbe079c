#!/bin/sh
# Text that a shell executes, from ask and best: values with bytes that a shell
# or a terminal could interpret.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

# Whatever of these is executed leaves a file PWNED.
cat >words.json <<'END'
{ "study": "words", "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "w": { "type": "choice", "values": [
    "a\u001b'; touch PWNED #", "$(touch PWNED)", "`touch PWNED`",
    "\n; touch PWNED\n\n", "\n", "it's", "'", "\\'; touch PWNED; \\", "-n",
    "--", "%s%n\\0101\\c", "!touch PWNED", "\"; touch PWNED; \"", "a=b", "=ls",
    "~", "*", "", " ", "é\u009b31m\u202e\u2028", "\u001b[2J\u00077", "$'\\x41'",
    "\\\n; touch PWNED", "{touch,PWNED}", "> PWNED", "& touch PWNED &" ] } },
  "strategy": "grid",
  "trial": { "command": ["./write", "{w}"], "workdir": "in it's" },
  "limits": { "trials": 26 } }
END
mkdir "in it's"
printf '#!/bin/sh\nprintf "%%s/" "$1" >"%s/written"\n' "$dir" >"in it's/write"
chmod +x "in it's/write"

shells=
for shell in sh dash bash 'busybox ash' mksh ksh yash zsh; do
	if command -v ${shell%% *} >/dev/null; then
		shells="$shells${shells:+
}$shell"
	else
		diag "$shell is not installed"
	fi
done

hex() { # file
	od -An -v -tx1 "$1" | tr -d ' \n' | tr a-f A-F
}
# Each shell executes the file lines/N for each trial N and leaves the word,
# with a slash after it, in the file written.
every_shell() { # what [option]
	while read -r shell; do
		for n in $trials; do
			rm -f written
			$shell "lines/$n" 2>>errors
			echo "$n $(hex written)"
		done >got
		is "$(cat got)" "$(cat want)" "$shell: $1: the same bytes"
	done <<END
$shells
END
	is "$(find . -name '*PWNED*')" '' "$1: nothing was executed"
}
# Bytes that a terminal obeys, or that are not UTF-8: none.
harmless() { # file what
	is "$(grep -cP '[\x00-\x1f\x7f-\x9f\x{202e}\x{2028}]' "$1")" 0 "$2"
}

"$HPOTUNE" ask --count 100 words.json >asked
is $? 0 'ask'
trials=$(sql words.db 'SELECT trial FROM trials ORDER BY trial')
is "$(echo "$trials" | wc -l)" 26 'all values are asked for'
sql words.db "SELECT trial || ' ' || hex(CAST(w AS BLOB)) || '2F' FROM results
    ORDER BY trial" >want
split_trials() { # file: one file for each block of what ask printed
	rm -rf lines
	mkdir lines
	awk '/^trial=[0-9]+$/ { n = substr($0, 7) }
	    { print >("lines/" n) }' "$1"
	for n in $trials; do
		cat >>"lines/$n" <<'END'
printf '%s/' "$w" >written
END
	done
}
split_trials asked
every_shell ask
like "$(cat asked)" "^w='a.'\\\\''; touch PWNED #'\$" 'ask: single quotes'

# best shows its line to people, too.
for n in $trials; do
	"$HPOTUNE" tell words.json "$n" loss="-$n" --done >out
	"$HPOTUNE" best words.db >best
	sed -n '/^again: /,$p' best | sed '1s/^again: //' >"lines/$n"
	[ "$n" -gt 1 ] || cat best >shown
	cat best >>all
done
every_shell best
harmless all 'best: nothing that a terminal obeys'
"$HPOTUNE" check words.json >out
harmless out 'check: nothing that a terminal obeys'

# So does ask, when a terminal shows it.
if command -v script >/dev/null; then
	rm words.db
	script -qec "'$HPOTUNE' ask --count 100 words.json" /dev/null </dev/null |
	    tr -d '\r' >asked
	harmless asked 'ask on a terminal: nothing that it obeys'
	sql words.db "SELECT trial || ' ' || hex(CAST(w AS BLOB)) || '2F'
	    FROM results ORDER BY trial" >want
	split_trials asked
	every_shell 'ask on a terminal'
else
	skip 'ask on a terminal' 'no script'
fi

done_testing
