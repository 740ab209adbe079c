#!/bin/sh
# A child of a scenario that gets SIGTERM before it has become its program has the
# traps of the scenario: it must not remove the folder that the scenario runs in.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need bash

cat >scenario <<'END'
. "$TOP_SRCDIR/tests/support/sh/lib.sh"
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	sleep 0.2 &
	kill $!
	wait $! 2>/dev/null
	[ -d "$dir" ] || exit 1
done
echo "$dir" >&3
END
for shell in sh bash; do
	ok "$shell: the folder stays" "$shell" scenario 3>folder 2>err
	fails "$shell: and is removed at the end" 1 test -e "$(cat folder)"
done

done_testing
