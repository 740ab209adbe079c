/*
 * Commits of a repository: found, compared, and made without its checkout: the
 * tree of a new one comes from an index of our own.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/file.h"
#include "src/base/git/git.h"
#include "src/base/mem.h"
#include "src/base/text.h"

/* Run it for a word, which is the first line of its output. */
static int
git_word(const struct git_call *call, struct buf *word, struct err *e)
{
	char *end;

	if (git_run(call, word, e) != 0)
		return -1;
	end = strchr(buf_str(word), '\n');
	if (end != NULL) {
		word->len = (size_t)(end - word->data);
		*end = '\0';
	}
	return 0;
}

/* The same for the hash of a tree or a commit. */
static int
git_word_hash(const struct git_call *call, char hash[GIT_HASH], struct err *e)
{
	struct buf word = { 0 };
	int rc = git_word(call, &word, e);

	if (rc == 0 &&
	    (word.len < 40 || word.len >= GIT_HASH ||
		strspn(buf_str(&word), "0123456789abcdef") != word.len))
		rc = err_set(e, ERR_FILE, "git %s gives no hash: %.80s",
		    call->args[0], buf_str(&word));
	if (rc == 0)
		memcpy(hash, buf_str(&word), word.len + 1);
	buf_free(&word);
	return rc;
}

int
git_commit_find(
    char hash[GIT_HASH], const char *dir, const char *revision, struct err *e)
{
	char *name = xasprintf("%s^{commit}", revision);
	const char *const args[] = { "rev-parse", "--verify", name, NULL };
	int rc;

	if (*revision == '-' || *revision == '\0')
		rc = err_set(e, ERR_USAGE, "\"%s\" is no commit", revision);
	else
		rc = git_word_hash(
		    &(struct git_call){ .dir = dir, .args = args }, hash, e);
	free(name);
	return rc;
}

int
git_commit_dirty(bool *dirty, const char *dir, const char *hash, struct err *e)
{
	static const char *const bare[] = { "rev-parse",
		"--is-inside-work-tree", NULL };
	static const char *const status[] = { "status", "--porcelain",
		"--untracked-files=no", "--ignore-submodules=none", NULL };
	struct git_call call = { .dir = dir, .args = bare };
	struct buf out = { 0 };
	char head[GIT_HASH];
	int rc;

	*dirty = false;
	rc = git_word(&call, &out, e);
	if (rc != 0 || strcmp(buf_str(&out), "true") != 0 ||
	    git_commit_find(head, dir, "HEAD", NULL) != 0 ||
	    strcmp(head, hash) != 0) {
		buf_free(&out);
		return rc;
	}
	buf_clear(&out);
	call.args = status;
	rc = git_run(&call, &out, e) == 0 ? 0 : -1;
	*dirty = rc == 0 && out.len > 0;
	buf_free(&out);
	return rc;
}

/* The time of a commit, for one that is made of it. */
static int
git_commit_date(
    struct buf *date, const char *dir, const char *hash, struct err *e)
{
	const char *const args[] = { "show", "-s", "--format=%ct +0000", hash,
		NULL };

	return git_word(
	    &(struct git_call){ .dir = dir, .args = args }, date, e);
}

/* A commit of what the index has, over a parent whose time it takes. */
static int
git_commit_tree(char hash[GIT_HASH], const char *dir, const char *index,
    const char *parent, const char *message, struct err *e)
{
	static const char *const write[] = { "write-tree", NULL };
	char tree[GIT_HASH];
	const char *const args[] = { "commit-tree", tree, "-p", parent, "-m",
		message, NULL };
	struct git_call call = { .dir = dir, .args = write, .index = index };
	struct buf date = { 0 };
	char *author, *committer;
	int rc = git_word_hash(&call, tree, e);

	if (rc == 0)
		rc = git_commit_date(&date, dir, parent, e);
	author = xasprintf("GIT_AUTHOR_DATE=%s", buf_str(&date));
	committer = xasprintf("GIT_COMMITTER_DATE=%s", buf_str(&date));
	if (rc == 0) {
		const char *const env[] = { "GIT_AUTHOR_NAME=hpotune",
			"GIT_AUTHOR_EMAIL=hpotune@localhost",
			"GIT_COMMITTER_NAME=hpotune",
			"GIT_COMMITTER_EMAIL=hpotune@localhost", author,
			committer, NULL };

		call.args = args;
		call.env = env;
		rc = git_word_hash(&call, hash, e);
	}
	free(author);
	free(committer);
	buf_free(&date);
	return rc;
}

