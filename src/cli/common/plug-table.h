/* Plug-ins as a list: names, what they do, and their options. */

#ifndef HPOTUNE_PLUG_TABLE_H
#define HPOTUNE_PLUG_TABLE_H

#include <stddef.h>

struct cli;
struct option;

/* What strategies and rules have in common; all is borrowed. */
struct plug_row {
	const char *name, *about;
	const char *source; /* a paper, or NULL */
	const struct option *options;
};

enum { PLUG_ROWS = 64 }; /* at most */

/*
 * Print n of them, or the one that the operand names; as JSON where it is asked
 * for.  Changes the order of the rows.  Returns the exit status.
 */
int plug_table_print(const struct cli *, struct plug_row *, size_t n);

#endif /* HPOTUNE_PLUG_TABLE_H */
