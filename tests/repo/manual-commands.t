#!/bin/sh
# hpotune(1) documents every command and every option, and its examples work.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

page=$TOP_SRCDIR/man/hpotune.1

# Every command, and every option of it, stands on the page.
for command in $("$HPOTUNE" help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
	like "$(cat "$page")" "^(\\.It |\\.)Nm Cm $command( |\$)" \
	    "hpotune.1: $command"
	# From the command's item to the next command's.
	item=$(awk -v want="$command" '
	    /^\.It Xo|^\.It Nm Cm/ { on = 0 }
	    /^(\.It |\.)Nm Cm / {
		for (i = 1; i < NF; i++)
			if ($i == "Cm") { on = $(i + 1) == want; break }
	    }
	    on' "$page")
	for option in $("$HPOTUNE" "$command" --help |
	    sed -n 's/^ .*--\([a-z-]*\).*/\1/p'); do
		[ "$option" = help ] && continue
		like "$item" "Fl -$option( |\$)" \
		    "hpotune.1: $command --$option"
	done
done

# The examples, in their order, on a study of pretended trials.
need sqlite3
cat >study.json <<'END'
{
  "study": "fashion-mlp",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": {
    "lr": { "type": "float", "min": 1e-4, "max": 1, "scale": "log" },
    "optimizer": { "type": "choice", "values": ["sgd", "adam"] }
  },
  "strategy": { "name": "random", "seed": 3 },
  "trial": { "command": ["true", "{params}"] },
  "backend": { "name": "pretend", "seconds_per_step": 0.001 },
  "limits": { "trials": 20 }
}
END
mkdir bin
ln -s "$HPOTUNE" bin/hpotune
PATH=$dir/bin:$PATH
grep '^\$ ' "$page" | cut -c 3- >examples
ok 'hpotune.1 has examples' test -s examples
while read -r example <&3; do
	sh -c "$example" >out 2>&1 </dev/null
	is $? 0 "$example" || diag "$(cat out)"
done 3<examples

done_testing
