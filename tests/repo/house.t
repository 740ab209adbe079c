#!/bin/sh
# The size of folders, and of the circles in which files call one another.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

folder_most=48
cycle_most=8

product() { # top pattern...: files of the product
	(cd "$1" && shift && for pattern; do
		find src strategies trials kernels -name "$pattern"
	done | LC_ALL=C sort)
}

crowded() { # top: folders with too many files
	product "$1" '*.c' '*.h' '*.cu' | sed 's|/[^/]*$||' | sort | uniq -c |
	    awk -v most=$folder_most '$1 > most { print $2 " has " $1 " files" }'
}

# A file calls another one if it names one of its public functions.
cycles() { # top least: the circles of at least so many files, one a line
	(cd "$1" && product . '*.c' | xargs awk -v least="$2" '
	FNR == 1 {
		file[++n] = FILENAME
		last = ""
		text = 0
	}
	{
		gsub(/"([^"\\]|\\.)*"/, "\"\"")
		gsub(/\/\*.*\*\/|(struct|enum|union) [a-z0-9_]+/, "")
		if ($0 ~ /\/\*/)
			text = 1
		if (text) {
			text = $0 !~ /\*\//
			next
		}
		if ($0 ~ /^[a-z][a-z0-9_]*[(]/ && last !~ /^static/) {
			name = $0
			sub(/[(].*/, "", name)
			owner[name] = n
		}
		last = $0
		k = split($0, word, /[^a-zA-Z0-9_]+/)
		for (i = 1; i <= k; i++)
			if (word[i] ~ /^[a-z][a-z0-9_]*_/)
				used[n " " word[i]] = 1
	}
	function visit(v, a, k, i, w) { # Tarjan 1972
		index_[v] = low[v] = ++count
		stack[++depth] = v
		on[v] = 1
		k = split(calls[v], a, " ")
		for (i = 1; i <= k; i++) {
			w = a[i]
			if (!(w in index_)) {
				visit(w)
				if (low[w] < low[v])
					low[v] = low[w]
			} else if (on[w] && index_[w] < low[v])
				low[v] = index_[w]
		}
		if (low[v] == index_[v])
			leave(v)
	}
	function leave(v, w, size, names) {
		do {
			w = stack[depth--]
			on[w] = 0
			size++
			names = names " " file[w]
		} while (w != v)
		if (size >= least)
			print size " files:" names
	}
	END {
		for (use in used) {
			split(use, word, " ")
			if (word[2] in owner && owner[word[2]] != word[1])
				calls[word[1]] = calls[word[1]] " " owner[word[2]]
		}
		for (v = 1; v <= n; v++)
			if (!(v in index_))
				visit(v)
	}')
}

# The path of a metric line, in a README: the functions of each row that its file
# does not define.
lost() { # README
	sed -n 's/^| `\([a-z][^`]*\.c\)` | `\([a-z_0-9]*\)`.*/\1 \2/p' "$1" |
	    while read -r file name; do
		grep -q "^$name(" "$TOP_SRCDIR/$file" ||
		    echo "$file has no $name"
	done
}

is "$(crowded "$TOP_SRCDIR")" '' "no folder has more than $folder_most files"
is "$(cycles "$TOP_SRCDIR" $((cycle_most + 1)))" '' \
    "no more than $cycle_most files call one another in a circle"
ok 'there are smaller circles' \
    test "$(cycles "$TOP_SRCDIR" 2 | wc -l)" -gt 0

is "$(lost "$TOP_SRCDIR/src/engine/tuner/README.md")" '' \
    'the path of a metric line is what its README says'
is "$(grep -cE '^\| `[a-z][^`]*\.c` \| `[a-z_]+`' \
    "$TOP_SRCDIR/src/engine/tuner/README.md")" 13 'which is found there'

# The checker is checked.
echo '| `src/base/err.c` | `err_new`: none |' >lost
is "$(lost lost)" 'src/base/err.c has no err_new' 'a function that moved is found'
mkdir -p bad/src/new/f3 bad/strategies bad/trials bad/kernels
i=0
while [ $i -le $folder_most ]; do
	printf 'int\nf_%d(void)\n{\n\treturn f_%d();\n}\n' $i $((i + 1)) \
	    >bad/src/new/f$i.c
	i=$((i + 1))
done
cp bad/src/new/f1.c bad/src/new/f3/g1.c # its path sorts between f2 and f4
is "$(crowded bad)" "src/new has $i files" 'a fuller folder is found'
rm -r bad/src/new/f3
is "$(cycles bad 2)" '' 'a chain is no circle'
printf '/* f_0() */\nstatic int\nf_%d(void)\n{\n\treturn f_3("f_1()");\n}\n' $i \
    >bad/strategies/g.c
is "$(cycles bad 2)" '' 'neither is a static function, a comment, a text'
printf 'int\nf_%d(void)\n{\n\treturn f_40();\n}\n' $i >bad/strategies/g.c
is "$(cycles bad 2 | cut -d ' ' -f 1)" $((i - 40 + 1)) 'a circle is found'

done_testing
