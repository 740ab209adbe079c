/*
 * Who may see the pages and act: decided from the target and the headers of a
 * request.  Pages of other sites must not reach the server through the user's
 * browser (DNS rebinding, cross-site requests), nor other users of the machine
 * through the loopback interface.  The secret is the first part of each path: a
 * browser sends a path to this port alone, whereas it would send a cookie to each
 * port of the host.
 */

#ifndef HPOTUNE_WEB_ACCESS_H
#define HPOTUNE_WEB_ACCESS_H

#include <stdbool.h>

enum { WEB_TOKEN = 33 }; /* 128 bits as hexadecimal digits, and a NUL */

struct web_access {
	/* The first part of the path of each page; "" = none is needed: the
	 * socket is the user's own */
	char token[WEB_TOKEN];
	char form[WEB_TOKEN]; /* a header that only our own pages can send */
	const char *host; /* a host name that is allowed as well, or NULL */
	bool read_only; /* no actions */
};

/* What decides of a request; NULL = absent. */
struct web_access_headers {
	const char *target; /* path and query, never NULL */
	const char *host, *origin, *form;
};

enum web_verdict {
	WEB_ALLOWED,
	WEB_WRONG_HOST, /* a name that is not this machine's */
	WEB_WRONG_ORIGIN, /* sent by a page of another site, or by none */
	WEB_READ_ONLY,
	WEB_NO_TOKEN
};

/* New random tokens; needs_token: for a server that others can reach. */
void web_access_init(struct web_access *, bool needs_token);
/* Whether a page may be read. */
enum web_verdict
web_access_read(const struct web_access *, const struct web_access_headers *);
/*
 * Whether the script and the style may be read; they contain no data of a
 * study.
 */
enum web_verdict
web_access_file(const struct web_access *, const struct web_access_headers *);
/* Whether an action may be done. */
enum web_verdict
web_access_act(const struct web_access *, const struct web_access_headers *);
/*
 * The target without its secret, "/s/NAME" of "/SECRET/s/NAME"; "" of "/SECRET";
 * NULL: another secret, or none.  Points into the target.
 */
const char *web_access_inside(const struct web_access *, const char *target);

#endif /* HPOTUNE_WEB_ACCESS_H */
