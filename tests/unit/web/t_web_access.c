/* Who may see and act: hosts, origins, secrets, form tokens, read-only. */

#include "src/web/web-access.h"
#include "tests/support/tap.h"

#define TOKEN "0123456789abcdef0123456789abcdef"
#define FORM "fedcba9876543210fedcba9876543210"
#define HERE "localhost:8080"

static struct web_access
access_of(bool token, bool read_only, const char *host)
{
	struct web_access a = {
		.form = FORM, .host = host, .read_only = read_only
	};

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
	struct web_access_headers h = { .target = "/" };
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
	struct web_access_headers h = { .target = "/", .form = FORM };
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		enum web_verdict want =
		    rows[i].ours ? WEB_ALLOWED : WEB_WRONG_ORIGIN;

		h.host = rows[i].host;
		h.origin = rows[i].origin;
		is_int(web_access_read(&a, &h), want, rows[i].origin);
		is_int(web_access_act(&a, &h), want, "and an action");
	}
	h.origin = NULL;
	is_int(web_access_read(&a, &h), WEB_ALLOWED,
	    "a page is read without an origin");
	is_int(web_access_act(&a, &h), WEB_WRONG_ORIGIN, "an action needs it");
}

static void
test_secrets(void)
{
	static const struct {
		const char *target, *inside;
	} rows[] = {
		{ "/" TOKEN "/", "/" },
		{ "/" TOKEN "/s/a?b=c", "/s/a?b=c" },
		{ "/" TOKEN "//", "//" },
		{ "/" TOKEN, "" },
		{ "/" TOKEN "?a", "?a" },
		{ "/", NULL },
		{ "", NULL },
		{ "*", NULL },
		{ TOKEN "/", NULL },
		{ "//" TOKEN "/", NULL },
		{ "/s/a", NULL },
		{ "/s/" TOKEN "/", NULL },
		{ "/?" TOKEN, NULL },
		{ "/#" TOKEN, NULL },
		{ "/" FORM "/", NULL },
		{ "/" TOKEN "0/", NULL },
		{ "/0" TOKEN "/", NULL },
		{ "/0123456789ABCDEF0123456789ABCDEF/", NULL },
		{ "/0123456789abcdef0123456789abcde/", NULL },
		{ "/%30123456789abcdef0123456789abcdef/", NULL },
		{ "http://" HERE "/" TOKEN "/", NULL },
	};
	struct web_access a = access_of(true, false, NULL);
	struct web_access_headers h = {
		.host = HERE, .origin = "http://" HERE, .form = FORM
	};
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		enum web_verdict want =
		    rows[i].inside != NULL ? WEB_ALLOWED : WEB_NO_TOKEN;

		h.target = rows[i].target;
		is_str(web_access_inside(&a, h.target), rows[i].inside,
		    rows[i].target);
		is_int(web_access_read(&a, &h), want, "a page");
		is_int(web_access_act(&a, &h), want, "and an action");
	}
	a = access_of(false, false, NULL);
	h.target = "/s/a";
	is_int(web_access_read(&a, &h), WEB_ALLOWED,
	    "the user's own socket needs none");
	is_str(web_access_inside(&a, "/s/a"), "/s/a", "the target is whole");
}

static void
test_actions(void)
{
	static const char *const wrong[] = { NULL, "", "0", FORM "0", TOKEN,
		"FEDCBA9876543210FEDCBA9876543210",
		"fedcba9876543210fedcba987654321" };
	struct web_access a = access_of(false, false, NULL);
	struct web_access_headers h = {
		.target = "/", .host = HERE, .origin = "http://" HERE
	};
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
		strcmp(a.token, a.form) != 0,
	    "each is another");
	is_str(own.token, "", "the user's own socket has no token");
	ok(is_random(own.form), "but one for actions");
}

int
main(void)
{
	test_hosts();
	test_origins();
	test_secrets();
	test_actions();
	test_tokens();
	return done_testing();
}
