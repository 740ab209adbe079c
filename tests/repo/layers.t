#!/bin/sh
# The include rules: mathematics never sees the world, the world never sees the
# store, only the tuner sees everything.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

# A row is a folder, what it may include beside itself, and libraries.  A word
# is a folder, FOLDER/NAME.h, or one of the lists below; a library is the name
# of its header, and "-" is none.  A row with NAME.* is for that file alone.  A
# library that is not the C library and is in no row may not be used at all.
cat >lists <<'END'
@plain src/base/err.h src/base/mem.h
@math @plain src/base/rng.h src/base/search.h src/model src/model/history strategies/strategy.h strategies/stopper.h strategies/startup.h strategies/trial-rank.h
@model src/model src/model/study src/model/history src/model/evidence
@loop @plain src/base src/base/json src/base/http
END
cat >rules <<'END'
src/base/loop.*	src/base	event2/
src/base/http/http-server.*	src/base	event2/
src/base/gz	@plain src/base/file.h	zlib.h
src/base/digest.*	@plain	openssl/
src/base/xml.*	@plain	expat.h
src/base	-	-
src/base/git	@plain src/base/clock.h src/base/file.h src/base/spawn.h src/base/text.h	-
src/base/json/yml.*	@plain src/base/json	yaml.h
src/base/json	src/base	cjson/
src/base/svg	@plain	dlfcn.h
src/base/http/http-headers.*	src/base	curl/
src/base/http/http-internal.*	src/base	curl/
src/base/http/http-libcurl.*	src/base	curl/ dlfcn.h
src/base/http/http-request.*	src/base	curl/
src/base/http/http.*	src/base	curl/
src/base/http	src/base	-
src/model/tried-settings.*	@plain src/base/rng.h src/model	-
src/model/expression.*	@plain src/base/text.h src/base/words.h src/model	-
src/model/where.*	@plain src/base/json src/base/rng.h src/model	-
src/model/where-repair.*	@plain src/base/rng.h src/model	-
src/model/where-search.*	@plain src/base/rng.h src/model	-
src/model	@plain src/base/json	-
src/model/evidence	-	-
src/model/history	@plain src/base/search.h src/model	-
src/model/study	@plain src/base/json src/model src/model/evidence	-
src/store	@plain src/base/fail.h src/base/file.h src/base/log.h src/base/search.h src/base/text.h src/base/digest.h src/base/json src/model schema	sqlite3.h
src/worker	@plain @model strategies/strategy.h kernels/kernels.h	-
src/plugins	@plain src/base/file.h src/base/text.h src/base/json @model strategies/strategy.h strategies/stopper.h trials/backend.h trials/metric-files/metric-files.h trials/metric-line/metric-line.h	-
src/engine/suggest	src/base src/base/json @model src/plugins src/worker/worker-protocol.h strategies/strategy.h	-
src/replay	src/base src/base/gz src/base/json @model src/store strategies/stopper.h strategies/stop/second-look/second-look.h kernels/kernels.h	search.h
src/engine	src/base src/base/json @model src/store src/plugins src/view src/engine/warmstart strategies/stopper.h trials/backend.h	-
src/view/memory-fit.*	src/base @model src/model/history src/store src/view strategies/memory/memory-model.h	-
src/view/model-best.*	src/base @model src/store src/view strategies/incumbent/incumbent.h	-
src/view/status-presets.*	src/base @model src/store src/view src/replay/replay-presets.h	-
src/view	src/base src/base/json @model src/store	-
src/engine/announce	src/base src/base/json @model src/store src/view trials/notify/notify.h	-
src/engine/provenance	src/base @model src/store	-
src/engine/warmstart	src/base src/base/json @model src/store trials/backend.h	-
src/engine/attempts	src/base src/base/json @model src/store src/plugins trials/backend.h	-
src/engine/callers	@plain src/base/json src/store	-
src/engine/doubts	@plain @model src/store src/plugins strategies/stopper.h	-
src/engine/replicates	@plain @model src/store strategies/stopper.h	-
src/engine/tuner	src/base src/base/json @model src/store src/engine src/engine/announce src/engine/attempts src/engine/callers src/engine/doubts src/plugins src/engine/provenance src/engine/replicates src/view src/engine/suggest src/engine/warmstart strategies/strategy.h strategies/stopper.h strategies/stop/second-look/second-look.h trials/backend.h trials/metric-line/metric-line.h	-
src/study-files	@plain src/base/file.h src/base/folder.h src/base/log.h src/model/study/study.h trials/backend.h	-
src/server	src/base src/base/json @model src/store src/study-files src/engine src/plugins src/view src/engine/suggest src/engine/tuner src/engine/warmstart trials/backend.h	-
src/import	@plain src/base/json @model	-
src/cli/common	src/base src/base/git src/base/json @model src/store src/study-files src/server src/engine src/view src/engine/tuner/tuner.h src/engine/attempts/attempt-spec.h trials/backend.h	-
src/export	src/base src/base/http src/base/json @model src/store src/view src/import	-
src/figure	@plain src/base/text.h src/model src/model/study src/html	-
src/html	src/base src/base/json @model src/store src/view strategies/importance/importance.h	-
src/web/studies	src/base/atomic-file.h @plain src/base/file.h src/store src/study-files src/view	-
src/web	@loop @model src/base/svg src/store src/study-files src/export src/figure src/html src/view src/web/studies	-
src/cli/check	python/hpotune_imports.inc src/base src/base/json @model schema src/store src/study-files src/cli/common src/cli/source src/server src/engine src/plugins src/view src/engine/suggest strategies/strategy.h strategies/stopper.h trials/gpu/gpu-lock.h trials/gpu/gpu-snapshot.h trials/gpu/gpu-visible.h trials/backend.h trials/metric-files/metric-files.h trials/metric-line/metric-line.h trials/metric-unread/metric-unread.h	-
src/cli/import	src/base src/base/gz src/base/json @model src/store src/cli/common src/view src/import src/plugins	-
src/cli/mcp	src/base src/base/json src/cli/common src/view	-
src/cli/replay	src/base src/base/json @model src/store src/cli/common src/view src/html src/replay	-
src/cli/screen	src/base src/base/json @model src/store src/study-files src/server src/engine src/view src/cli/common	-
src/cli/source	src/base src/base/git src/model/study src/store src/view	-
src/cli	@loop @model schema src/base/svg src/store src/study-files src/engine/callers src/cli/check src/cli/common src/cli/import src/cli/mcp src/cli/replay src/cli/screen src/cli/source src/web src/export src/figure src/html src/import src/server src/engine src/plugins src/replay src/view src/engine/suggest src/engine/warmstart strategies/strategy.h strategies/stopper.h strategies/importance/importance.h trials/backend.h trials/metric-line/metric-line.h trials/metric-unread/metric-unread.h	-
strategies	@plain src/base/rng.h src/model src/model/history strategies/memory/memory-model.h	-
strategies/auto	@math strategies/gp/gp.h	-
strategies/tpe	@math kernels/kernels.h kernels/formulas.h kernels/target-clones.h strategies/evolution/pareto.h	-
strategies/gp	@math kernels/kernels.h strategies/evolution/pareto.h strategies/memory/memory-model.h strategies/sobol.h strategies/tpe/tpe-normal.h	-
strategies/cholesky	kernels/kinds.h	-
strategies/cmaes	@math kernels/kernels.h strategies/tpe/tpe-normal.h strategies/tpe/tpe-parzen.h	-
strategies/evolution	@math	-
strategies/importance	@math strategies/tpe/tpe-normal.h strategies/tpe/tpe-parzen.h	-
strategies/incumbent	@math strategies/cholesky/cholesky.h	-
strategies/memory	@math kernels/kinds.h strategies/cholesky/cholesky.h	-
strategies/stop	@math	-
strategies/stop/median	@math strategies/stop	-
strategies/stop/second-look	@math	-
strategies/stop/halving	@math strategies/stop	-
strategies/stop/extrapolate	@math strategies/stop kernels/kernels.h	-
kernels	-	cblas.h lapacke.h openblas/
kernels/cuda/cuda-libs.*	kernels	cu dlfcn.h
kernels/cuda	kernels	cu
kernels/tables	kernels kernels/cuda kernels/curve-bank kernels/gp kernels/mix kernels/replay	cblas.h
kernels/gp	kernels kernels/cuda	cblas.h
kernels/mlp-batch	kernels kernels/cuda	-
kernels/curve-bank	kernels kernels/cuda	-
kernels/mix	kernels kernels/cuda	-
kernels/replay	kernels kernels/cuda	-
trials	@plain src/model src/model/study trials/metric-line/metric-line.h	-
trials/process	@plain src/base/fail.h src/base/file.h src/base/text.h trials/backend.h	-
trials/metric-line	@plain src/base/json src/model/study	pcre2.h
trials/metric-files	@plain src/base/file.h src/base/reading.h src/base/json src/base/text.h src/base/tfevents.h src/model/study trials/metric-line	-
trials/metric-unread	@plain src/base/file.h src/base/reading.h src/base/text.h trials/metric-line	-
trials/shim	@plain src/base/clock.h src/base/fail.h src/base/file.h src/base/git/git.h trials/process	-
trials/node	@plain src/base/clock.h src/base/file.h trials/process trials/shim/shim.h trials/warm	-
trials/trackers	@plain python/shims src/base/file.h src/base/folder.h	-
trials/warm	@plain python src/base/fail.h src/base/spawn.h trials/process trials/shim/shim.h	-
trials/ranks	@plain src/base/clock.h src/base/file.h src/base/text.h trials/backend.h trials/process	-
trials/pack	@plain src/base/clock.h src/base/digest.h src/base/fail.h src/base/file.h src/base/json src/base/text.h src/model/study/study.h trials/backend.h trials/metric-line trials/process	-
trials/pretend	src/base src/base/json src/model src/model/study trials/backend.h	-
trials/gpu	src/base src/base/json trials/process/lock-folder.h	-
trials/gpu/allocator	@plain src/model/gpu.h trials/gpu/gpu-snapshot.h trials/gpu/gpu-xid.h	-
trials/gpu/probe	@plain src/base/clock.h trials/gpu	dlfcn.h
trials/local	src/base src/base/json src/model src/model/study trials/backend.h trials/process trials/metric-files/metric-files.h trials/metric-line trials/metric-unread/unread-log.h trials/gpu trials/gpu/allocator trials/pack trials/ranks/ranks.h trials/shim/shim.h trials/trackers trials/warm	-
trials/slurm	src/base src/base/json src/model src/model/study trials/backend.h trials/process trials/metric-files/metric-files.h trials/metric-line trials/metric-unread/unread-log.h trials/node/node.h trials/pack/pack-trial.h trials/ranks/ranks.h trials/shim/shim.h trials/trackers trials/warm/warm-process.h	-
trials/aws/config	@plain src/base/file.h	-
trials/aws/sign	@plain src/base/digest.h src/base/http	-
trials/aws/credentials	@loop trials/aws/config trials/aws/sign	-
trials/aws	@loop trials/aws/config trials/aws/credentials trials/aws/sign	-
trials/notify	src/base src/base/http src/base/json src/model/study trials/aws/aws.h	-
trials/sagemaker/options	@plain src/base/json src/model src/model/study	-
trials/sagemaker/request	@plain src/base/json src/model/study trials/backend.h trials/sagemaker/options	-
trials/sagemaker/logs	src/base src/base/json src/model/study trials/backend.h trials/aws/aws.h trials/metric-line trials/metric-unread/unread-log.h trials/sagemaker/options	-
trials/sagemaker/watch	src/base src/base/json trials/backend.h trials/aws/aws.h trials/sagemaker/options trials/sagemaker/request	-
trials/sagemaker	src/base src/base/json src/model src/model/study trials/backend.h trials/aws/aws.h trials/sagemaker/logs trials/sagemaker/options trials/sagemaker/request trials/sagemaker/watch	-
END

