#!/bin/sh
# What is wrong before a trial begins on a real Slurm: a program that is not there,
# setup that fails, a script that is killed.  Each ends its attempt, with the words
# of the job; what looks like a failure and is none does not.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm.sh"
need sqlite3 bash
cluster_up

cat >trial <<'END'
#!/bin/sh
[ ! -e "${0%/*}/broken" ] || { echo 'no such data' >&2; exit 4; }
echo "hpotune: step=1 loss=$1"
END
chmod +x trial
echo '[ -e /nonexistent ] && echo' >sourced
cat >modules <<'END'
module() {
	[ "$2" != nosuch ] || {
		echo "ERROR: Unable to locate a modulefile for '$2'" >&2
		return 1
	}
}
END

# Several studies at a time: what each of them waits for takes seconds.
servers=
begin() { # name setup [retries]
	slurm_study "$1" '"trials": 1' "\"cpus\": 1, \"retries\": ${3:-0}" \
	    ", \"setup\": \"$2\""
	server "$1.json"
	servers="$servers $server"
}
all_end() {
	for one_server in $servers; do
		reap "$one_server"
	done
	servers=
}
ends() { # study: the class of each attempt
	sql "$1.db" "SELECT group_concat(end_class, ' ') FROM attempts"
}
why() { # study
	sql "$1.db" 'SELECT why FROM trials'
}

begin last 'echo hello; cd /nonexistent' 1
begin absent 'nosuchtool --now; true'
begin module ". '$dir/modules'; module load gcc; module load nosuch; true"
begin venv ". '$dir/venv/bin/activate'; true"
begin leaves 'echo bye; exit 0'
begin fine ". '$dir/modules'; . '$dir/sourced'; module load nosuch || true; \
cd /nonexistent; grep -q x /dev/null; [ -e /nonexistent ] && . /nonexistent"
begin killed "[ -e '$dir/once' ] || { touch '$dir/once'; kill -9 \$\$; }"
all_end
is "$(ends last)" 'error error' 'setup whose last command fails uses up retries'
like "$(why last)" "^job [0-9]+ ended on n[1-4] before its supervisor began: cd: /nonexistent: No such file or directory; setup: 'cd /nonexistent' ended with status 1\$" \
    'the reason has the message and the command'
like "$(sql last.db 'SELECT place FROM attempts')" '^n[1-4] job [0-9]+$' \
    'its place is known'
like "$("$HPOTUNE" logs last.json 1 2>&1)" '^hello$' \
    'logs prints what its job wrote, where the trial has no log'
like "$(why absent)" "nosuchtool: command not found; setup: 'nosuchtool --now' ended with status 127" \
    'a command that is not there ends it, wherever it stands'
like "$(why module)" "Unable to locate a modulefile for 'nosuch'; setup: 'module load nosuch' ended with status 1" \
    'so does a module'
like "$(why venv)" "activate: No such file or directory; setup: '\. .*activate.?' ended with status 1" \
    'and an environment of Python'
is "$(ends leaves)" error 'and exit'
is "$(sql fine.db 'SELECT state FROM trials')" completed \
    'tests that do not hold, and what may fail, end nothing' ||
    diag "$(why fine)"
is "$(ends killed)" 'lost ok' 'a script that was killed is a free retry'
is "$(cat killed.d/trials/1/slurm-exclude 2>/dev/null)" '' \
    'which says nothing about its node'

# A node without the folder: 24.11 makes one there, and the script finds nothing.
mkdir fake
cat >fake/sbatch <<FAKE
#!/bin/sh
for script; do :; done
case "\$*" in
*--parsable*) [ -e '$dir/blind' ] || {
	touch '$dir/blind'
	cp "\$script" '$dir/kept'
	printf '#!/bin/sh\nexit 2\n' >"\$script"
	$(command -v sbatch) "\$@"
	said=\$?
	cp '$dir/kept' "\$script"
	exit \$said
} ;;
esac
exec $(command -v sbatch) "\$@"
FAKE
chmod +x fake/sbatch
real_path=$PATH
PATH=$PWD/fake:$PATH
begin blind true
PATH=$real_path
touch broken
begin said 'cd /nonexistent; true'
slurm_study program '"trials": 1' '"cpus": 1, "retries": 1' ''
sed 's|"./trial"|"nosuchprogram"|' program.json >absent.json
mv absent.json program.json
server program.json
servers="$servers $server"
slurm_study guest '"trials": 2, "parallel": 2' '"cpus": 1, "retries": 0' \
    ', "trials_per_job": 2, "setup": "echo in setup; cd /nonexistent"'
server guest.json
servers="$servers $server"
all_end
is "$(ends blind)" 'lost error' 'a script that did not begin is a free retry'
is "$(cat blind.d/trials/1/slurm-exclude)" \
    "$(sql blind.db "SELECT substr(place, 1, 2) FROM attempts WHERE attempt = 1")" \
    'and its node is not used again'
like "$(why said)" 'exit status 4: no such data; its job said before: cd: /nonexistent: No such file' \
    'the reason of a trial that fails has what setup said'
is "$("$HPOTUNE" logs said.json 1 | sed 's/^.*cd: /cd: /')" \
    '[slurm.out of the job:]
cd: /nonexistent: No such file or directory
[log of the trial:]
no such data' 'and logs prints it before the log'
is "$(ends program)" 'error error' 'a program that is not there uses up retries'
like "$(why program)" 'cannot run nosuchprogram: .*not found in PATH' 'it is said'
is "$(sql guest.db 'SELECT group_concat(DISTINCT end_class) FROM attempts')" \
    error 'the same in a job of several trials'
like "$(why guest)" "could not start this trial on n[1-4] .*: cd: /nonexistent: .*; setup: " \
    'with what its script said'
ok 'no job is left' retry no_job_left
done_testing
