/* A short identifier of a study, the same for a copy of its database. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/digest.h"
#include "src/base/mem.h"
#include "src/store/study-id.h"
#include "src/store/store.h"

void
study_id_make(char out[STUDY_ID], const struct store_study *row)
{
	char *text = xasprintf(
	    "%s\n%" PRIu64 "\n%" PRId64, row->name, row->seed, row->created_us);
	char hex[DIGEST_HEX];

	sha256_hex(hex, text, strlen(text));
	(void)snprintf(out, STUDY_ID, "%.*s", STUDY_ID - 1, hex);
	free(text);
}
