# Comparisons with botocore, of the installed version and, if that is old, of a
# newer one.  Source it after lib.sh.

# Facts that AWS changes, and keys that came late, are in these only.
botocore_new='botocore>=1.43'

# Call COMMAND with $python and the version of its botocore in $botocore, and
# with $newer set where that is $botocore_new.  Each version is said; when there
# is no newer one, that is a skipped check.
each_botocore() { # command
	find_python botocore
	newer=
	! python_has "$botocore_new" || newer=yes
	botocore_call "$1"
	[ -z "$newer" ] || return 0
	if python_found "$botocore_new"; then
		newer=yes
		botocore_call "$1"
	else
		diag "$python_why"
		skip 'newer facts' "NOT COMPARED: no $botocore_new"
	fi
}

# Call COMMAND with $python and the version of its botocore in $botocore.
botocore_call() { # command
	botocore=$("$python" -c 'import botocore
print("botocore", botocore.__version__)')
	diag "compared with $botocore"
	"$1"
}
