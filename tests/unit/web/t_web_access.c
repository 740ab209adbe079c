/* Who may see and act: hosts, origins, cookies, form tokens, read-only. */

#include "src/web/web-access.h"
#include "tests/support/tap.h"

#define TOKEN "0123456789abcdef0123456789abcdef"
#define FORM "fedcba9876543210fedcba9876543210"
#define COOKIE "hpotune-12345678=" TOKEN
#define HERE "localhost:8080"

static struct web_access
access_of(bool token, bool read_only, const char *host)
{
	struct web_access a = { .cookie = "hpotune-12345678",
		.form = FORM,
		.host = host,
		.read_only = read_only };

	if (token)
		memcpy(a.token, TOKEN, sizeof a.token);
	return a;
}

static void
test_hosts(void)
{
	static const struct {
		const char *host;
		bool allowed;
	} rows[] = {
		{ "localhost", true },
		{ "LocalHost:1", true },
		{ "localhost:65535", true },
		{ "127.0.0.1", true },
		{ "127.0.0.1:8080", true },
		{ "[::1]", true },
		{ "[::1]:8080", true },
		{ "box.example", true },
		{ "BOX.example:80", true },
		{ NULL, false },
		{ "", false },
		{ ":8080", false },
		{ "localhost:", false },
		{ "localhost:x", false },
		{ "localhost:80x", false },
		{ "localhost:123456", false },
		{ "localhost:80:80", false },
		{ "localhost.", false },
		{ "localhost.evil.example", false },
		{ "evil.localhost", false },
		{ "localhos", false },
		{ "localhost ", false },
		{ " localhost", false },
		{ "localhost,evil.example", false },
		{ "user@localhost", false },
		{ "127.0.0.1.evil.example", false },
		{ "127.0.0.2", false },
		{ "127.1", false },
		{ "0.0.0.0", false },
		{ "::1", false },
		{ "[::1", false },
		{ "[::1]8080", false },
		{ "[::1]:", false },
		{ "[::2]", false },
		{ "[", false },
		{ "]", false },
		{ "example", false },
		{ "box.example.evil", false },
	};
	struct web_access a = access_of(false, false, "box.example");
	struct web_access_headers h = { 0 };
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		h.host = rows[i].host;
		is_int(web_access_read(&a, &h),
		    rows[i].allowed ? WEB_ALLOWED : WEB_WRONG_HOST,
		    rows[i].host == NULL ? "no host" : rows[i].host);
	}
	a.host = NULL;
	h.host = "box.example";
	is_int(web_access_read(&a, &h), WEB_WRONG_HOST,
	    "no other host unless it is allowed");
	is_int(web_access_act(&a, &h), WEB_WRONG_HOST,
	    "an action with another host name is refused");
	is_int(web_access_login(&a, &h), WEB_WRONG_HOST,
	    "a login with another host name is refused");
	is_int(web_access_file(&a, &h), WEB_WRONG_HOST,
	    "the script with another host name is refused");
	h.host = "localhost";
	is_int(web_access_file(&a, &h), WEB_ALLOWED, "which is for ours");
}

static void
test_origins(void)
{
	static const struct {
		const char *host, *origin;
		bool ours;
	} rows[] = {
		{ HERE, "http://" HERE, true },
		{ HERE, "https://" HERE, true },
		{ HERE, "HTTP://LOCALHOST:8080", true },
		{ "[::1]:80", "http://[::1]:80", true },
		{ HERE, "", false },
		{ HERE, "null", false },
		{ HERE, HERE, false },
		{ HERE, "http://", false },
		{ HERE, "http://localhost", false },
		{ HERE, "http://localhost:8081", false },
		{ HERE, "http://127.0.0.1:8080", false },
		{ HERE, "http://" HERE "/", false },
		{ HERE, "http://" HERE ".evil.example", false },
		{ HERE, "http://evil.example", false },
		{ HERE, "http://evil@" HERE, false },
		{ HERE, "ftp://" HERE, false },
		{ HERE, "file://", false },
		{ "localhost", "http://localhost:8080", false },
	};
	struct web_access a = access_of(false, false, NULL);
	struct web_access_headers h = { .form = FORM };
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		enum web_verdict want =
		    rows[i].ours ? WEB_ALLOWED : WEB_WRONG_ORIGIN;

		h.host = rows[i].host;
		h.origin = rows[i].origin;
		is_int(web_access_read(&a, &h), want, rows[i].origin);
		is_int(web_access_act(&a, &h), want, "and an action");
		is_int(web_access_login(&a, &h), want, "and a login");
	}
	h.origin = NULL;
	is_int(web_access_read(&a, &h), WEB_ALLOWED,
	    "a page is read without an origin");
	is_int(web_access_act(&a, &h), WEB_WRONG_ORIGIN, "an action needs it");
	is_int(web_access_login(&a, &h), WEB_WRONG_ORIGIN, "a login, too");
}

