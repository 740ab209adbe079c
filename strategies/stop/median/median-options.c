/* Reads the options that all rules of the median family have. */

#include "strategies/stop/median/median-options.h"

void
median_options_guards(struct median_rule *rule, const struct stop_reader *r)
{
	rule->guard = stop_number(r, "guard") != 0;
	rule->diverged_after = stop_count(r, "diverged_after");
}
