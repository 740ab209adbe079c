/*
 * trainer_state.json of transformers.Trainer, whose member log_history has all
 * reports: [{"epoch": 1.0, "loss": 0.5, "step": 10}, …].  Python writes NaN in
 * it, so it is no JSON.
 */

#include <string.h>

#include "src/model/study/study.h"
#include "trials/metric-files/metric-files-internal.h"
#include "trials/metric-line/metric-piece.h"

static bool
metric_trainer_state_fits(const char *name)
{
	return strcmp(name, "trainer_state.json") == 0;
}

/* The list of the member log_history of the outer object, or NULL. */
static const char *
metric_trainer_state_list(const char *p, const char *end)
{
	static const char key[] = "\"log_history\"";
	const char *name, *after;
	size_t n;

	p = metric_piece_next(p, end);
	if (p == end || *p++ != '{')
		return NULL;
	for (;;) {
		name = metric_piece_next(p, end);
		if (name == end || *name != '"' ||
		    (after = metric_piece_text(name, end, NULL)) == NULL)
			return NULL;
		n = (size_t)(after - name);
		p = metric_piece_next(after, end);
		if (p == end || *p++ != ':')
			return NULL;
		p = metric_piece_next(p, end);
		after = metric_piece_end(p, end);
		if (after == NULL || after == p)
			return NULL;
		if (n == sizeof key - 1 && memcmp(name, key, n) == 0)
			return *p == '[' ? p : NULL;
		p = after;
	}
}

static void
metric_trainer_state_entry(struct metric_file *f, const char *p, size_t n)
{
	const struct metric_line *r = metric_files_json(f, p, n);
	size_t i;

	for (i = 0; r != NULL && r->has_step && i < r->n; i++)
		metric_files_report(
		    f, r->values[i].name, r->step, r->values[i].value, 0);
}

static size_t
metric_trainer_state_read(
    struct metric_file *f, const char *bytes, size_t n, bool final)
{
	const char *end = bytes + n, *p, *to;

	(void) final;
	p = metric_trainer_state_list(bytes, end);
	if (p == NULL)
		return 0;
	/* Each state has the whole history. */
	f->again = true;
	for (p++;; p = to) {
		p = metric_piece_next(p, end);
		if (p == end || *p == ']')
			return n;
		to = metric_piece_end(p, end);
		if (to == NULL || to == p)
			return n;
		if (*p == '{')
			metric_trainer_state_entry(f, p, (size_t)(to - p));
	}
}

const struct metric_reader metric_trainer_state = {
	.word = "trainer_state",
	.is_whole = true,
	.has_objects = true,
	.fits = metric_trainer_state_fits,
	.read = metric_trainer_state_read,
};