static void
test_cookies(void)
{
	static const struct {
		const char *cookie;
		bool right;
	} rows[] = {
		{ COOKIE, true },
		{ "a=b; " COOKIE, true },
		{ COOKIE "; a=b", true },
		{ "a=b;" COOKIE ";c=d", true },
		{ "; ;; " COOKIE, true },
		/* An older one of the same name does not hide it. */
		{ "hpotune-12345678=0; " COOKIE, true },
		{ "hpotune-12345678=" FORM "; " COOKIE, true },
		{ NULL, false },
		{ "", false },
		{ ";", false },
		{ "hpotune-12345678=", false },
		{ "hpotune-12345678", false },
		{ "hpotune-12345678=" FORM, false },
		{ "hpotune-12345679=" TOKEN, false },
		{ "Hpotune-12345678=" TOKEN, false },
		{ "xhpotune-12345678=" TOKEN, false },
		{ "hpotune-12345678 =" TOKEN, false },
		{ "hpotune-12345678:" TOKEN, false },
		{ "hpotune-12345678=" TOKEN "0", false },
		{ "hpotune-12345678=0" TOKEN, false },
		{ "hpotune-12345678= " TOKEN, false },
		{ "hpotune-12345678=\"" TOKEN "\"", false },
		{ "hpotune-12345678=0123456789ABCDEF0123456789ABCDEF", false },
		{ "hpotune-12345678=0123456789abcdef0123456789abcde", false },
		{ "a=" COOKIE, false },
		{ COOKIE " ; a=b", false },
		{ TOKEN, false },
	};
	struct web_access a = access_of(true, false, NULL);
	struct web_access_headers h = {
		.host = HERE, .origin = "http://" HERE, .form = FORM
	};
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		enum web_verdict want =
		    rows[i].right ? WEB_ALLOWED : WEB_NO_TOKEN;

		h.cookie = rows[i].cookie;
		is_int(web_access_read(&a, &h), want,
		    h.cookie == NULL ? "no cookie" : h.cookie);
		is_int(web_access_act(&a, &h), want, "and an action");
		is_int(web_access_login(&a, &h), WEB_ALLOWED,
		    "a login needs no cookie");
	}
	a = access_of(false, false, NULL);
	h.cookie = NULL;
	is_int(web_access_read(&a, &h), WEB_ALLOWED,
	    "the user's own socket needs none");
}

static void
test_actions(void)
{
	static const char *const wrong[] = { NULL, "", "0", FORM "0", TOKEN,
		"FEDCBA9876543210FEDCBA9876543210",
		"fedcba9876543210fedcba987654321" };
	struct web_access a = access_of(false, false, NULL);
	struct web_access_headers h = { .host = HERE,
		.origin = "http://" HERE };
	size_t i;

	for (i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		h.form = wrong[i];
		is_int(web_access_act(&a, &h), WEB_WRONG_ORIGIN,
		    "an action with a wrong form token");
	}
	h.form = FORM;
	is_int(web_access_act(&a, &h), WEB_ALLOWED, "with the right one");
	a.read_only = true;
	is_int(web_access_act(&a, &h), WEB_READ_ONLY, "read-only: none");
	is_int(web_access_read(&a, &h), WEB_ALLOWED, "but pages are read");
	h.form = NULL;
	is_int(web_access_act(&a, &h), WEB_WRONG_ORIGIN,
	    "who has no form token does not learn of it");
}

static bool
is_random(const char *token)
{
	return strlen(token) == WEB_TOKEN - 1 &&
	       strspn(token, "0123456789abcdef") == WEB_TOKEN - 1;
}

static void
test_tokens(void)
{
	struct web_access a = { 0 }, b = { 0 }, own = { 0 };

	web_access_init(&a, true);
	web_access_init(&b, true);
	web_access_init(&own, false);
	ok(is_random(a.token) && is_random(a.form), "tokens have 128 bits");
	ok(strcmp(a.token, b.token) != 0 && strcmp(a.form, b.form) != 0 &&
		strcmp(a.token, a.form) != 0 && strcmp(a.cookie, b.cookie) != 0,
	    "each is another");
	ok(strncmp(a.cookie, "hpotune-", 8) == 0 && strlen(a.cookie) == 16 &&
		strstr(a.token, a.cookie + 8) == NULL,
	    "the cookie's name is no part of the token");
	is_str(own.token, "", "the user's own socket has no token");
	ok(is_random(own.form), "but one for actions");
	ok(web_access_is_token(TOKEN, TOKEN), "a token is itself");
	ok(!web_access_is_token("", ""), "an empty token matches no token");
	ok(!web_access_is_token("", NULL),
	    "a missing token does not match an empty one");
	ok(!web_access_is_token(TOKEN, NULL), "a missing token is refused");
	ok(!web_access_is_token(TOKEN, ""), "an empty token is refused");
}

int
main(void)
{
	test_hosts();
	test_origins();
	test_cookies();
	test_actions();
	test_tokens();
	return done_testing();
}
