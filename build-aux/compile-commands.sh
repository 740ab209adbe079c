#!/bin/sh
# Prints compile_commands.json, for clangd and clang-tidy, without building:
#	build-aux/compile-commands.sh FOLDER SOURCE WORD...
# FOLDER is where commands run, SOURCE the top folder of the source, WORD... the
# compiler with its options.  Every C file gets the same command: the options of
# all folders together.
set -eu
folder=$1
top=$2
shift 2
[ "${1##*/}" != ccache ] || shift

json() { # TEXT: as a string of JSON
	printf '"%s"' "$(printf '%s' "$1" | sed 's/[\\"]/\\&/g')"
}

words=
for word; do
	words="$words$(json "$word"), "
done
separator='['
find "$top/src" "$top/strategies" "$top/trials" "$top/kernels" "$top/examples" \
    "$top/tests" "$top/bench" -name '*.c' | LC_ALL=C sort |
    while IFS= read -r file; do
	printf '%s\n{ "directory": %s, "file": %s,\n  "arguments": [ %s"-c", %s ] }' \
	    "$separator" "$(json "$folder")" "$(json "$file")" "$words" \
	    "$(json "$file")"
	separator=','
done
printf '\n]\n'
