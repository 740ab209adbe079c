/*
 * Log lines of the server.  The only file with global state: the destination of
 * log lines belongs to the process.
 */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/base/text.h"

static struct {
	enum log_level level;
	log_sink *sink;
	void *arg;
} log_state = { .level = LOG_LEVEL_INFO };

void
log_set_level(enum log_level level)
{
	log_state.level = level;
}

void
log_set_sink(log_sink *sink, void *arg)
{
	log_state.sink = sink;
	log_state.arg = arg;
}

const char *
log_level_name(enum log_level level)
{
	switch (level) {
	case LOG_LEVEL_ERROR:
		return "error";
	case LOG_LEVEL_WARN:
		return "warning";
	case LOG_LEVEL_INFO:
		return "info";
	case LOG_LEVEL_DEBUG:
		return "debug";
	}
	return "";
}

static void
log_line(enum log_level level, const char *area, const char *fmt, va_list ap)
{
	struct buf harmless = { 0 };
	char raw[1024], clock[32];
	const char *text;
	struct tm tm;
	time_t now;

	if (level > log_state.level)
		return;
	(void)vsnprintf(raw, sizeof raw, fmt, ap);
	text_put_harmless(&harmless, raw, strlen(raw), TEXT_LINE);
	text = buf_str(&harmless);
	if (log_state.sink != NULL) {
		log_state.sink(log_state.arg, level, area, text);
		buf_free(&harmless);
		return;
	}
	now = time(NULL);
	(void)localtime_r(&now, &tm);
	(void)strftime(clock, sizeof clock, "%Y-%m-%d %H:%M:%S", &tm);
	if (level <= LOG_LEVEL_WARN)
		fprintf(stderr, "%s %s: %s: %s\n", clock, log_level_name(level),
		    area, text);
	else
		fprintf(stderr, "%s %s: %s\n", clock, area, text);
	buf_free(&harmless);
}

#define LOG_AT(name, level)                               \
	void name(const char *area, const char *fmt, ...) \
	{                                                 \
		va_list ap;                               \
		va_start(ap, fmt);                        \
		log_line(level, area, fmt, ap);           \
		va_end(ap);                               \
	}

void
log_at(enum log_level level, const char *area, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_line(level, area, fmt, ap);
	va_end(ap);
}

LOG_AT(log_error, LOG_LEVEL_ERROR)
LOG_AT(log_warn, LOG_LEVEL_WARN)
LOG_AT(log_info, LOG_LEVEL_INFO)
LOG_AT(log_debug, LOG_LEVEL_DEBUG)

void
log_bug(const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	log_error("bug", "%s", text);
	abort();
}
