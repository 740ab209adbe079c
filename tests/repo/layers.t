#!/bin/sh
# The include rules: mathematics never sees the world, the world never sees the
# store, only the tuner sees everything.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

# Rows: files; what of ours they may include; libraries they may include.
# The first row whose first column matches a path counts.  A library that is
# not the C library and is in no row is nobody's.
cat >rules <<'END'
src/base/(err|link|log|mem|rng|text|fail)\.	src/base/(err|link|log|mem|rng|text|fail)\.h	-
src/base/loop\.	src/base/.*	event2/.*
src/base/gz\.	src/base/(err|mem|gz)\.h	zlib\.h
src/base/http.*	src/base/.*	curl/.*|dlfcn\.h
src/base/digest\.	src/base/(err|mem|digest)\.h	openssl/.*
src/base/xml\.	src/base/(err|mem|xml)\.h	expat\.h
src/base/(child|peer|spawn)\.	src/base/.*	-
src/base/json.*	src/base/(err|log|mem|rng|fail|text|json.*)\.h	cjson/.*
src/base/.*	src/base/(err|log|mem|rng|fail|text)\.h	-
src/model/.*	src/model/.*|src/base/(err|log|mem|rng|fail|text|json)\.h	-
src/store/.*	src/store/.*|src/model/.*|src/base/(err|log|mem|rng|fail|text|json)\.h|schema/.*\.inc	sqlite3\.h
src/worker/message\.	src/worker/message\.h|src/model/history-pack\.h|src/base/(err|mem)\.h	-
src/worker/.*	src/worker/.*|src/model/.*|src/base/(err|mem)\.h|strategies/strategy\.h|kernels/kernels\.h	-
src/server/tune\.c	src/server/.*|src/base/.*|kernels/kernels\.h	-
src/server/.*	src/server/.*|src/worker/message\.h|src/store/store\.h|src/model/.*|src/base/.*|strategies/(strategy|stopper)\.h|trials/(launcher|notify|report)\.h	-
src/cli/.*	src/cli/.*|src/server/.*|src/store/(store|optuna)\.h|src/model/.*|src/base/.*|strategies/(importance|strategy|stopper)\.h|trials/(launcher|gpu|gpu-lock)\.h	-
strategies/.*	strategies/.*|src/model/.*|src/base/(err|mem|rng)\.h|kernels/kernels\.h	-
trials/gpu-(nvml(-lib)?|cuda-lib)\.c	trials/gpu(-.*)?\.h|src/base/.*	dlfcn\.h
trials/report.*	trials/report.*|src/model/(trial|study)\.h|src/base/(err|mem|json)\.h	pcre2\.h
trials/.*	trials/.*|src/model/(trial|study|options)\.h|src/base/.*	-
kernels/cuda-libs\.cu	kernels/.*	cu.*|dlfcn\.h
kernels/(.*\.cu|cuda.*\.h)	kernels/.*	cu.*
kernels/.*	kernels/.*	(cblas|lapacke|openblas/.*)\.h
END

# Headers of no library: C, POSIX, Linux.
system='(assert|complex|ctype|dirent|errno|fcntl|fenv|float|inttypes|langinfo|libgen|limits|locale|malloc|math|netdb|poll|pthread|pwd|sched|setjmp|signal|spawn|stdalign|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|string|strings|syslog|termios|time|unistd|wchar|wctype|xmmintrin)\.h|(sys|linux|netinet|arpa|net|asm)/.*'