# Headers of no library: C, POSIX, Linux.
system='(assert|complex|ctype|dirent|errno|fcntl|fenv|float|ftw|grp|inttypes|langinfo|libgen|limits|locale|malloc|math|netdb|poll|pthread|pwd|sched|setjmp|signal|spawn|stdalign|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|string|strings|syslog|termios|time|unistd|wchar|wctype|xmmintrin)\.h|(sys|linux|netinet|arpa|net|asm)/.*'

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

# The forbidden ones, in words; circles of folders; private headers abroad.
forbidden() { # top
	includes "$1" >found
	# An expression keeps its backslashes in the environment, not after -v.
	SYSTEM="^($system)$" $awk '
	function folder(path) {
		sub(/\/[^\/]*$/, "", path)
		return path
	}
	# Whether word, or a word of the list that it names, allows the header.
	function allows(word, header, part, n, i) {
		if (word ~ /^@/) {
			n = split(list[word], part, " ")
			for (i = 1; i <= n; i++)
				if (allows(part[i], header))
					return 1
			return 0
		}
		return word == header || word == folder(header)
	}
	FILENAME == "lists" {
		name = $1
		$1 = ""
		list[name] = $0
		next
	}
	FILENAME == "rules" {
		split($0, column, "\t")
		ours[column[1]] = column[2]
		libs[column[1]] = column[3]
		next
	}
	{
		room = folder($1)
		row = $1
		sub(/\.[a-z]*$/, ".*", row)
		if (!(row in ours))
			row = room
		if (!(row in ours)) {
			print $1 " is in no room"
			next
		}
		what = $2
		good = 0
		if (what ~ /^</) {
			gsub(/[<>]/, "", what)
			if (what ~ ENVIRON["SYSTEM"])
				next
			n = split(libs[row], word, " ")
			for (i = 1; i <= n; i++)
				if (index(what, word[i]) == 1)
					good = 1
			if (!good)
				print $1 " includes <" what ">"
			next
		}
		if (folder(what) == room)
			next
		goes[room] = goes[room] " " folder(what)
		n = split(ours[row], word, " ")
		for (i = 1; i <= n; i++)
			if (allows(word[i], what))
				good = 1
		if (!good)
			print $1 " includes " what
		else if (what ~ /-internal\.h$/ &&
		    index(room "/", folder(what) "/") != 1)
			print $1 " includes the private " what
	}
	# Folders that nothing points to any more are taken away; what is left
	# lies on a circle or leads to one.
	END {
		do {
			gone = 0
			for (room in goes) {
				n = split(goes[room], word, " ")
				for (i = 1; i <= n; i++)
					if (word[i] in goes && !out[word[i]])
						break
				if (i > n && !out[room])
					gone = out[room] = 1
			}
		} while (gone)
		for (room in goes)
			if (!out[room])
				print "a circle of folders has " room
	}' lists rules found >judged || echo "$awk could not judge them"
	LC_ALL=C sort judged
}

