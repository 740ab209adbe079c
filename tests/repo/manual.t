#!/bin/sh
# The manual is correct: the pages have no lint, every example in them works,
# and no key or option is missing.  A comment before a display marks its text:
#
#	.\" example: study a whole study.json, which must pass "check"
#	.\" example: part one key of it, which must pass in a small study
#	.\" example: sh shell commands, which must end with status 0
#	.\" example: file NAME text that later examples of the page need

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

man=$TOP_SRCDIR/man
pages='hpotune.1 hpotune-db.5 hpotune-study.5 hpotune-agents.7 hpotune-migrate.7
    hpotune-sagemaker.7 hpotune-slurm.7 hpotune-stopping.7
    hpotune-strategies.7 hpotune-trial.7 hpotune-web.7'
PATH=$TOP_BUILDDIR:$PATH
need sqlite3

for page in $pages; do
	ok "$page is there" test -s "$man/$page"
	ok "$page is installed" \
	    grep -q "^	man/$page\( .\)*$" "$TOP_SRCDIR/Makefile.am"
done

# Our own pages refer to each other; others need not be installed.
if command -v mandoc >/dev/null; then
	for page in $pages; do
		mkdir -p "lint/man${page##*.}"
		cp "$man/$page" "lint/man${page##*.}"
	done
	for page in $pages; do
		is "$(MANPATH=$dir/lint mandoc -Tlint -W style "$man/$page" \
		    2>/dev/null | grep -v 'not found: Xr [^h]')" \
		    '' \
		    "$page is clean under mandoc -Tlint -W style"
	done
else
	for page in $pages; do
		skip "$page under mandoc" "mandoc is not installed"
	done
fi

# roff takes quotes at the beginning of a word away, and words that are macros
# out of a heading: both are looked for in the page as a reader has it.  Lines:
# what has to be there.
wanted() { # page
	sed -n 's/^\.S[hs] //p
	/^\.\(Ql\|Li\|It Li\|Dl\) /{
		/[{[]"\|\\(dq\|\\&"/{
			s/^\.\(It \)*[A-Z][a-z] //
			s/ [.,;:)]*$//
			s/^"\(.*\)"$/\1/
			p
		}
	}' "$1" | sed 's/\\(dq/"/g; s/\\(aq/'"'"'/g; s/\\-/-/g; s/\\&//g; s/ No / /g'
}

missing_in() { # page
	mandoc -Tascii -O width=999 "$1" | sed "s/.$(printf '\010')//g" >page.text
	wanted "$1" | while IFS= read -r line; do
		grep -Fq -e "$line" page.text || echo "$line"
	done
}

if command -v mandoc >/dev/null; then
	for page in $pages; do
		is "$(missing_in "$man/$page")" '' \
		    "$page shows its quotes and its headings"
	done
	printf '%s\n' .Dd .Dt\ X\ 7 .Os '.Sh NAME' '.Nm x' '.Nd y' '.Sh A' \
	    '.Ss An older copy' '.Ql {"a": "b c", "d": 1} .' >broken.7
	is "$(missing_in broken.7)" 'An older copy
{"a": "b c", "d": 1}' 'a page that loses some is found out'
else
	skip 'quotes and headings of the pages' 'mandoc is not installed'
fi

# The manual of Debian is set by groff, which moves the last column of a table
# that is too wide away from its line, and cuts nothing that is literal.
too_wide() { # page
	groff -mdoc -Tascii -P-cbou "$1" 2>groff.err |
	    awk 'length($0) > 80 { print }'
	grep "can't break line" groff.err
}

if command -v groff >/dev/null; then
	for page in $pages; do
		is "$(too_wide "$man/$page")" '' "$page has 80 columns in groff"
	done
	a=0123456789
	printf '%s\n' .Dd .Dt\ X\ 7 .Os '.Sh A' ".Bl -column $a$a$a $a$a$a$a" \
	    ".It $a$a$a Ta $a$a$a$a $a" .El .Bd\ -literal $a$a$a$a$a$a$a$a \
	    .Ed >wide.7
	like "$(too_wide wide.7)" "^ *$a$a$a$a$a$a$a$a\$" 'a wide line is found out'
	# groff 1.23 lets it be wide.
	like "$(too_wide wide.7)" "break line|$a$a$a +$a$a$a$a" \
	    'a wide table is found out'
else
	skip 'the columns of the pages' 'groff is not installed'
fi

# The marked displays of a page, as files NUMBER.text, and one line for each
# in order: NUMBER KIND [NAME].
extract() { # page
	awk '
	/^\.\\" example: / { n_marks++; mark[n_marks] = substr($0, 13); next }
	/^\.Bd/ && n_marks > 0 {
		n++
		for (i = 1; i <= n_marks; i++)
			print n, mark[i]
		n_marks = 0
		inside = 1
		printf "" >(n ".text")
		next
	}
	/^\.Ed/ { inside = 0 }
	inside {
		gsub(/\\&/, "")
		gsub(/\\-/, "-")
		gsub(/\\\(aq/, "\047")
		gsub(/\\\(dq/, "\"")
		gsub(/\\e/, "\\")
		print >(n ".text")
	}
	END {
		if (n_marks > 0)
			print "0 stray"
	}' "$1"
}

# One key in a study that has all the others it needs.
part_complete() { # text: prints a whole study.json
	part_key=$(sed -n '1s/^"\([a-z_]*\)".*/\1/p' "$1")
	[ "$part_key" != objectives ] || part_key='objectives\{0,1\}'
	{
		cat <<-'STUDY'
		"study": "part",
		"objective": { "metric": "loss", "goal": "minimize" },
		"parameters": { "lr": { "type": "float", "min": 0, "max": 1 } },
		"trial": { "command": ["./train", "{params}"], "max_steps": 20 },
		"strategy": "random",
		"limits": { "trials": 20 },
		STUDY
	} | grep -v "^\"$part_key\":" | cat - "$1" | sed '1s/^/{/; $s/$/}/'
}

run_example() { # page number kind [name]
	text=$2.text
	case $3 in
	study)
		ok "$1: study $2 passes check" checked "$text"
		;;
	part)
		part_complete "$text" >"$2.json"
		ok "$1: part $2 passes check" checked "$2.json"
		;;
	file)
		cp "$text" "$4"
		chmod +x "$4"
		;;
	sh)
		ok "$1: shell example $2 works" shell_works "$text"
		;;
	*)
		ok "$1: no mark '$3' without a display" false
		;;
	esac
}

