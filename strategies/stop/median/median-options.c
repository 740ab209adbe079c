/* Reads the common options of the median family. */

#include "strategies/stop/median/median-options.h"

void
median_options_guards(
    struct median_rule *rule, const struct stop_options_reader *r)
{
	rule->guard = stop_options_number(r, "guard") != 0;
	rule->diverged_after = stop_options_count(r, "diverged_after");
}
