#!/bin/sh
# The bugs that tests switch on: none is in the product, each row of the table
# names the tests that see it, and text that has changed is an error.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

torture=$TOP_SRCDIR/tests/torture
table=$torture/seeded-bugs

is "$(cd "$TOP_SRCDIR" && grep -rlw fail_bug src strategies trials kernels \
    --include='*.[ch]')" '' 'the product has no seeded bug'

# Names in a file, one a line.
names() {
	grep -o 'bug\.[a-z_][a-z_][a-z_]*' "$1" | sort -u
}

ok 'there are bugs' test "$(grep -c '^bug\.' "$table")" -ge 20
is "$(grep '^bug\.' "$table" | while read -r bug file tests; do
	[ -n "$tests" ] || echo "$bug in $file: no test"
	for test in $tests; do
		names "$TOP_SRCDIR/$test" | grep -qx "$bug" ||
		    echo "$bug: not in $test"
	done
done)" '' 'the tests of a row name its bug'
is "$(grep '^bug\.' "$table" | cut -d ' ' -f 3- | tr ' ' '\n' | sort -u |
    while read -r test; do
	names "$TOP_SRCDIR/$test" | while read -r bug; do
		grep '^bug\.' "$table" | grep "^$bug " | grep -q " $test" ||
		    echo "$bug of $test: no row"
	done
done)" '' 'each bug of a test has a row'

# A source of two rows.
mkdir src
printf 'one\ntwo\nthree\ntwo\n' >src/a.c
row() {
	printf 'bug.x src/a.c test\n%s\n' "$1" >rows
}
row '-one
+ONE
+more'
ok 'a row is applied' sh "$torture/seed-bugs" rows . copies
is "$(tail -n +3 copies/a.c | tr '\n' ' ')" 'ONE more two three two ' \
    'its lines stand in place of the text'
for text in '-four' '-two' '-on' '+only new'; do
	row "$text"
	fails "refused: $text" 1 quietly sh "$torture/seed-bugs" rows . copies
	like "$(cat err)" 'bug\.x: its text is not once in src/a\.c' \
	    "and said: $text"
	ok "no copy is left: $text" test ! -e copies/a.c
done

done_testing
