/* What hpotune doctor finds, printed as a table or as JSON. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/json-writer.h"
#include "src/base/mem.h"
#include "src/cli/check/doctor.h"
#include "src/view/table.h"

bool
doctor_line(const char *path, char *buf, size_t n)
{
	FILE *f = fopen(path, "re");
	bool good;

	if (f == NULL)
		return false;
	good = fgets(buf, (int)n, f) != NULL;
	(void)fclose(f);
	if (good)
		buf[strcspn(buf, "\n")] = '\0';
	return good;
}

int64_t
doctor_number(const char *path)
{
	char line[64], *end;
	long long value;

	if (!doctor_line(path, line, sizeof line))
		return -1;
	value = strtoll(line, &end, 10);
	return end == line ? -1 : value;
}

void
doctor_add(struct doctor *d, enum finding finding, const char *what,
    const char *found, const char *mend, const char *more)
{
	static const char *const names[] = { "ok", "warning", "bad" };
	static const enum table_tint tints[] = { TABLE_GOOD, TABLE_PLAIN,
		TABLE_BAD };

	table_cell(d->table, names[finding], tints[finding]);
	table_cell(d->table, what, TABLE_PLAIN);
	table_cell(d->table, found, TABLE_PLAIN);
	table_cell(d->table, finding == FINDING_OK ? "" : mend, TABLE_PLAIN);
	json_writer_line(&d->json);
	json_writer_object(&d->json, NULL);
	json_writer_text(&d->json, "finding", names[finding]);
	json_writer_text(&d->json, "what", what);
	json_writer_text(&d->json, "found", found);
	json_writer_text(&d->json, "mend", finding == FINDING_OK ? "" : mend);
	if (more[0] != '\0')
		json_writer_raw(&d->json, NULL, more);
	json_writer_end(&d->json);
	if ((int)finding > d->worst)
		d->worst = (int)finding;
}
