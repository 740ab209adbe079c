/* Refs that keep commits from being deleted by git: REFS/HASH. */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/git/git.h"
#include "src/base/mem.h"

bool
git_ref_exists(const char *dir, const char *refs, const char *hash)
{
	char *ref = xasprintf("%s/%s", refs, hash);
	const char *const args[] = { "show-ref", "--verify", "--quiet", ref,
		NULL };
	struct err e = ERR_INIT;
	int status =
	    git_run(&(struct git_call){ .dir = dir, .args = args }, NULL, &e);

	free(ref);
	return status == 0;
}

int
git_ref_keep(const char *dir, const char *refs, const char *hash, struct err *e)
{
	char *ref = xasprintf("%s/%s", refs, hash);
	const char *const args[] = { "update-ref", ref, hash, NULL };
	int status =
	    git_run(&(struct git_call){ .dir = dir, .args = args }, NULL, e);

	free(ref);
	return status == 0 ? 0 : -1;
}

static int
git_ref_delete(const char *dir, const char *ref, struct err *e)
{
	const char *const args[] = { "update-ref", "-d", ref, NULL };

	return git_run(
		   &(struct git_call){ .dir = dir, .args = args }, NULL, e) == 0
		   ? 0
		   : -1;
}

int
git_ref_drop(const char *dir, const char *refs, const char *hash, struct err *e)
{
	char *ref = xasprintf("%s/%s", refs, hash);
	int rc = git_ref_delete(dir, ref, e);

	free(ref);
	return rc;
}

/* Delete all refs, and before, where to is not NULL, make them below that. */
static int
git_ref_each(const char *dir, const char *refs, const char *to, struct err *e)
{
	char *below = xasprintf("%s/", refs);
	const char *const args[] = { "for-each-ref", "--format=%(refname)",
		below, NULL };
	struct git_call call = { .dir = dir, .args = args, .most = 64 << 20 };
	struct buf out = { 0 };
	char *ref, *next;
	int rc, n = 0;

	rc = git_run(&call, &out, e);
	ref = rc == 0 && out.len > 0 ? out.data : NULL;
	for (; ref != NULL && *ref != '\0' && rc == 0; ref = next) {
		next = strchr(ref, '\n');
		if (next != NULL)
			*next++ = '\0';
		if (to != NULL)
			rc = git_ref_keep(dir, to, strrchr(ref, '/') + 1, e);
		if (rc == 0)
			rc = git_ref_delete(dir, ref, e);
		n++;
	}
	buf_free(&out);
	free(below);
	return rc == 0 ? n : -1;
}

int
git_ref_drop_all(const char *dir, const char *refs, struct err *e)
{
	return git_ref_each(dir, refs, NULL, e);
}

int
git_ref_move_all(
    const char *dir, const char *refs, const char *to, struct err *e)
{
	return git_ref_each(dir, refs, to, e);
}
