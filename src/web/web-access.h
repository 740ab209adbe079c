/*
 * Who may see the pages and act: decided from the headers of a request.  Pages
 * of other sites must not reach the server through the user's browser (DNS
 * rebinding, cross-site requests), nor other users of the machine through the
 * loopback interface.
 */

#ifndef HPOTUNE_WEB_ACCESS_H
#define HPOTUNE_WEB_ACCESS_H

#include <stdbool.h>

enum { WEB_TOKEN = 33 }; /* 128 bits as hexadecimal digits, and a NUL */

struct web_access {
	/* What a browser must show as a cookie; "" = no token is needed: the
	 * socket is the user's own */
	char token[WEB_TOKEN];
	char cookie[32]; /* name of that cookie, of this server alone */
	char form[WEB_TOKEN]; /* a header that only our own pages can send */
	const char *host; /* a host name that is allowed as well, or NULL */
	bool read_only; /* no actions */
};

/* Headers of a request; NULL = absent. */
struct web_access_headers {
	const char *host, *origin, *cookie, *form;
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
/* Whether a login may be tried; its token is compared by web_access_is_token. */
enum web_verdict
web_access_login(const struct web_access *, const struct web_access_headers *);
/* Compare in a time that does not depend on where they differ. */
bool web_access_is_token(const char *right, const char *given);

#endif /* HPOTUNE_WEB_ACCESS_H */