# path include, one a line, of a tree: "x" as it is, <x> as <x>.
includes() { # top
	(cd "$1" && find src strategies trials kernels -name '*.[ch]' \
	    -o -name '*.cu' 2>/dev/null | sort | xargs -r $awk '
	/^[ \t]*#[ \t]*include/ {
		sub(/^[^"<]*/, "")
		if (match($0, /^"[^"]*"/))
			print FILENAME, substr($0, 2, RLENGTH - 2)
		else if (match($0, /^<[^>]*>/))
			print FILENAME, substr($0, 1, RLENGTH)
	}') || echo "$awk could not read the includes"
}

# The forbidden ones, in words.
forbidden() { # top
	includes "$1" >found
	# An expression keeps its backslashes in the environment, not after -v.
	SYSTEM="^($system)$" $awk -F '\t' '
	NR == FNR {
		n++
		files[n] = "^(" $1 ")"
		ours[n] = "^(" $2 ")$"
		libs[n] = "^(" $3 ")$"
		next
	}
	{
		split($0, part, " ")
		for (i = 1; i <= n && part[1] !~ files[i]; i++)
			;
		if (i > n) {
			print part[1] " is in no room"
			next
		}
		what = part[2]
		if (what ~ /^</) {
			gsub(/[<>]/, "", what)
			if (what !~ ENVIRON["SYSTEM"] && what !~ libs[i])
				print part[1] " includes <" what ">"
		} else if (what !~ ours[i])
			print part[1] " includes " what
	}' rules found || echo "$awk could not judge them"
}

# Calls that a room must not make, whatever it includes; not those in words.
calls() { # top folders names
	(cd "$1" && find $2 -name '*.[ch]' 2>/dev/null | sort |
	    NAMES="(^|[^a-zA-Z0-9_>.])($3) ?[(]" xargs -r $awk '
	{
		gsub(/"([^"\\]|\\.)*"/, "\"\"")
		if ($0 ~ ENVIRON["NAMES"] && $0 !~ /^[ \t]*(\/?\*|\/\/)/)
			print FILENAME ":" FNR ": " $0
	}') || echo "$awk could not look for calls"
}

io='fopen|open|openat|read|write|printf|fprintf|puts|fputs|getenv|system|fork|socket'
chance='time|clock|clock_gettime|gettimeofday|rand|random|srand|drand48|getrandom|rng_system'

# The checker is checked: each of these must be found.
mkdir -p bad/strategies bad/trials bad/src/server bad/src/model bad/src/new
echo '#include "src/store/store.h"' >bad/strategies/a.c
echo '	fopen("x", "r");' >>bad/strategies/a.c
echo '#include "strategies/strategy.h"' >bad/trials/a.c
echo '#  include <sqlite3.h>' >bad/src/server/a.c
echo '	x = time(NULL);' >bad/src/model/a.c
echo '#include "src/base/loop.h"' >>bad/src/model/a.c
echo '#include "src/base/err.h"' >bad/src/new/a.c

examine() { # in $awk: a program
	is "$(forbidden "$TOP_SRCDIR")" '' "$awk: every include is an allowed one"
	is "$(calls "$TOP_SRCDIR" 'strategies kernels' "$io|$chance")" '' \
	    'strategies and kernels: no input, no output, no clock, no dice'
	is "$(calls "$TOP_SRCDIR" src/model "$chance")" '' 'the model: no clock, no dice'
	is "$(calls "$TOP_SRCDIR" 'src strategies' 'fork|vfork|system|popen')" '' \
	    'the server never forks'
	is "$(calls "$TOP_SRCDIR" 'src strategies trials' 'rand|random|srand|drand48')" \
	    '' 'chance comes from the generator alone'
	is "$(forbidden "$dir/bad")" 'src/model/a.c includes src/base/loop.h
src/new/a.c is in no room
src/server/a.c includes <sqlite3.h>
strategies/a.c includes src/store/store.h
trials/a.c includes strategies/strategy.h' "$awk: forbidden includes are found"
	like "$(calls "$dir/bad" strategies "$io")" 'a\.c:2:' 'so is a file opened'
	like "$(calls "$dir/bad" src/model "$chance")" 'a\.c:1:' 'and a clock read'
}

# Every one of them has its own idea of an expression.
for awk in awk mawk gawk original-awk 'busybox awk'; do
	echo x | $awk '{ exit $0 != "x" }' 2>/dev/null || continue
	examine
done

done_testing
