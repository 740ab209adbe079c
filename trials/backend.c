/* What all backends share: accessors of struct launch_spec, events, folders. */

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/model/study/study.h"
#include "trials/backend.h"
#include "trials/metric-line/metric-line.h"

char *const *
backend_spec_env(const struct launch_spec *spec)
{
	return spec->own_env != NULL ? spec->own_env : spec->settings->env;
}

const char *
backend_spec_workdir(const struct launch_spec *spec)
{
	return spec->workdir != NULL ? spec->workdir : spec->settings->workdir;
}

char *
backend_spec_attempt_dir(const struct launch_spec *spec)
{
	return xasprintf("%s/attempt-%d", spec->trial_dir, spec->attempt);
}

void
backend_report_set(
    struct launch_event *ev, const struct metric_line *r, size_t i)
{
	ev->u.report.name = r->values[i].name;
	ev->u.report.has_step = r->has_step;
	ev->u.report.step = r->step;
	ev->u.report.value = r->values[i].value;
	ev->u.report.restarts = r->restarts;
	ev->u.report.first = r->first;
	ev->u.report.replaces = r->replaces;
	ev->u.report.place_name = r->place_name;
	ev->u.report.place = r->place;
}

void
backend_note(const struct launch_source *from, enum launch_level level,
    const char *fmt, ...)
{
	struct launch_event ev = { .kind = LAUNCH_NOTE };
	struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	ev.u.note.level = level;
	ev.u.note.text = buf_str(&text);
	backend_emit(from, &ev);
	buf_free(&text);
}

enum launch_kept
backend_kept_below(const char *state_dir, int64_t trial)
{
	char *path =
	    xasprintf("%s/trials/%" PRId64 "/checkpoint", state_dir, trial);
	DIR *dir = opendir(path);
	int missing = dir == NULL ? errno : 0, n = 0;

	free(path);
	if (dir == NULL)
		return missing == ENOENT ? LAUNCH_KEPT_NO : LAUNCH_KEPT_UNSEEN;
	/* The folder itself, the one above it, and a file. */
	while (n < 3 && readdir(dir) != NULL)
		n++;
	(void)closedir(dir);
	return n == 3 ? LAUNCH_KEPT_YES : LAUNCH_KEPT_NO;
}
