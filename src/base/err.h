/*
 * An error is one clause for the user: what, on what, why.  The caller owns the
 * struct and passes it last; the function that detects the failure writes the
 * text; only the command line prints it.
 */

#ifndef HPOTUNE_ERR_H
#define HPOTUNE_ERR_H

/* What the caller can do about it. */
enum err_kind {
	ERR_NONE,
	ERR_USAGE, /* the user's input or study.json is wrong: exit 2 */
	ERR_FILE, /* a system call failed */
	ERR_BUSY, /* another process holds a lock: try again later */
	ERR_FULL, /* no space left */
	ERR_STORE, /* a database error */
	ERR_LAUNCH, /* a trial could not be started */
	ERR_REMOTE /* the other side of a connection failed: may be retried */
};

struct err {
	enum err_kind kind;
	char text[512];
};

#define ERR_INIT                             \
	{                                    \
		.kind = ERR_NONE, .text = "" \
	}

/*
 * Fill e (which may be NULL) and return -1, so that failing is one line.  A
 * text that is too long loses its middle; control characters become \xNN.
 */
int err_set(struct err *, enum err_kind, const char *, ...)
    __attribute__((format(printf, 3, 4)));

/* Put "text: " in front of the text of e and return -1. */
int
err_add(struct err *, const char *, ...) __attribute__((format(printf, 2, 3)));

/* The static analyser reads one file at a time: both return -1. */
#ifdef __clang_analyzer__
#define err_set(...) (err_set(__VA_ARGS__), -1)
#define err_add(...) (err_add(__VA_ARGS__), -1)
#endif

#endif /* HPOTUNE_ERR_H */
