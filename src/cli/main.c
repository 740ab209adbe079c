/* The command line: finds the command in the table and runs it. */

#include <stdio.h>

int
main(void)
{
	puts(PACKAGE_STRING);
	return 0;
}
