/*
 * What the operating system said of SQLite's last failure.  SQLite keeps the errno of
 * reads and writes alone; of the others (mmap, open, ftruncate) it only logs it, and its
 * own text is "disk I/O error", for want of memory, too.
 */

#include <stdio.h>
#include <string.h>

#include "src/store/store-internal.h"

/* The last failure that SQLite has logged: its code, and the errno. */
static struct {
	int code;
	int error;
} logged;

static void
os_error_keep(void *unused, int code, const char *text)
{
	int error;

	(void)unused;
	if (sscanf(text, "os_unix.c:%*d: (%d)", &error) == 1 && error > 0) {
		logged.code = code;
		logged.error = error;
	}
}

void
os_error_listen(void)
{
	(void)sqlite3_config(SQLITE_CONFIG_LOG, os_error_keep, NULL);
}

int
os_error(const struct store *s)
{
	int code = sqlite3_extended_errcode(s->db);

	if (code == logged.code && logged.error != 0)
		return logged.error;
	return sqlite3_system_errno(s->db);
}
