# Commands that are killed before each of their system calls; source it after lib.sh.

# A process that is traced cannot look for leaks.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export ASAN_OPTIONS

# Kill a command before every so many of the system calls with which it changes
# anything, each time in a new copy of the folder whole, and look there at what is
# left: with a function that gets the number of the call and the command.  $kills:
# how often it was killed.
kill_each() { # what step function command …
	kill_what=$1
	kill_step=$2
	kill_look=$3
	shift 3
	kills=0
	kill_call=1
	while :; do
		rm -rf at
		cp -a whole at
		cd at || exit 99
		"$TOP_BUILDDIR/tests/tools/killed-at" $kill_call "$@" \
		    >../out 2>../err
		kill_status=$?
		[ $kill_status -eq 0 ] || break
		kills=$((kills + 1))
		[ $((kills % 10)) -ne 0 ] || diag "$kill_what: $kills kills"
		"$kill_look" $kill_call "$@"
		cd ..
		kill_call=$((kill_call + kill_step))
	done
	cd ..
	is "$kill_status" 1 "$kill_what: the last one was not killed"
}
