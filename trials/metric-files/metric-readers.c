/* The table of formats that metrics are read from. */

#include <string.h>

#include "trials/metric-files/metric-files-internal.h"

static const struct metric_reader *const readers[] = {
	&metric_events,
	&metric_csv,
	&metric_jsonl,
	&metric_trainer_state,
	&metric_text,
};
enum { READERS = sizeof readers / sizeof readers[0] };

_Static_assert(sizeof readers / sizeof readers[0] <= METRIC_READERS_MAX,
    "room for their words");

void
metric_reader_words(const char *out[METRIC_READERS_MAX + 1])
{
	size_t i;

	for (i = 0; i < READERS; i++)
		out[i] = readers[i]->word;
	out[READERS] = NULL;
}

const struct metric_reader *
metric_reader_find(const char *word)
{
	size_t i;

	for (i = 0; i < READERS; i++)
		if (strcmp(readers[i]->word, word) == 0)
			return readers[i];
	return NULL;
}
