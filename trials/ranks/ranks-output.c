/*
 * Output files of the processes.  Rank 0 writes to the log of the trial, each
 * other rank to a file of its own with the same cap.
 */

#include <fcntl.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/file.h"
#include "trials/ranks/ranks-output.h"
#include "trials/ranks/ranks.h"

enum { BLOCK = 65536 /* a hole ends at a multiple of this */ };

void
ranks_output_name(char *text, size_t n, enum rank_role role, int number)
{
	if (role == RANK_SERVER)
		(void)snprintf(text, n, "ps-%d.log", number);
	else if (role == RANK_WORKER && number > 0)
		(void)snprintf(text, n, "rank-%d.log", number);
	else
		(void)snprintf(text, n, "log");
}

int
ranks_output_redirect(const struct ranks *s, const struct rank *r)
{
	char name[32];
	int fd, rc;

	/* Rank 0 has the log already, unless a launcher stands between. */
	if (r->role == RANK_LAUNCHER ||
	    (r->role == RANK_WORKER && r->number == 0 &&
		s->args.mode == RANKS_START))
		return 0;
	ranks_output_name(name, sizeof name, r->role, r->number);
	fd =
	    file_open_for(s->dir_fd, name, O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (fd == -1)
		return -1;
	rc = dup2(fd, 1) == -1 || dup2(fd, 2) == -1 ? -1 : 0;
	(void)close(fd);
	return rc;
}

/* From its head each time: what is a hole already costs nothing. */
static void
file_punch(int dir_fd, const char *name, int64_t cap)
{
	struct stat st;
	off_t end;
	int fd = file_open_for(dir_fd, name, O_WRONLY, 0);

	if (fd == -1)
		return;
	if (fstat(fd, &st) == 0 && st.st_size > cap) {
		end = (st.st_size - cap) / BLOCK * BLOCK;
		if (end > 0)
			(void)fallocate(fd,
			    FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, end);
	}
	(void)close(fd);
}

void
ranks_output_check(const struct ranks *s)
{
	const struct ranks_args *a = &s->args;
	char name[32];
	int i;

	for (i = 1; i < a->processes; i++) {
		ranks_output_name(name, sizeof name, RANK_WORKER, i);
		file_punch(s->dir_fd, name, a->log_cap);
	}
	for (i = 0; i < a->servers; i++) {
		ranks_output_name(name, sizeof name, RANK_SERVER, i);
		file_punch(s->dir_fd, name, a->log_cap);
	}
}
