# Helpers of the shell scenarios: TAP, a private directory, waiting without
# sleeping, servers in the background.  Source it first:
#
#	. "$TOP_SRCDIR/tests/support/sh/lib.sh"
#
# and end with done_testing.  The scenario then runs in a directory of its own
# ($dir), which is removed at exit, and every process that background or server
# started is killed.

set -u
LC_ALL=C.UTF-8
export LC_ALL
umask 022

tap_count=0
tap_failed=0
children=

dir=$(mktemp -d "${TMPDIR:-/tmp}/hpotune-test.XXXXXX") || exit 99
cd "$dir" || exit 99

# The processes this scenario started, and only those.  A child that gets SIGTERM
# before it has become its program has the traps, too, and leaves all as it is.
cleanup() {
	trap - EXIT
	read -r cleanup_process _ </proc/self/stat
	[ "$cleanup_process" = "$$" ] || return 0
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
	# A plan of none would count as a scenario that is skipped.
	[ "$tap_count" -gt 0 ] || verdict 1 'something was tested'
	echo "1..$tap_count"
	[ "$tap_failed" -eq 0 ]
	exit
}

# Run a command until it succeeds, for at most $RETRY_SECONDS (300: no test is
# about how long something takes, and the disk of a busy machine stands still for a
# minute); the longer it takes, the more seldom, since other tests want the
# processors.
retry() {
	retry_until=$(($(date +%s) + ${RETRY_SECONDS:-300}))
	retry_pause=0.02
	retry_tries=0
	until "$@"; do
		retry_tries=$((retry_tries + 1))
		[ $((retry_tries % 10)) -ne 0 ] ||
		    [ "$(date +%s)" -lt $retry_until ] || return 1
		case $retry_tries in
		10) retry_pause=0.05 ;;
		25) retry_pause=0.1 ;;
		60) retry_pause=0.2 ;;
		esac
		sleep $retry_pause
	done
}

# How often a scenario does what it draws at random, or again and again: many times
# under ./check --all, which sets TEST_LONG.
often() { # few many
	if [ -n "${TEST_LONG-}" ]; then echo "$2"; else echo "$1"; fi
}

need() { # command …: skip everything when one is missing
	for need_one; do
		command -v "$need_one" >/dev/null ||
		    skip_all "$need_one is not installed"
	done
}

# Whether $python has these modules, each as NAME or NAME>=VERSION.  They are looked
# for, not imported, which takes seconds for some.
python_has() { # module …
	"$python" - "$@" 2>/dev/null <<'END'
import importlib.metadata, importlib.util, re, sys
def numbers(version):
    return [int(n) for n in re.match("[0-9.]*[0-9]", version)[0].split(".")]
for want in sys.argv[1:]:
    name, _, least = want.partition(">=")
    # Some packages are not called what they are imported as.
    modules = {"scikit-learn": "sklearn", "PyYAML": "yaml",
               "mmengine-lite": "mmengine", "mlflow-skinny": "mlflow",
               "absl-py": "absl", "pytorch-ignite": "ignite",
               "gin-config": "gin", "hydra-core": "hydra",
               "kubeflow-katib": "kubeflow.katib"}
    if not importlib.util.find_spec(modules.get(name, name.replace("-", "_"))):
        sys.exit(1)
    found = importlib.metadata.version(name)
    if least and numbers(found) < numbers(least):
        sys.exit(1)
END
}

# A Python with these modules, in $python: $HPOTUNE_TEST_PYTHON, python3, or one
# that is made in the build folder, when the package index can be reached.  It
# fails, with the reason in $python_why, when there is none.  Tests that run beside
# this one share that Python: what it has stays as it is, and modules that do not go
# with the others have one of their own, $python_apart.
python_found() { # module …
	python_venv=$TOP_BUILDDIR/${python_apart:-build-python}
	python_why=
	for python in ${HPOTUNE_TEST_PYTHON-} python3 "$python_venv/bin/python"; do
		command -v "$python" >/dev/null && python_has "$@" && return
	done
	for python_needs in python3 flock; do
		command -v $python_needs >/dev/null && continue
		python_why="$python_needs is not installed"
		return 1
	done
	mkdir -p "$python_venv"
	(
		until flock -w 120 9; do
			diag 'another test installs its modules' >&8
		done
		# venv makes nothing in a link, and ./check has one.
		[ -x "$python" ] || timeout 120 python3 -m venv \
		    "$(cd "$python_venv" && pwd -P)"
		"$python" -m pip freeze --disable-pip-version-check >python.has
		# Tests import few of the modules: Python compiles those.
		timeout 240 "$python" -m pip install -q --no-compile \
		    --constraint python.has \
		    --retries 1 --disable-pip-version-check --timeout 15 "$@"
	) 8>&1 >pip.log 2>&1 9>"$python_venv/lock"
	python_has "$@" && return
	python_why=$(tail -n 3 pip.log)
	return 1
}

# The same for all of a scenario, which is skipped, loudly, when there is none.
find_python() { # module …
	python_found "$@" && return
	diag "$python_why"
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
	# shellcheck disable=SC2086 # words of a list
	children=$(printf '%s\n' $children | grep -vx "$1" | tr '\n' ' ')
	return $reap_status
}

sql() { # database query: one row a line, columns parted by |
	sqlite3 -readonly -batch -bail -cmd '.timeout 10000' "$1" "$2"
}

# Statements that change sqlite_schema itself, which newer shells of SQLite refuse
# unless they are told that they may.
sql_schema() { # database statements
	sqlite3 -batch -bail -cmd '.dbconfig defensive off' "$1" \
	    "PRAGMA writable_schema = ON; $2" >/dev/null
}

# For retry: the query has this answer.
sql_is() { # database query want
	[ "$(sql "$1" "$2" 2>/dev/null)" = "$3" ]
}
