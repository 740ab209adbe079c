/*
 * The region of the instance, if none is configured; before the main loop, on a
 * loop of its own.
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
cred_region_on_turn(void *arg)
{
	struct asking *a = arg;

	if (a->over)
		loop_stop(a->loop);
}

static int
region_search(
    struct asking *a, struct http *http, struct aws_config *c, struct err *e)
{
	struct cred_chain *f =
	    cred_chain_new(a->loop, http, c, CRED_PLACE_REGION, 0, on_asked, a);
	int rc = 0;

	loop_run(a->loop, cred_region_on_turn, a);
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

int
cred_region_ask(struct aws_config *c, struct err *e)
{
	struct asking a = { 0 };
	struct http *http;
	int rc;

	if (aws_config_region(c) != NULL)
		return 0;
	if (loop_open(&a.loop, LOOP_REAL, e) != 0)
		return -1;
	rc = http_open(&http, a.loop, NULL, e);
	if (rc == 0) {
		rc = region_search(&a, http, c, e);
		http_close(http);
	}
	loop_close(a.loop);
	return rc;
}