checked() { # file
	cp "$1" study.json
	hpotune check study.json >check.out 2>&1 && rm -f study.json &&
	    return 0
	diag "$(cat check.out study.json)"
	return 1
}

# Quietly, with nothing to answer and no terminal.
shell_works() { # file
	sh -eu "$1" >sh.out 2>&1 </dev/null && return 0
	diag "$(cat sh.out)"
	return 1
}

for page in $pages; do
	[ -s "$man/$page" ] || continue
	mkdir "$page"
	cd "$page" || exit 99
	# What examples run that is not their own.
	printf '#!/bin/sh\nexit 0\n' >train
	chmod +x train
	cp train train.py
	echo 'lr: {lr}' >config.yaml.in
	git init -q . && git -c user.name=x -c user.email=x@localhost commit \
	    -q --allow-empty -m x
	extract "$man/$page" >index
	while read -r number kind name; do
		run_example "$page" "$number" "$kind" "$name"
	done <index
	is "$(wc -l <index)" "$(grep -c '^\.\\" example: ' "$man/$page")" \
	    "$page: every mark has a display"
	cd "$dir" || exit 99
done

# The checks above check something.
mkdir control
cd control || exit 99
printf '#!/bin/sh\n' >train
chmod +x train
printf '"limits": { "trails": 20 }\n' >wrong.text
part_complete wrong.text >study.json
fails "a wrong key does not pass" 2 hpotune check study.json 2>/dev/null
cd "$dir" || exit 99

# Names of plug-ins and of their options, one a line.
plug_names() { # command
	hpotune "$1" --json | tr ',{[' '\n\n\n' |
	    sed -n 's/^"name":"\([^"]*\)".*/\1/p' | sort -u
}
missing() { # page: of the names on stdin, those that head nothing there
	while read -r name; do
		grep -Eq "^\.(Ss|It) (.*[^a-z_-])?$name([^a-z_-]|\$)" "$1" ||
		    printf '%s ' "$name"
	done
}
names=$(plug_names strategies)
like "$names" '^grid$' "strategies --json names them"
is "$(printf '%s\n' "$names" | missing "$man/hpotune-strategies.7")" '' \
    "every strategy and every option stands in hpotune-strategies(7)"
