/* Checks path, host, origin and form token of a request. */

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "src/base/rng.h"
#include "src/web/web-access.h"

static void
web_access_token_make(char out[WEB_TOKEN])
{
	unsigned char bytes[WEB_TOKEN / 2];
	size_t i;

	rng_system(bytes, sizeof bytes);
	for (i = 0; i < sizeof bytes; i++)
		(void)snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

void
web_access_init(struct web_access *a, bool needs_token)
{
	if (needs_token)
		web_access_token_make(a->token);
	web_access_token_make(a->form);
}

/* Compare in a time that does not depend on where they differ. */
static bool
web_access_token_is(const char *right, const char *given)
{
	unsigned char differs = 0;
	size_t i, n = strlen(right);

	if (given == NULL || strlen(given) != n || n == 0)
		return false;
	for (i = 0; i < n; i++)
		differs |= (unsigned char)(right[i] ^ given[i]);
	return differs == 0;
}

/* The name without its port: [::1]:80 is [::1]. */
static size_t
web_access_name_length(const char *host)
{
	size_t n;

	if (host[0] == '[') {
		n = strcspn(host, "]");
		return host[n] == ']' ? n + 1 : n;
	}
	return strcspn(host, ":");
}

static bool
web_access_host_is(const char *host, const char *name)
{
	size_t n = web_access_name_length(host), port;

	if (strlen(name) != n || strncasecmp(host, name, n) != 0)
		return false;
	if (host[n] == '\0')
		return true;
	port = strspn(host + n + 1, "0123456789");
	return host[n] == ':' && port > 0 && port <= 5 &&
	       host[n + 1 + port] == '\0';
}

static bool
web_access_host_allowed(const struct web_access *a, const char *host)
{
	if (host == NULL)
		return false;
	return web_access_host_is(host, "localhost") ||
	       web_access_host_is(host, "127.0.0.1") ||
	       web_access_host_is(host, "[::1]") ||
	       (a->host != NULL && web_access_host_is(host, a->host));
}

/* The origin is the site of the request itself. */
static bool
web_access_origin_is_ours(const struct web_access_headers *h)
{
	const char *o = h->origin;

	if (o == NULL)
		return false;
	if (strncasecmp(o, "http://", 7) == 0)
		o += 7;
	else if (strncasecmp(o, "https://", 8) == 0)
		o += 8;
	else
		return false;
	return strcasecmp(o, h->host) == 0;
}

const char *
web_access_inside(const struct web_access *a, const char *target)
{
	char given[WEB_TOKEN];
	size_t n;

	if (a->token[0] == '\0')
		return target;
	if (target[0] != '/')
		return NULL;
	n = strcspn(target + 1, "/?#");
	if (n != sizeof given - 1)
		return NULL;
	memcpy(given, target + 1, n);
	given[n] = '\0';
	return web_access_token_is(a->token, given) ? target + 1 + n : NULL;
}

enum web_verdict
web_access_read(const struct web_access *a, const struct web_access_headers *h)
{
	if (!web_access_host_allowed(a, h->host))
		return WEB_WRONG_HOST;
	/* A page of another site may not read, if its browser says so. */
	if (h->origin != NULL && !web_access_origin_is_ours(h))
		return WEB_WRONG_ORIGIN;
	if (web_access_inside(a, h->target) == NULL)
		return WEB_NO_TOKEN;
	return WEB_ALLOWED;
}

enum web_verdict
web_access_file(const struct web_access *a, const struct web_access_headers *h)
{
	return web_access_host_allowed(a, h->host) ? WEB_ALLOWED
						   : WEB_WRONG_HOST;
}

enum web_verdict
web_access_act(const struct web_access *a, const struct web_access_headers *h)
{
	enum web_verdict verdict = web_access_read(a, h);

	if (verdict != WEB_ALLOWED)
		return verdict;
	if (!web_access_origin_is_ours(h) ||
	    !web_access_token_is(a->form, h->form))
		return WEB_WRONG_ORIGIN;
	return a->read_only ? WEB_READ_ONLY : WEB_ALLOWED;
}
