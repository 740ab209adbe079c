/*
 * Log lines of the server: level, area, text.  They go as plain text to stderr,
 * or to a sink (the progress display, a log file).
 */

#ifndef HPOTUNE_LOG_H
#define HPOTUNE_LOG_H

enum log_level {
	LOG_LEVEL_ERROR,
	LOG_LEVEL_WARN,
	LOG_LEVEL_INFO,
	LOG_LEVEL_DEBUG
};

typedef void
log_sink(void *arg, enum log_level, const char *area, const char *text);

/* Show lines up to this level; the default is LOG_LEVEL_INFO. */
void log_set_level(enum log_level);
/* Send lines to sink instead of stderr; NULL restores stderr. */
void log_set_sink(log_sink *, void *arg);

void log_at(enum log_level, const char *area, const char *, ...)
    __attribute__((format(printf, 3, 4)));
void log_error(const char *area, const char *, ...)
    __attribute__((format(printf, 2, 3)));
void log_warn(const char *area, const char *, ...)
    __attribute__((format(printf, 2, 3)));
void log_info(const char *area, const char *, ...)
    __attribute__((format(printf, 2, 3)));
void log_debug(const char *area, const char *, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * What cannot be, unless this program is wrong: a line for its author, whatever
 * the level, and the process aborts.  Nothing of the turn is recorded then.
 */
_Noreturn void log_bug(const char *, ...) __attribute__((format(printf, 1, 2)));

/* "error", "warning", "info" or "debug". */
const char *log_level_name(enum log_level);

#endif /* HPOTUNE_LOG_H */