# Strings outside of the store that name a table, or a view beneath the public ones.
tables() { # top
	(cd "$1" && find src strategies trials kernels -name '*.[ch]' 2>/dev/null |
	    grep -v '^src/store/' | sort | xargs -r $awk '
	/^[ \t]*(\/?\*|\/\/)/ {
		next
	}
	{
		line = $0
		gsub(/\\[a-z]/, " ", line)
		while (match(line, /"([^"\\]|\\.)*"/)) {
			text = substr(line, RSTART, RLENGTH)
			line = substr(line, RSTART + RLENGTH)
			if (text ~ /[^a-zA-Z0-9_]t_[a-z]/)
				print FILENAME ":" FNR ": " text
		}
	}') || echo "$awk could not look for tables"
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

# The order of the files of a folder, from the list in its README.md: a file uses
# only functions of the rows below its own.
order() { # top folder
	(cd "$1" && $awk '
	FILENAME ~ /README\.md$/ {
		if (/^## /)
			inside = /^## Layers/
		if (inside && /^    /) {
			rows++
			for (i = 1; i <= NF; i++) {
				if ($i in row)
					print $i ".c is in two layers"
				row[$i] = rows
			}
		}
		next
	}
	FNR == 1 {
		file = FILENAME
		sub(/^.*\//, "", file)
		sub(/\.c$/, "", file)
		seen[file] = 1
		last = ""
		if (!(file in row))
			print file ".c is in no layer"
	}
	{
		gsub(/"([^"\\]|\\.)*"/, "\"\"")
		gsub(/\/\*.*\*\/|(struct|enum) [a-z0-9_]+/, "")
		if ($0 ~ /^[ \t]*(\/?\*|\/\/)/)
			next
		if ($0 ~ /^[a-z][a-z0-9_]*[(]/ && last !~ /^static/) {
			name = $0
			sub(/[(].*/, "", name)
			owner[name] = file
		}
		last = $0
		n = split($0, word, /[^a-zA-Z0-9_]+/)
		for (i = 1; i <= n; i++)
			used[file " " word[i]] = 1
	}
	END {
		for (file in row)
			if (!(file in seen))
				print file ".c is not there"
		for (use in used) {
			split(use, word, " ")
			if (!(word[2] in owner))
				continue
			from = owner[word[2]]
			if (from != word[1] && row[from] <= row[word[1]])
				print word[1] ".c uses " word[2] " of " from ".c"
		}
	}' "$2/README.md" "$2"/*.c >"$dir/ordered" ||
	    echo "$awk could not read $2" >>"$dir/ordered"
	LC_ALL=C sort "$dir/ordered")
}

# Folders that have such a list.
ordered='src/figure src/html src/import src/web src/engine/tuner trials/local trials/gpu/allocator'

io='fopen|open|openat|read|write|printf|fprintf|puts|fputs|getenv|system|fork|socket'
chance='time|clock|clock_gettime|gettimeofday|rand|random|srand|drand48|getrandom|rng_system|rng_uuid'

# Writers of a struct whose fields are everybody's to read: row_dirty, and what
# is assigned behind ->row. and ->att. of a live trial (t->row is the study's).
writers() { # top file
	(cd "$1" && grep -rnE '(row|att)_dirty|[^t]->(row|att)\.[a-z_.]+(\[[^]]*\])? *([-+|&]?=[^=]|\+\+|--)|(\+\+|--)[a-z]+->(row|att)\.' \
	    src/engine src/server --include='*.c' 2>/dev/null | grep -v "^$2:")
}

# Files that open what the kernel makes (/proc, /sys, /dev), which waits for nobody;
# and commands that read a file named by their user, who may give them a pipe.
cat >openers <<'END'
src/base/file.c
src/base/process-mark.c
src/cli/check/doctor.c
src/cli/check/doctor-gpus.c
src/cli/check/read-log.c
src/cli/cmd-doctor.c
src/cli/cmd-queue.c
src/cli/cmd-rename.c
src/store/lock-holder.c
trials/gpu/gpu-sysfs.c
trials/local/local-gpu-owners.c
trials/process/cgroup.c
trials/process/exec-why.c
trials/process/port-lease.c
trials/process/proc-environ.c
trials/process/proc-tree.c
trials/process/proc.c
trials/process/slurm-step.c
trials/process/stop-tree.c
trials/ranks/ranks-env.c
trials/shim/shim-spawn.c
END

# Opens that may wait, for the other end of a pipe that a trial has made: by no
# function of src/base/file.h, and without a flag with which none can.
waits() { # top
	(cd "$1" && find src strategies trials -name '*.c' | sort |
	    grep -vxF -f "$dir/openers" | xargs -r $awk '
	FNR == 1 {
		call = ""
	}
	/^[ \t]*(\/?\*|\/\/)/ {
		next
	}
	call == "" {
		line = $0
		gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
		if (line !~ /(^|[^a-zA-Z0-9_>.])(open|openat|open64|creat|fopen|freopen) ?[(]/)
			next
		if ($0 ~ /[(]"\/(dev\/null"|proc\/|sys\/)/)
			next
		at = FNR
	}
	{
		call = call $0
		if (/;/ || / \{$/) {
			if (call !~ /O_(DIRECTORY|PATH|EXCL|TMPFILE)/)
				print FILENAME ":" at
			call = ""
		}
	}') || echo "$awk could not look for opens"
}

# The checker is checked: each of these must be found.
mkdir -p bad/strategies bad/trials bad/src/server bad/src/model bad/src/new \
    bad/trials/gpu/allocator bad/trials/aws/sign bad/trials/aws/config
echo '#include "src/store/store.h"' >bad/strategies/a.c
echo '	fopen("x", "r");' >>bad/strategies/a.c
echo '#include "strategies/strategy.h"' >bad/trials/a.c
echo '#  include <sqlite3.h>' >bad/src/server/a.c
echo '	x = time(NULL);' >bad/src/model/a.c
echo '#include "src/base/loop.h"' >>bad/src/model/a.c
echo '#include "src/base/err.h"' >bad/src/new/a.c
echo '	printf("x");' >bad/trials/gpu/allocator/a.c
echo '#include "trials/aws/sign/b.h"' >bad/trials/aws/config/a.h
echo '#include "trials/aws/config/a.h"' >bad/trials/aws/sign/b.h
echo '#include "src/model/history/history-internal.h"' >>bad/src/model/a.c
mkdir -p bad/src/engine/tuner
echo '	l->row.reports += is_new;' >bad/src/engine/tuner/b.c
echo '	if (l->row.reports == 1)' >>bad/src/engine/tuner/b.c

cat >bad/src/server/c.c <<'END'
	fd = open(path, O_RDONLY | O_NOFOLLOW);
	dir = openat(at, path,
	    O_RDONLY | O_DIRECTORY);
	if (openat(at, path,
	    O_WRONLY) == -1)
		return open_it(x) + a->open(path);
	f = fopen(path, "re");
END

mkdir -p bad/src/view bad/src/store
cat >bad/src/view/a.c <<'END'
/* FROM "t_trial" */
struct t_x *t_y = f("SELECT sum(x) FROM t_total", "a\t_b", "(a t_nth)", "at_b",
    "\"\nt_x");
END
cp bad/src/view/a.c bad/src/store/a.c
mkdir -p bad/trials/local
printf '## Layers\n\n    top\n    gone low other\n' >bad/trials/local/README.md
printf 'int\ntop_turn(void)\n{\n\tlow_read();\n}\n' >bad/trials/local/top.c
printf 'int\nlow_read(void)\n{\n\tother_x(); /* top_turn */\n\ttop_turn();\n}\n' \
    >bad/trials/local/low.c
printf 'static int\nlow_x(void)\n{\n}\n\nint\nother_x(void)\n{\n\tputs("top_turn");\n}\n' \
    >bad/trials/local/other.c
echo >bad/trials/local/new.c

examine() { # in $awk: a program
	for folder in $ordered; do
		is "$(order "$TOP_SRCDIR" $folder)" '' \
		    "$awk: the files of $folder are in layers"
	done
	is "$(order "$dir/bad" trials/local)" 'gone.c is not there
low.c uses other_x of other.c
low.c uses top_turn of top.c
new.c is in no layer' "$awk: calls against the layers are found"
	is "$(forbidden "$TOP_SRCDIR")" '' "$awk: every include is an allowed one"
	is "$(tables "$TOP_SRCDIR")" '' "$awk: the store alone names its tables"
	is "$(tables "$dir/bad")" 'src/view/a.c:2: "SELECT sum(x) FROM t_total"
src/view/a.c:2: "(a t_nth)"
src/view/a.c:3: "\" t_x"' "$awk: tables named by others are found"
	is "$(calls "$TOP_SRCDIR" 'strategies kernels' "$io|$chance")" '' \
	    'strategies and kernels: no input, no output, no clock, no dice'
	is "$(calls "$TOP_SRCDIR" src/model "$chance")" '' 'the model: no clock, no dice'
	is "$(calls "$TOP_SRCDIR" 'trials/gpu/allocator trials/sagemaker/options
	    trials/sagemaker/request' "$io|$chance")" '' \
	    'which GPU, and what a job asks for: no input, no output, no clock'
	# The pages do: a process of their own, which is small and has one thread.
	is "$(calls "$TOP_SRCDIR" 'src strategies' 'fork|vfork|system|popen' |
	    grep -v '^src/web/web-reader\.c:.* = fork();$')" '' \
	    'the server never forks'
	is "$(calls "$TOP_SRCDIR" 'src strategies trials' 'rand|random|srand|drand48')" \
	    '' 'chance comes from the generator alone'
	is "$(forbidden "$dir/bad")" 'a circle of folders has trials/aws/config
a circle of folders has trials/aws/sign
src/model/a.c includes src/base/loop.h
src/model/a.c includes src/model/history/history-internal.h
src/new/a.c is in no room
src/server/a.c includes <sqlite3.h>
strategies/a.c includes src/store/store.h
trials/a.c includes strategies/strategy.h
trials/aws/config/a.h includes trials/aws/sign/b.h
trials/aws/sign/b.h includes trials/aws/config/a.h' \
	    "$awk: forbidden includes are found"
	like "$(calls "$dir/bad" strategies "$io")" 'a\.c:2:' 'a strategy that opens a file is found'
	like "$(calls "$dir/bad" src/model "$chance")" 'a\.c:1:' 'and a clock read'
	like "$(calls "$dir/bad" trials/gpu/allocator "$io")" 'a\.c:1:' \
	    'and a line printed'
}

awk=awk
is "$(waits "$TOP_SRCDIR")" '' 'no open waits (src/base/file.h)'
is "$(waits "$dir/bad")" 'src/server/c.c:1
src/server/c.c:4
src/server/c.c:7
strategies/a.c:2' 'opens that may wait are found'
is "$(while read -r file; do
	grep -qE '(open|fopen|openat)\(' "$TOP_SRCDIR/$file" || echo "$file"
done <openers)" '' 'every file of that list opens one'

# A study has one writer, and its readers need neither that nor a server, nor what
# belongs to commands.
readers() { # top
	includes "$1" |
	    grep -E '^src/(view|html|figure|web|export|replay|study-files)/[^ ]* src/(engine|server|cli)/'
}
is "$(readers "$TOP_SRCDIR")" '' \
    'readers include neither the engine nor the server, and no command'
mkdir -p reads/src/view reads/src/html
echo '#include "src/cli/common/cli.h"' >reads/src/html/page.c
is "$(readers reads)" 'src/html/page.c src/cli/common/cli.h' 'one with a command is found'
rm reads/src/html/page.c
echo '#include "src/engine/study-row.h"' >reads/src/view/rows.c
is "$(readers reads)" 'src/view/rows.c src/engine/study-row.h' 'one that does is found'

is "$(writers "$TOP_SRCDIR" src/engine/tuner/live-trial.c)" '' \
    'live-trial.c alone writes a live trial'
is "$(writers "$TOP_SRCDIR" none | cut -d : -f 1 | sort -u)" \
    src/engine/tuner/live-trial.c 'which does so'
is "$(writers "$dir/bad" none)" 'src/engine/tuner/b.c:1:	l->row.reports += is_new;' \
    'another writer is found, and no comparison'

# Every one of them has its own idea of an expression.
for awk in awk mawk gawk original-awk 'busybox awk'; do
	echo x | $awk '{ exit $0 != "x" }' 2>/dev/null || continue
	examine
done

done_testing
