# Sourced after slurm.sh by tests of a cluster that is somebody else's: root starts
# it, its controller is of one user, the study of another one, who may see and do
# what any user may.  Both are users that every Debian has.

site_user=backup
site_admin=games

# Run it as the user of the study.
site_as() { # command …
	setpriv --reuid="$site_user" --regid="$site_user" --clear-groups \
	    env HOME="$site_home" USER="$site_user" LOGNAME="$site_user" \
	    TMPDIR="$site_home/tmp" "$@"
}

# cluster_up, and then in a folder of that user; $HPOTUNE runs as that user.
site_up() { # [line …]
	[ "$(id -u)" -eq 0 ] ||
	    skip_all 'NOTHING OF A SITE IS TESTED: only root can start jobs of another user'
	need setpriv
	for site_one in $site_user $site_admin; do
		id -u $site_one >/dev/null 2>&1 ||
		    skip_all "NOTHING OF A SITE IS TESTED: there is no user $site_one"
	done
	site_home=$dir/home
	chmod 755 "$dir"
	mkdir -p "$site_home/tmp"
	site_as test -x "$HPOTUNE" -a -x "$HPOTUNE_SHIM" ||
	    skip_all "NOTHING OF A SITE IS TESTED: $site_user cannot execute $HPOTUNE"
	cluster_up "SlurmUser=$site_admin" "$@"
	cd "$site_home" || exit 99
	cat >"$dir/hpotune" <<-END
	#!/bin/sh
	exec setpriv --reuid=$site_user --regid=$site_user --clear-groups \
	    env HOME="$site_home" USER=$site_user LOGNAME=$site_user \
	    TMPDIR="$site_home/tmp" "$HPOTUNE" "\$@"
	END
	chmod 755 "$dir/hpotune"
	HPOTUNE=$dir/hpotune
	site_give
}

# What is in the folder now is the user's.
site_give() {
	chown -R $site_user: "$site_home"
}

# Add lines to slurm.conf; lines that need it restart the controller themselves.
site_add() { # line …
	printf '%s\n' "$@" >>"$SLURM_CONF"
	scontrol reconfigure
}

# Jobs of the user that have not ended, as the administrator sees them.
jobs_left() {
	squeue --all --user=$site_user --noheader \
	    --states=PENDING,RUNNING,COMPLETING | wc -l
}