names=$(plug_names rules)
like "$names" '^median$' "rules --json names them"
is "$(printf '%s\n' "$names" | missing "$man/hpotune-stopping.7")" '' \
    "every rule and every option stands in hpotune-stopping(7)"

# The README: its queries have answers, its study passes.
mkdir readme
cd readme || exit 99
readme=$TOP_SRCDIR/README.md
printf '#!/bin/sh\n' >train
chmod +x train
sed -n '/^    {$/,/^    }$/s/^    //p' "$readme" >mine.json
ok 'the study of README.md passes check' checked mine.json
# The words of the sentence about "reads", and of those about {params}.
sed -n '/"reads": "/,/more/p' "$readme" | grep -o '`[a-z]*`' |
    tr -d '`' | grep -vx trial >words
echo lightning >>words
is "$(wc -l <words)" 8 'README.md names readers'
while read -r word; do
	sed "s/\"trial\": {/& \"reads\": \"$word\",/" mine.json >reads.json
	ok "it may say reads $word" checked reads.json
done <words
grep -o '`{params[a-z:_]*}`' "$readme" | tr -d '`' | sort -u >words
is "$(wc -l <words)" 4 'and forms of parameters'
while read -r word; do
	sed "s/{params}/$word/" mine.json >form.json
	ok "it may say $word" checked form.json
done <words
cat >seen.json <<'END'
{
  "study": "seen",
  "objective": { "metric": "val_accuracy", "goal": "maximize" },
  "parameters": {
    "lr": { "type": "float", "min": 1e-4, "max": 1, "scale": "log" },
    "hidden": { "type": "int", "min": 16, "max": 256 },
    "optimizer": { "type": "choice", "values": ["sgd", "adam"] }
  },
  "strategy": { "name": "random", "seed": 3 },
  "trial": { "command": ["true"], "max_steps": 20 },
  "backend": { "name": "pretend", "seconds_per_step": 0.001, "gpus": 2 },
  "limits": { "trials": 12 }
}
END
ok 'a study to ask' hpotune start --quiet seen.json
# A query is a paragraph from SELECT to the semicolon, on one line.
awk '/^    SELECT/ { q = "" } /^    / { q = q " " substr($0, 5) }
    /^    .*;$/ { if (q ~ /SELECT/) print q; q = "" }' "$readme" >queries
is "$(wc -l <queries)" 2 'README.md has two queries'
while read -r query; do
	sql seen.db "$query" >answer
	is $? 0 "$query"
	# The one about a certain trial may have none.
	case $(cat answer)$query in
	*"WHERE trial = "* | *"|"*) ;;
	*) ok "an answer to $query" false ;;
	esac
done <queries
cd "$dir" || exit 99

# Every key of study.json.
is "$(printf '%s\n' study objective objective.metric objective.goal \
    objective.value objective.target objectives constraints \
    constraints.metric constraints.min constraints.max parameters.NAME.type min max step scale \
    values ordered value when default strategy strategy.name strategy.seed \
    strategy.duplicates strategy.device \
    stopping stopping.rule stopping.veto trial.command trial.workdir \
    trial.env trial.clean_env trial.pass_env trial.metrics trial.step_regex \
    trial.files trial.max_steps trial.max_run trial.on_max_run trial.grace \
    trial.retries trial.gpus \
    trial.cpus trial.memory trial.launcher trial.processes \
    trial.parameter_servers trial.pack trial.gpu_memory backend \
    backend.name backend.gpus backend.trials_per_gpu backend.log_cap \
    backend.gpu_ids backend.gpu_busy_memory backend.gpu_idle backend.bind \
    backend.mps \
    limits.trials limits.completed limits.parallel limits.wall_time limits.cost \
    limits.failed_trials limits.no_improvement limits.convergence enqueue warm_start \
    confirm.parameter confirm.baseline confirm.replicates confirm.alpha \
    confirm.report confirm.goal |
    missing "$man/hpotune-study.5")" '' \
    "every key of study.json stands in hpotune-study(5)"

done_testing
