/*
 * Test Anything Protocol: ok() prints one line per check, done_testing() the
 * plan, and its value is the exit status of main.
 */

#ifndef HPOTUNE_TAP_H
#define HPOTUNE_TAP_H

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tap_count, tap_failed;

__attribute__((format(printf, 2, 3), unused)) static bool
ok(bool good, const char *fmt, ...)
{
	va_list ap;

	printf("%sok %d - ", good ? "" : "not ", ++tap_count);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
	tap_failed += !good;
	return good;
}

__attribute__((unused)) static bool
is_int(long long got, long long want, const char *what)
{
	bool good = ok(got == want, "%s", what);

	if (!good)
		printf("# got %lld, want %lld\n", got, want);
	return good;
}

__attribute__((unused)) static bool
is_str(const char *got, const char *want, const char *what)
{
	bool same =
	    got == NULL || want == NULL ? got == want : strcmp(got, want) == 0;
	bool good = ok(same, "%s", what);

	if (!good)
		printf("# got \"%s\"\n# want \"%s\"\n",
		    got != NULL ? got : "(null)",
		    want != NULL ? want : "(null)");
	return good;
}

/* Within tol of want, or both NaN, or the same infinity. */
__attribute__((unused)) static bool
is_near(double got, double want, double tol, const char *what)
{
	bool good = ok((isnan(got) && isnan(want)) || got == want ||
			   fabs(got - want) <= tol,
	    "%s", what);

	if (!good)
		printf("# got %.17g, want %.17g\n", got, want);
	return good;
}

__attribute__((unused)) static void
skip(const char *what, const char *why)
{
	printf("ok %d - %s # SKIP %s\n", ++tap_count, what, why);
}

/*
 * How often a test draws at random: many times under ./check --all, which sets
 * TEST_LONG, else so few that what it looks for is still found.
 */
__attribute__((unused)) static int
often(int few, int many)
{
	return getenv("TEST_LONG") != NULL ? many : few;
}

__attribute__((unused)) static int
done_testing(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed > 0;
}

#endif /* HPOTUNE_TAP_H */
