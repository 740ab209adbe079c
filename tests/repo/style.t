#!/bin/sh
# What a reader can rely on: one format, files of a size one can read, no
# white space at ends of lines.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

max_lines=900

sources() {
	(cd "$TOP_SRCDIR" && find src strategies trials kernels tests bench \
	    examples -name seeded -prune -o \( -name '*.[ch]' -o -name '*.cu' \) \
	    -print 2>/dev/null | sort)
}

texts() {
	sources
	(cd "$TOP_SRCDIR" && ls configure.ac Makefile.am *.md 2>/dev/null
	find src strategies trials kernels schema man examples tests bench \
	    -name '*.sql' -o -name '*.[1-8]' -o -name '*.sh' -o -name '*.t' \
	    -o -name '*.md' -o -name 'study.json' \
	    -o -name Makefile.inc 2>/dev/null |
	    grep -v -e '^tests/fuzz/corpus' -e '^tests/fake')
}

cd "$TOP_SRCDIR" || exit 99

is "$(sources | while read -r f; do
	n=$(wc -l <"$f")
	[ "$n" -le $max_lines ] || echo "$f has $n lines"
done)" '' "no file has more than $max_lines lines"

is "$(sources | grep -v '^examples/' | sed 's|.*/||' | sort | uniq -d)" '' 'no base name is there twice'

is "$(texts | xargs grep -nE '[[:blank:]]+$' | cut -c 1-120)" '' \
    'no white space at the end of a line'

is "$(sources | xargs grep -nE '(^|[^a-zA-Z])(TODO|FIXME)([^a-zA-Z]|$)' |
    cut -c 1-120)" '' 'nothing is left to do'

is "$(sources | xargs grep -LE '^(/\*|//)')" '' \
    'every file begins with a comment on its purpose'

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
