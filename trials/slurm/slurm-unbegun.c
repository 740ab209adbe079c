/*
 * Jobs that Slurm starts and that end before their supervisor has begun: a
 * folder that nodes do not see, a setup that fails, a node in disorder.  One node
 * that does so is no news; when no job of the study has begun for a while, on
 * several nodes or again and again, no further one is submitted.
 */

#include <stdio.h>
#include <string.h>

#include "src/base/loop.h"
#include "trials/slurm/slurm-internal.h"

enum {
	FEW = 6, /* in a row, on more than one node */
	MANY = 20 /* … on one node, which may be the only one */
};

void
slurm_unbegun_over(struct slurm *s)
{
	s->unbegun.n = 0;
	s->unbegun.node[0] = '\0';
	s->unbegun.several = false;
}

bool
slurm_unbegun_add(
    struct slurm *s, const char *node, const char *why, struct launch_exit *x)
{
	(void)snprintf(s->unbegun.why, sizeof s->unbegun.why, "%s", why);
	s->unbegun.n++;
	if (s->unbegun.node[0] == '\0')
		(void)snprintf(
		    s->unbegun.node, sizeof s->unbegun.node, "%s", node);
	else if (*node != '\0' && strcmp(s->unbegun.node, node) != 0)
		s->unbegun.several = true;
	if (s->unbegun.n < (s->unbegun.several ? FEW : MANY))
		return false;
	x->exit_code = -1;
	x->not_yet = x->refused = true;
	x->started_us = x->ended_us = loop_wall_us(s->loop);
	(void)snprintf(x->why, sizeof x->why,
	    "%d jobs in a row have not begun%s: %.240s", s->unbegun.n,
	    s->unbegun.several ? ", on several nodes" : "", why);
	/* After hpotune resume they are counted anew. */
	slurm_unbegun_over(s);
	return true;
}

bool
slurm_unbegun_everywhere(const struct slurm *s, char *why, size_t n)
{
	if (s->unbegun.n == 0)
		return false;
	(void)snprintf(why, n,
	    "no job has begun on any of the nodes that it may use: %s",
	    s->unbegun.why);
	return true;
}
