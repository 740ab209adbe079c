/*
 * Questions before the main loop, on a loop of their own: the region of the
 * instance, if none is configured, and whether there are credentials.
 */

#include "src/base/http/http.h"
#include "src/base/loop.h"
#include "trials/aws/config/aws-config.h"
#include "trials/aws/credentials/cred-internal.h"
#include "trials/aws/credentials/cred.h"

struct asking {
	struct loop *loop;
	bool over, good;
};

static void
on_asked(void *arg, bool good)
{
	struct asking *a = arg;

	a->over = true;
	a->good = good;
}

static void
cred_ask_on_turn(void *arg)
{
	struct asking *a = arg;

	if (a->over)
		loop_stop(a->loop);
}

/* Run one search on the loop of asking to its end; free what it returns. */
static struct cred_chain *
cred_ask_search(struct asking *a, struct http *http, struct aws_config *c,
    enum cred_place only)
{
	struct cred_chain *f =
	    cred_chain_new(a->loop, http, c, only, 0, on_asked, a);

	loop_run(a->loop, cred_ask_on_turn, a);
	return f;
}

static int
region_search(
    struct asking *a, struct http *http, struct aws_config *c, struct err *e)
{
	struct cred_chain *f = cred_ask_search(a, http, c, CRED_PLACE_REGION);
	int rc = 0;

	if (a->good)
		aws_config_set_region(c, f->source);
	else
		rc = err_set(e, ERR_USAGE,
		    "no region of AWS is set: name one in backend.region, "
		    "AWS_REGION or the profile \"%s\" (%s)",
		    aws_config_profile(c),
		    f->looked.len > 0 ? buf_str(&f->looked) : f->err.text);
	cred_chain_free(f);
	return rc;
}

/* What only the network hinders may be over soon: that is no error. */
static int
keys_search(
    struct asking *a, struct http *http, struct aws_config *c, struct err *e)
{
	struct cred_chain *f = cred_ask_search(a, http, c, CRED_PLACES);
	int rc = 0;

	if (!a->good && f->err.kind == ERR_USAGE) {
		*e = f->err;
		rc = -1;
	}
	cred_chain_free(f);
	return rc;
}

static int
cred_ask_run(struct aws_config *c,
    int (*how)(
	struct asking *, struct http *, struct aws_config *, struct err *),
    struct err *e)
{
	struct asking a = { 0 };
	struct http *http;
	int rc;

	if (loop_open(&a.loop, LOOP_REAL, e) != 0)
		return -1;
	rc = http_open(&http, a.loop, aws_config_ca_bundle(c), e);
	if (rc == 0) {
		rc = how(&a, http, c, e);
		http_close(http);
	}
	loop_close(a.loop);
	return rc;
}

int
cred_ask_region(struct aws_config *c, struct err *e)
{
	return aws_config_region(c) != NULL ? 0
					    : cred_ask_run(c, region_search, e);
}

int
cred_ask_keys(struct aws_config *c, struct err *e)
{
	return cred_ask_run(c, keys_search, e);
}

bool
cred_ask_visible(const struct aws_config *c)
{
	static const char *const variables[] = { "AWS_ACCESS_KEY_ID",
		"AWS_WEB_IDENTITY_TOKEN_FILE",
		"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
		"AWS_CONTAINER_CREDENTIALS_FULL_URI", NULL };
	static const char *const keys[] = { "aws_access_key_id", "role_arn",
		"web_identity_token_file", "sso_role_name", "sso_account_id",
		"login_session", "credential_process", NULL };
	size_t i;

	for (i = 0; variables[i] != NULL; i++)
		if (aws_config_env(c, variables[i]) != NULL)
			return true;
	for (i = 0; keys[i] != NULL; i++)
		if (aws_config_get(c, aws_config_profile(c), keys[i]) != NULL)
			return true;
	return false;
}
