/*
 * JSON output for requests.  Commas are added where the text so far needs one.
 */

#ifndef HPOTUNE_SM_JSON_PUT_H
#define HPOTUNE_SM_JSON_PUT_H

#include <stdint.h>

#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "trials/sagemaker/request/sm-request.h"

/* Add a comma between elements: none after an opening bracket. */
static inline void
sm_json_put_next(struct buf *b)
{
	char last = b->len > 0 ? b->data[b->len - 1] : '{';

	if (last != '{' && last != '[')
		buf_putc(b, ',');
}

static inline void
sm_json_put_key(struct buf *b, const char *key)
{
	sm_json_put_next(b);
	json_put_string(b, key);
	buf_putc(b, ':');
}

static inline void
sm_json_put_text(struct buf *b, const char *key, const char *text)
{
	sm_json_put_key(b, key);
	json_put_string(b, text);
}

static inline void
sm_json_put_number(struct buf *b, const char *key, int64_t n)
{
	sm_json_put_key(b, key);
	buf_printf(b, "%lld", (long long)n);
}

/* sm-hyperparameters.c: the texts of the request, within AWS's limits. */
int
sm_hyperparameters_put(struct buf *, const struct sm_request *, struct err *);
int sm_hyperparameters_put_env(
    struct buf *, const struct sm_request *, struct err *);
void sm_hyperparameters_put_metrics(struct buf *, const struct sm_request *);

#endif /* HPOTUNE_SM_JSON_PUT_H */
