/* Callers of hpotune mcp: their names, their caps, and what they asked for. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/engine/callers/caller.h"
#include "src/store/store.h"

enum { CALLER_NAME_MAX = 200 }; /* bytes */

struct caller *
caller_read(const char *json)
{
	struct caller *c = xcalloc(1, sizeof *c);
	struct json_doc *doc;
	const struct json *root;
	const char *name;

	if (json_parse(&doc, json, strlen(json), NULL, false, NULL) != 0) {
		c->name = xstrdup("?");
		return c;
	}
	root = json_root(doc);
	name = json_string(json_get(root, "caller"));
	c->name = xstrndup(name != NULL ? name : "?", CALLER_NAME_MAX);
	(void)json_integer(json_get(root, "trials"), &c->caps.trials);
	(void)json_integer(json_get(root, "parallel"), &c->caps.parallel);
	(void)json_number(json_get(root, "hours"), &c->caps.hours);
	(void)json_number(json_get(root, "dollars"), &c->caps.dollars);
	json_free(doc);
	return c;
}

void
caller_free(struct caller *c)
{
	if (c == NULL)
		return;
	free(c->name);
	free(c);
}

bool
caller_capped(
    const struct caller *c, const struct caller_usage *u, char *why, size_t n)
{
	const struct caller_caps *caps = &c->caps;

	if (caps->trials > 0 && u->trials >= caps->trials)
		(void)snprintf(why, n,
		    "the cap of this caller, %" PRId64
		    " trials, is reached: the study has %" PRId64,
		    caps->trials, u->trials);
	else if (caps->trials > 0 && u->waiting >= caps->trials - u->trials)
		(void)snprintf(why, n,
		    "the cap of this caller, %" PRId64
		    " trials, leaves room for %" PRId64 ", and %" PRId64
		    " settings wait",
		    caps->trials, caps->trials - u->trials, u->waiting);
	else if (caps->hours > 0 && u->hours >= caps->hours)
		(void)snprintf(why, n,
		    "the cap of this caller, %g hours, is reached",
		    caps->hours);
	else if (caps->dollars > 0 && u->dollars >= caps->dollars)
		(void)snprintf(why, n,
		    "the cap of this caller, $%.2f, is reached: the trials "
		    "cost $%.2f",
		    caps->dollars, u->dollars);
	else
		return false;
	return true;
}

int64_t
caller_room(const struct caller *c, int64_t running)
{
	if (c == NULL || c->caps.parallel == 0)
		return INT64_MAX;
	return running < c->caps.parallel ? c->caps.parallel - running : 0;
}

int
caller_record(const struct caller *c, struct store *store,
    const struct store_request *request, struct err *e)
{
	struct store_request row = *request;

	row.caller = c->name;
	return store_request_add(store, &row, e);
}