/* A copy of the user's index: what is staged, and what is known of the files. */
static int
git_index_copy(const char *dir, const char *to, struct err *e)
{
	static const char *const args[] = { "rev-parse",
		"--path-format=absolute", "--git-path", "index", NULL };
	struct buf from = { 0 };
	char piece[65536];
	int in = -1, out = -1, rc;
	ssize_t n = 0;

	rc = git_word(&(struct git_call){ .dir = dir, .args = args }, &from, e);
	if (rc == 0) {
		in = file_open(AT_FDCWD, buf_str(&from));
		out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (in == -1 || out == -1)
			rc = err_set(e, ERR_FILE, "%s: %s",
			    in == -1 ? buf_str(&from) : to, strerror(errno));
	}
	while (rc == 0 && (n = read(in, piece, sizeof piece)) != 0)
		if (n < 0 || write(out, piece, (size_t)n) != n)
			rc =
			    err_set(e, ERR_FILE, "%s: %s", to, strerror(errno));
	if (in != -1)
		(void)close(in);
	if (out != -1)
		(void)close(out);
	buf_free(&from);
	return rc;
}

int
git_commit_record(
    char hash[GIT_HASH], const char *dir, const char *tmp, struct err *e)
{
	static const char *const top[] = { "rev-parse", "--show-toplevel",
		NULL };
	static const char *const add[] = { "add", "-u", NULL };
	struct git_call call = { .dir = dir, .args = top };
	char head[GIT_HASH];
	struct buf root = { 0 };
	int rc = git_word(&call, &root, e);

	if (rc == 0)
		rc = git_commit_find(head, dir, "HEAD", e);
	if (rc == 0)
		rc = git_index_copy(dir, tmp, e);
	if (rc == 0) {
		call = (struct git_call){
			.dir = buf_str(&root), .args = add, .index = tmp
		};
		rc = git_run(&call, NULL, e) == 0 ? 0 : -1;
	}
	if (rc == 0)
		rc = git_commit_tree(
		    hash, dir, tmp, head, "uncommitted changes", e);
	(void)unlink(tmp);
	buf_free(&root);
	return rc;
}

int
git_commit_patch(char hash[GIT_HASH], const char *dir, const char *base,
    const char *patch, const char *tmp, struct err *e)
{
	const char *const read_tree[] = { "read-tree", base, NULL };
	char *path = realpath(patch, NULL);
	const char *const apply[] = { "apply", "--cached",
		"--whitespace=nowarn", path, NULL };
	static const char *const top[] = { "rev-parse", "--show-cdup", NULL };
	struct git_call call = { .dir = dir, .args = read_tree, .index = tmp };
	struct buf up = { 0 };
	char *root = NULL;
	int rc = 0;

	if (path == NULL)
		return err_set(e, ERR_FILE, "%s: %s", patch, strerror(errno));
	/* In a folder below git would leave out what is not below it. */
	if (git_word(
		&(struct git_call){ .dir = dir, .args = top }, &up, NULL) != 0)
		buf_clear(&up);
	root = xasprintf("%s/%s", dir, buf_str(&up));
	call.dir = root;
	if (git_run(&call, NULL, e) != 0)
		rc = -1;
	call.args = apply;
	if (rc == 0 && git_run(&call, NULL, e) != 0)
		rc = err_add(
		    e, "%s does not apply to commit %.12s", patch, base);
	if (rc == 0)
		rc = git_commit_tree(hash, root, tmp, base, "a patch", e);
	(void)unlink(tmp);
	buf_free(&up);
	free(root);
	free(path);
	return rc;
}

int
git_commit_diff(struct buf *out, const char *dir, const char *from,
    const char *to, size_t most, struct err *e)
{
	const char *const args[] = { "diff", "--no-color", "--no-ext-diff",
		"--no-textconv", "-M", from, to, "--", NULL };
	struct buf text = { 0 };
	size_t n;
	int rc;

	rc = git_run(
	    &(struct git_call){ .dir = dir, .args = args, .most = most + 1 },
	    &text, e);
	n = text.len;
	if (n > most)
		for (n = most; n > 0 && text.data[n - 1] != '\n'; n--)
			continue;
	if (rc == 0) {
		text_put_harmless(out, buf_str(&text), n, TEXT_LINES);
		if (n < text.len)
			buf_printf(
			    out, "... cut: git diff %.12s %.12s\n", from, to);
	}
	buf_free(&text);
	return rc == 0 ? 0 : -1;
}
