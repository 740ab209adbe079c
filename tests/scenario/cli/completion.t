#!/bin/sh
# hpotune completion: scripts that the shells accept, and what bash offers.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

need bash

for shell in bash fish zsh; do
	quietly "$HPOTUNE" completion $shell
	is $? 0 "a script for $shell"
	cp out completion.$shell
	is "$("$HPOTUNE" help | awk '/^  [a-z]/ { print $1 }' |
	    while read -r command; do
		grep -qw -e "$command" completion.$shell || echo "$command"
	    done)" '' "with every command, for $shell"
	if command -v $shell >/dev/null; then
		ok "$shell reads it" $shell -n completion.$shell
	else
		skip "$shell reads it" 'it is not installed'
	fi
done
fails 'another shell' 2 "$HPOTUNE" completion tcsh

# offered word …: what bash offers for the last word.
cat >offered <<'END'
. ./completion.bash
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_hpotune
echo "${COMPREPLY[*]}"
END
offered() {
	bash offered hpotune "$@"
}
is "$(offered sta)" 'start status' 'commands'
is "$(offered '' | wc -w)" \
    "$("$HPOTUNE" help | grep -c '^  [a-z]')" 'all of them'
is "$(offered start --t)" '--trials --take-over' 'options'
is "$(offered rules med)" median 'rules'
is "$(offered strategies cma)" cmaes 'strategies'
is "$(offered sagemaker '')" 'gc model' 'words of a command'
is "$(offered import '')" "$("$HPOTUNE" import --help | sed -n '1{
    s/.*OPTION\]\.\.\.//; s/|/\n/g; p}' | awk '{ print $1 }' | sort -u |
    tr '\n' ' ' | sed 's/ $//')" 'the tools of import'
is "$(offered import wandb '')" '' 'then files'
is "$(offered start stu)" '' 'files are left to bash'
is "$(offered start --state '')" '' 'and so are values of options'
is "$(offered rules --j)" --json 'options beside words'
# Every option of every command, as its help has it.
"$HPOTUNE" help | awk '/^  [a-z]/ { print $1 }' >commands
while read -r command; do
	is "$(offered "$command" -- | tr ' ' '\n' | sort | tr '\n' ' ')" \
	    "$("$HPOTUNE" "$command" --help |
		sed -n 's/^  .*\(--[a-z-]*\).*  .*/\1/p' | sort | tr '\n' ' ')" \
	    "$command: its options"
done <commands

if command -v fish >/dev/null; then
	is "$(HOME=$PWD fish -c 'source completion.fish
	    complete -C "hpotune sta"' | awk '{ print $1 }' | tr '\n' ' ')" \
	    'start status ' 'fish offers commands'
	is "$(HOME=$PWD fish -c 'source completion.fish
	    complete -C "hpotune start --tr"' | awk '{ print $1 }')" \
	    --trials 'and options'
	: >sweep.yaml
	is "$(HOME=$PWD fish -c 'source completion.fish
	    complete -C "hpotune import wandb swe"')" sweep.yaml \
	    'and files after the first operand'
else
	skip 'fish offers commands' 'it is not installed'
fi

done_testing
