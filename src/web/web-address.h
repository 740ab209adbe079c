/*
 * Addresses of the web pages: what a target of a request asks for.  Text only:
 * no file, no study.
 */

#ifndef HPOTUNE_WEB_ADDRESS_H
#define HPOTUNE_WEB_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

enum web_page {
	WEB_PAGE_NONE, /* no such address */
	WEB_PAGE_INDEX, /* / */
	WEB_PAGE_STYLE, /* /web.css */
	WEB_PAGE_SCRIPT, /* /web.js */
	WEB_PAGE_COMPARE, /* /compare?study=A&study=B */
	WEB_PAGE_STUDY, /* /s/NAME */
	WEB_PAGE_LIVE, /* /s/NAME/live: server-sent events */
	WEB_PAGE_ACTION, /* /s/NAME/do: POST */
	WEB_PAGE_CHART, /* /s/NAME/chart?kind=history&as=svg: a file */
	WEB_PAGE_TRIALS, /* /s/NAME/trials?trial=1&trial=2: side by side */
	WEB_PAGE_TRIAL, /* /s/NAME/trial/12 */
	WEB_PAGE_LINE, /* /s/NAME/trial/12/line: one line of text */
	WEB_PAGE_LOG /* /s/NAME/trial/12/log?attempt=1&from=0 */
};

enum { WEB_PARAMS = 64 };

struct web_address {
	enum web_page page;
	/* The way from the page to the list, "../../": links are relative, so
	 * that no page contains the secret of its address */
	char *root;
	char *study; /* decoded; NULL = none */
	int64_t trial; /* 0 = none */
	struct {
		char *name, *value; /* decoded */
	} params
	    [WEB_PARAMS]; /* of the query, in its order; others are ignored */
	size_t n_params;
};

/* Parse a target, without its secret; call web_address_fini. */
void web_address_read(struct web_address *, const char *target);
void web_address_fini(struct web_address *);
/* Add the parameters of a form, "a=b&c=d". */
void web_address_read_form(struct web_address *, const char *, size_t len);
/* Value i of a parameter, or NULL. */
const char *
web_address_param(const struct web_address *, const char *name, size_t i);
/* A parameter's first value as a number from 0 to INT64_MAX, or def. */
int64_t
web_address_number(const struct web_address *, const char *name, int64_t def);

/* Append a text in the form that a path or a query can hold. */
void web_address_put(struct buf *, const char *text);
/*
 * Append "?a=b&c=d": the parameters, with name set to value (NULL = without
 * it), and without the parameter page.
 */
void web_address_put_query(struct buf *, const struct web_address *,
    const char *name, const char *value);

#endif /* HPOTUNE_WEB_ADDRESS_H */
