/* Reads options of stopping rules by their names. */

#include "strategies/stop/stop-options.h"

double
stop_number(const struct stop_reader *r, const char *name)
{
	return option_get(r->table, r->values, name)->number;
}

const char *
stop_text(const struct stop_reader *r, const char *name)
{
	return option_get(r->table, r->values, name)->text;
}

int64_t
stop_count(const struct stop_reader *r, const char *name)
{
	double x = stop_number(r, name);

	return x < 9e18 ? (int64_t)x : INT64_MAX;
}
