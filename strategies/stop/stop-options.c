/* Reads options of stopping rules by their names. */

#include "strategies/stop/stop-options.h"

double
stop_options_number(const struct stop_options_reader *r, const char *name)
{
	return plugin_option_get(r->table, r->values, name)->number;
}

const char *
stop_options_text(const struct stop_options_reader *r, const char *name)
{
	return plugin_option_get(r->table, r->values, name)->text;
}

int64_t
stop_options_count(const struct stop_options_reader *r, const char *name)
{
	double x = stop_options_number(r, name);

	return x < 9e18 ? (int64_t)x : INT64_MAX;
}
