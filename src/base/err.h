/*
 * An error is one clause for the user: what, on what, why.  The caller owns
 * the struct and passes it last; whoever finds the fact composes the text;
 * only the command line shows it.
 */

#ifndef HPOTUNE_ERR_H
#define HPOTUNE_ERR_H

/* What the caller can do about it. */
enum err_kind {
	ERR_NONE,
	ERR_USAGE, /* the user's words or study.json are wrong: exit 2 */
	ERR_FILE, /* the operating system said no */
	ERR_BUSY, /* somebody else holds it: try again later */
	ERR_FULL, /* no space left */
	ERR_STORE, /* the database said no */
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
 * Fill e (which may be NULL) and return -1, so that failing is one line.  Of a
 * text that is too long the middle is left out; what a terminal would obey in
 * it stands as \xNN.
 */
int err_set(struct err *, enum err_kind, const char *, ...)
    __attribute__((format(printf, 3, 4)));

/* Put "text: " in front of what e says and return -1. */
int
err_add(struct err *, const char *, ...) __attribute__((format(printf, 2, 3)));

#endif /* HPOTUNE_ERR_H */
