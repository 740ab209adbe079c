# Helpers of the shell scenarios: TAP, a private directory, waiting without
# sleeping, servers in the background.  Source it first:
#
#	. "$TOP_SRCDIR/tests/lib.sh"
#
# and end with done_testing.  The scenario then runs in a directory of its own
# ($dir), which goes at exit with every process that background or server
# started.

set -u
LC_ALL=C.UTF-8
export LC_ALL
umask 022

tap_count=0
tap_failed=0
children=

dir=$(mktemp -d "${TMPDIR:-/tmp}/hpotune-test.XXXXXX") || exit 99
cd "$dir" || exit 99

# The processes this scenario started, and only those.
cleanup() {
	trap - EXIT
	for child in $children; do
		kill -9 "$child" 2>/dev/null
	done
	cd / && rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

diag() { # text …: lines of comment
	printf '%s\n' "$*" | sed 's/^/# /'
}

verdict() { # status what
	tap_count=$((tap_count + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $tap_count - $2"
		return 0
	fi
	tap_failed=$((tap_failed + 1))
	echo "not ok $tap_count - $2"
	return 1
}

ok() { # what command …: the command succeeds
	ok_what=$1
	shift
	"$@"
	verdict $? "$ok_what"
}

quietly() { # command …: what it says goes to the files out and err
	"$@" >out 2>err
}

fails() { # what status command …: the command ends with this status
	fails_what=$1
	fails_want=$2
	shift 2
	"$@"
	is $? "$fails_want" "$fails_what"
}

is() { # got want what
	if [ "$1" = "$2" ]; then
		verdict 0 "$3"
		return
	fi
	verdict 1 "$3"
	diag "got: $1"
	diag "want: $2"
	return 1
}

like() { # text pattern what: a line of text matches (extended expression)
	if printf '%s\n' "$1" | grep -Eq -e "$2"; then
		verdict 0 "$3"
		return
	fi
	verdict 1 "$3"
	diag "got: $1"
	diag "want: $2"
	return 1
}

unlike() { # text pattern what: no line of text matches
	if printf '%s\n' "$1" | grep -Eq -e "$2"; then
		verdict 1 "$3"
		diag "got: $1"
		diag "unwanted: $2"
		return 1
	fi
	verdict 0 "$3"
}

skip() { # what why
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1 # SKIP $2"
}

skip_all() { # why: ends the scenario
	echo "1..0 # SKIP $1"
	exit 0
}

done_testing() {
	echo "1..$tap_count"
	[ "$tap_failed" -eq 0 ]
	exit
}

# Run a command until it succeeds, for at most $RETRY_SECONDS (60).
retry() {
	retry_until=$(($(date +%s) + ${RETRY_SECONDS:-60}))
	until "$@"; do
		[ "$(date +%s)" -lt $retry_until ] || return 1
		sleep 0.02
	done
}

need() { # command …: skip everything when one is missing
	for need_one; do
		command -v "$need_one" >/dev/null ||
		    skip_all "$need_one is not installed"
	done
}

# Whether $python has these modules, each as NAME or NAME>=MAJOR.
python_has() { # module …
	"$python" - "$@" 2>/dev/null <<'END'
import importlib, importlib.metadata, sys
for want in sys.argv[1:]:
    name, _, least = want.partition(">=")
    # One package is not called what it is imported as.
    importlib.import_module({"scikit-learn": "sklearn"}.get(name, name))
    found = importlib.metadata.version(name).split(".")[0]
    if least and int(found) < int(least):
        sys.exit(1)
END
}

# A Python with these modules, in $python: $HPOTUNE_TEST_PYTHON, python3, or one
# that is made in the build folder, when the package index can be reached.
# Skips everything, loudly, when there is none.
find_python() { # module …
	python_venv=$TOP_BUILDDIR/build-python
	for python in ${HPOTUNE_TEST_PYTHON-} python3 "$python_venv/bin/python"; do
		command -v "$python" >/dev/null && python_has "$@" && return
	done
	need python3 flock
	mkdir -p "$python_venv"
	(
		flock 9
		[ -x "$python" ] || timeout 120 python3 -m venv "$python_venv"
		timeout 240 "$python" -m pip install -q --retries 1 \
		    --disable-pip-version-check --timeout 15 "$@"
	) >pip.log 2>&1 9>"$python_venv/lock"
	python_has "$@" && return
	diag "$(tail -n 3 pip.log)"
	skip_all "NOT COMPARED: no Python with $*, and none could be installed"
}

# Start a command in the background; its process is $child, its output is in
# $dir/NAME.out and $dir/NAME.err.
background() { # name command …
	background_name=$1
	shift
	"$@" >"$dir/$background_name.out" 2>"$dir/$background_name.err" &
	child=$!
	children="$children $child"
}

# A server on a study: its process is $server.
server() { # study [option …]
	background server "$HPOTUNE" start "$@"
	server=$child
}

# Wait for a process that background started; returns its exit status.
reap() { # pid
	wait "$1"
	reap_status=$?
	children=$(printf '%s\n' $children | grep -vx "$1" | tr '\n' ' ')
	return $reap_status
}

sql() { # database query: one row a line, columns parted by |
	sqlite3 -readonly -batch -bail -cmd '.timeout 10000' "$1" "$2"
}

# For retry: the query has this answer.
sql_is() { # database query want
	[ "$(sql "$1" "$2" 2>/dev/null)" = "$3" ]
}
