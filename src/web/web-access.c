/* Checks host, origin, cookie and form token of a request. */

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "src/base/rng.h"
#include "src/web/web-access.h"

static void
token_make(char out[WEB_TOKEN])
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
	char name[WEB_TOKEN];

	if (needs_token)
		token_make(a->token);
	token_make(a->form);
	token_make(name);
	(void)snprintf(a->cookie, sizeof a->cookie, "hpotune-%.8s", name);
}

bool
web_access_is_token(const char *right, const char *given)
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
name_length(const char *host)
{
	size_t n;

	if (host[0] == '[') {
		n = strcspn(host, "]");
		return host[n] == ']' ? n + 1 : n;
	}
	return strcspn(host, ":");
}

static bool
host_is(const char *host, const char *name)
{
	size_t n = name_length(host), port;

	if (strlen(name) != n || strncasecmp(host, name, n) != 0)
		return false;
	if (host[n] == '\0')
		return true;
	port = strspn(host + n + 1, "0123456789");
	return host[n] == ':' && port > 0 && port <= 5 &&
	       host[n + 1 + port] == '\0';
}

static bool
host_allowed(const struct web_access *a, const char *host)
{
	if (host == NULL)
		return false;
	return host_is(host, "localhost") || host_is(host, "127.0.0.1") ||
	       host_is(host, "[::1]") ||
	       (a->host != NULL && host_is(host, a->host));
}

/* The origin is the site of the request itself. */
static bool
origin_is_ours(const struct web_access_headers *h)
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

/* The cookie of this name among "a=b; c=d". */
static bool
cookie_is_right(const struct web_access *a, const char *cookies)
{
	size_t n = strlen(a->cookie), len;
	char value[WEB_TOKEN];

	while (cookies != NULL && *cookies != '\0') {
		cookies += strspn(cookies, "; ");
		len = strcspn(cookies, ";");
		if (len == n + sizeof value && /* =, and no NUL */
		    strncmp(cookies, a->cookie, n) == 0 && cookies[n] == '=') {
			memcpy(value, cookies + n + 1, sizeof value - 1);
			value[sizeof value - 1] = '\0';
			if (web_access_is_token(a->token, value))
				return true;
		}
		cookies += len;
	}
	return false;
}

enum web_verdict
web_access_read(const struct web_access *a, const struct web_access_headers *h)
{
	if (!host_allowed(a, h->host))
		return WEB_WRONG_HOST;
	/* A page of another site may not read, if its browser says so. */
	if (h->origin != NULL && !origin_is_ours(h))
		return WEB_WRONG_ORIGIN;
	if (a->token[0] != '\0' && !cookie_is_right(a, h->cookie))
		return WEB_NO_TOKEN;
	return WEB_ALLOWED;
}

enum web_verdict
web_access_file(const struct web_access *a, const struct web_access_headers *h)
{
	return host_allowed(a, h->host) ? WEB_ALLOWED : WEB_WRONG_HOST;
}

enum web_verdict
web_access_login(const struct web_access *a, const struct web_access_headers *h)
{
	if (!host_allowed(a, h->host))
		return WEB_WRONG_HOST;
	return origin_is_ours(h) ? WEB_ALLOWED : WEB_WRONG_ORIGIN;
}

enum web_verdict
web_access_act(const struct web_access *a, const struct web_access_headers *h)
{
	enum web_verdict verdict = web_access_read(a, h);

	if (verdict != WEB_ALLOWED)
		return verdict;
	if (!origin_is_ours(h) || !web_access_is_token(a->form, h->form))
		return WEB_WRONG_ORIGIN;
	return a->read_only ? WEB_READ_ONLY : WEB_ALLOWED;
}
