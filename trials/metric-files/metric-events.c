/* Records of a TensorBoard event file. */

#include "src/base/tfevents.h"
#include "trials/metric-files/metric-files-internal.h"

struct reading {
	struct metric_files *m;
	struct metric_file *f;
};

/* An event from before the attempt was written by an earlier one. */
static void
on_scalar(void *arg, const struct tfevents_scalar *s)
{
	const struct reading *r = arg;

	if (s->time_us != 0 && s->time_us < r->m->since_us)
		return;
	metric_files_report(
	    r->m, r->f, s->tag, s->tag_len, s->step, s->value, s->time_us);
}

/*
 * A record with a wrong checksum may be half written on a shared file system:
 * only after the end of the trial it is passed over.
 */
size_t
metric_events_read(struct metric_files *m, struct metric_file *f,
    const char *bytes, size_t n, bool final, uint64_t *need)
{
	struct reading r = { m, f };
	struct tfevents_record record;
	size_t at = 0;

	for (;;) {
		switch (tfevents_record_read(&record, bytes + at, n - at)) {
		case TFEVENTS_RECORD:
			(void)tfevents_scalars(
			    record.data, record.len, on_scalar, &r);
			break;
		case TFEVENTS_SHORT:
			*need = record.size;
			return at;
		case TFEVENTS_BAD_DATA:
			if (!final)
				return at;
			metric_files_note(m, f, "a damaged record was skipped");
			break;
		case TFEVENTS_BAD_LENGTH:
			if (final)
				metric_files_note(m, f,
				    "it is damaged: the rest of it is not "
				    "read");
			f->over = final;
			return at;
		}
		at += (size_t)record.size;
	}
}
