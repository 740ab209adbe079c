/* Rows of CSV (RFC 4180), read in place. */

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/import/import-csv-row.h"

char
import_csv_row_separator(const char *text)
{
	static const char all[] = ",;\t";
	size_t i, n = strcspn(text, "\n");

	for (i = 0; all[i] != '\0'; i++)
		if (memchr(text, all[i], n) != NULL)
			return all[i];
	return ',';
}

/* 0,5 becomes 0.5 where fields are separated by something else. */
static void
decimal_point(char *field)
{
	char *comma = strchr(field, ','), *end;

	if (comma == NULL)
		return;
	*comma = '.';
	(void)strtod(field, &end);
	if (end <= comma || *end != '\0')
		*comma = ',';
}

/* One field, unquoted in place; false at the end of its line. */
static bool
field_next(struct import_csv_row *t)
{
	char *from = t->next, *to = from;
	struct import_csv_cell *cell = &t->fields[t->n++];
	bool quoted = *from == '"', more;

	*cell = (struct import_csv_cell){ .text = to, .quoted = quoted };
	if (quoted)
		from++;
	for (; *from != '\0'; from++) {
		if (quoted && *from == '"') {
			if (from[1] != '"') {
				quoted = false;
				continue;
			}
			from++;
		} else if (!quoted && (*from == t->separator || *from == '\n' ||
					  (*from == '\r' && from[1] == '\n')))
			break;
		t->line += *from == '\n';
		*to++ = *from;
	}
	if (*from == '\r')
		from++;
	t->next = *from == '\0' ? from : from + 1;
	t->line += *from == '\n';
	more = *from == t->separator;
	*to = '\0';
	if (t->separator != ',' && !cell->quoted)
		decimal_point(cell->text);
	return more;
}

bool
import_csv_row_next(struct import_csv_row *t)
{
	t->n = 0;
	if (*t->next == '\0')
		return false;
	while (t->n < IMPORT_CSV_COLUMNS && field_next(t))
		;
	return true;
}
