/* The log of a place: two files of bounded size; the older one is replaced. */

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/base/file.h"
#include "trials/pack/pack-log.h"
#include "trials/pack/pack.h"

#define LOG_OLD PACK_LOG ".old"

enum { LOG_MAX = 4 << 20 /* bytes of one file */ };

void
pack_log_open(struct pack_log *log, int dir_fd)
{
	struct stat st;

	log->dir_fd = dir_fd;
	log->size = 0;
	log->fd = file_open_for(
	    dir_fd, PACK_LOG, O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (log->fd != -1 && fstat(log->fd, &st) == 0)
		log->size = st.st_size;
}

void
pack_log_raw(struct pack_log *log, const char *text, size_t n)
{
	ssize_t r;

	if (log->size > LOG_MAX) {
		(void)close(log->fd);
		(void)renameat(log->dir_fd, PACK_LOG, log->dir_fd, LOG_OLD);
		pack_log_open(log, log->dir_fd);
	}
	/* What does not fit on the disk is dropped. */
	if (log->fd != -1 && (r = write(log->fd, text, n)) > 0)
		log->size += r;
}

void
pack_log_note(struct pack *p, const char *fmt, ...)
{
	struct buf b = { 0 };
	char text[512], date[32];
	struct tm tm;
	time_t now = time(NULL);
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	(void)strftime(
	    date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	buf_printf(&b, "%s hpotune-pack: %s\n", date, text);
	pack_log_raw(&p->log, b.data, b.len);
	buf_free(&b);
}
