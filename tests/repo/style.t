#!/bin/sh
# What a reader can rely on: one format, a noun a file, no white space at ends of
# lines.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

sources() {
	(cd "$TOP_SRCDIR" && find src strategies trials kernels tests bench \
	    examples -name seeded -prune -o \( -name '*.[ch]' -o -name '*.cu' \) \
	    -print 2>/dev/null | sort)
}

texts() {
	sources
	(cd "$TOP_SRCDIR" && ls configure.ac Makefile.am *.md 2>/dev/null
	find src strategies trials kernels schema man examples tests bench findings \
	    -name '*.sql' -o -name '*.[1-8]' -o -name '*.sh' -o -name '*.t' \
	    -o -name '*.md' -o -name 'study.json' \
	    -o -name Makefile.inc 2>/dev/null |
	    grep -v -e '^tests/fuzz/corpus' -e '^tests/fake')
}

cd "$TOP_SRCDIR" || exit 99

product() {
	sources | grep -E '^(src|strategies|trials|kernels)/'
}

# A file that has sections is several: each gets a name of its own.
banners() { # files on standard input
	xargs grep -nE '^[[:blank:]]*(/?\*|//) [-=*#]{3}' /dev/null |
	    cut -c 1-120
}
is "$(product | banners)" '' 'no file of the product has sections'
printf '/* ---- one ---- */\nint one;\n/*\n * === two ===\n */\n/* -- x */\n' \
    >"$dir/sections.c"
is "$(echo "$dir/sections.c" | banners | wc -l)" 2 'banners are found'

# A backtrace, a profile and a breakpoint have the name of a function alone.
shared() { # files on standard input
	xargs awk '
	FNR == 1 {
		last = ""
	}
	/^[a-z][a-z0-9_]*[(]/ && last ~ /^[a-zA-Z]/ && last !~ /[;,]$/ {
		name = $0
		sub(/[(].*/, "", name)
		if (!((name, FILENAME) in seen)) {
			seen[name, FILENAME] = 1
			files[name]++
			if (last ~ /^static/)
				hidden[++n] = name " " FILENAME
		}
	}
	{
		last = $0
	}
	END {
		for (i = 1; i <= n; i++) {
			split(hidden[i], word, " ")
			base = word[2]
			sub(/^.*\//, "", base)
			sub(/\.[a-z]*$/, "", base)
			gsub(/-/, "_", base)
			if (files[word[1]] > 1 &&
			    index(word[1] "_", base "_") != 1)
				print word[2] ": " word[1]
		}
	}' | sort
}
is "$(product | grep '\.c$' | shared)" '' \
    'a static function has a name of its own, or begins with that of its file'
for name in row_put one_row_put; do
	printf 'static void\n%s(struct x *a,\n    int b)\n{\n}\n' $name
done >"$dir/one.c"
cp "$dir/one.c" "$dir/two.c"
printf 'int\nf(void)\n{\n\treturn\none_row_put(1);\n}\n' >"$dir/three.c"
is "$(ls "$dir"/one.c "$dir"/two.c "$dir"/three.c | shared)" "$dir/one.c: row_put
$dir/two.c: one_row_put
$dir/two.c: row_put" 'two files with one name are found'

# hpotune NAME is in cmd-NAME.c, which has no other one.
commands() { # folder
	grep -noE '^const struct cli_command cmd_[a-z_]+' "$1"/*.c /dev/null |
	    sed 's|.*/\([^/:]*\):.*cmd_|\1 cmd-|' |
	    awk '$1 != $2 ".c" { print $2 " is in " $1 }'
}
is "$(commands src/cli)" '' 'a command is in the file of its name'
ok 'commands are found' test \
    "$(grep -lE '^const struct cli_command cmd_' src/cli/*.c | wc -l)" -ge 30
mkdir "$dir/cli"
echo 'const struct cli_command cmd_slurm = {' >"$dir/cli/cmd-sagemaker.c"
is "$(commands "$dir/cli")" 'cmd-slurm is in cmd-sagemaker.c' 'one elsewhere is found'

is "$(sources | grep -v '^examples/' | sed 's|.*/||' | sort | uniq -d)" '' 'no base name is there twice'

is "$(texts | xargs grep -nE '[[:blank:]]+$' | cut -c 1-120)" '' \
    'no white space at the end of a line'

is "$(sources | xargs grep -nE '(^|[^a-zA-Z])(TODO|FIXME)([^a-zA-Z]|$)' |
    cut -c 1-120)" '' 'nothing is left to do'

is "$(sources | xargs grep -LE '^(/\*|//)')" '' \
    'every file begins with a comment on its purpose'

# A comment names its subject: what a pronoun at its beginning means is nowhere.
subjectless() { # files on standard input
	xargs awk -v words='(It|Its|They|Their|There|Those|Them)[^a-zA-Z]' '
	$0 ~ "/[*] " words || (opened && $0 ~ "^[[:blank:]]*[*] " words) {
		print FILENAME ":" FNR ": " $0
	}
	{ opened = /^[[:blank:]]*\/\*$/ }' | cut -c 1-120
}
is "$(sources | subjectless)" '' 'no comment begins without its subject'
printf '/* It ends. */\n/*\n * Those that\n * end.\n */\n/* Items. */\n' \
    >"$dir/no.c"
is "$(echo "$dir/no.c" | subjectless | wc -l)" 2 'one that does is found'

# Files that a script reads from its own folder.
sourced() {
	(texts; ls check quickstart 2>/dev/null) | grep -v -e '\.[ch]$' |
	    xargs grep -E '^[[:blank:]]*\. "\$(here|\(dirname "\$0"\))/' /dev/null |
	    sed 's|^\([^:]*/\)*[^:/]*:.*/\([^/"]*\)".*|\1\2|'
}
is "$(sourced | sort -u | while read -r f; do
	[ -e "$f" ] || echo "$f does not exist"
done)" '' 'every script finds the files it reads'
ok 'there are such scripts' test "$(sourced | wc -l)" -ge 7

unformatted() {
	sources | xargs -n 40 clang-format --dry-run -Werror 2>&1 |
	    sed -n 's/^\([^ :]*\):[0-9]*:[0-9]*: error: .*/\1/p' | sort -u |
	    sed 's/$/: run clang-format -i/'
}

if ! command -v clang-format >/dev/null; then
	skip 'the format of .clang-format' 'clang-format is not installed'
elif ! clang-format --version | grep -q 'version 14\.'; then
	skip 'the format of .clang-format' 'clang-format is not version 14'
else
	is "$(unformatted)" '' 'the format of .clang-format'
fi

done_testing
