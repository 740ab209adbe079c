/*
 * Parses credentials: JSON objects, times, valid characters, files of tokens.
 * Input is untrusted: it ends up in headers of requests.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/base/file.h"
#include "src/base/json/json.h"
#include "trials/aws/credentials/cred-internal.h"

void
cred_keys_wipe(char *s)
{
	if (s != NULL)
		explicit_bzero(s, strlen(s));
	free(s);
}

void
cred_keys_fini(struct cred_keys *f)
{
	aws_sigv4_keys_fini(&f->keys);
	f->expiry_s = 0;
}

void
cred_keys_set(
    struct cred_keys *f, const char *id, const char *secret, const char *token)
{
	struct cred_keys new = { 0 };

	new.keys.id = xstrdup(id);
	new.keys.secret = xstrdup(secret);
	if (token != NULL && *token != '\0')
		new.keys.token = xstrdup(token);
	cred_keys_fini(f);
	*f = new;
}

int
cred_keys_read(struct cred_keys *f, const struct json *o,
    const char *token_name, const char *what, struct err *e)
{
	const char *id = json_string(json_get(o, "AccessKeyId"));
	const char *secret = json_string(json_get(o, "SecretAccessKey"));
	const char *token = json_string(json_get(o, token_name));
	const char *expires = json_string(json_get(o, "Expiration"));
	int64_t expiry_s = 0;

	if (id == NULL || *id == '\0' || secret == NULL || *secret == '\0')
		return err_set(
		    e, ERR_REMOTE, "the answer of %s has no keys", what);
	if (expires != NULL && !cred_keys_time(expires, &expiry_s))
		return err_set(e, ERR_REMOTE,
		    "the Expiration in the answer of %s is no time", what);
	cred_keys_set(f, id, secret, token);
	f->expiry_s = expiry_s;
	return 0;
}

/* "Z", "+01:00", "-0130": seconds east of Greenwich. */
static bool
zone(const char *s, int64_t *east_s)
{
	int hours, minutes, n = 0;
	bool west = *s == '-';

	*east_s = 0;
	if ((*s == 'Z' || *s == 'z') && s[1] == '\0')
		return true;
	if (*s != '+' && !west)
		return false;
	s++;
	if ((sscanf(s, "%2d:%2d%n", &hours, &minutes, &n) != 2 || n != 5) &&
	    (sscanf(s, "%2d%2d%n", &hours, &minutes, &n) != 2 || n != 4))
		return false;
	*east_s = (hours * 60 + minutes) * 60 * (west ? -1 : 1);
	return s[n] == '\0';
}

bool
cred_keys_time(const char *s, int64_t *out)
{
	struct tm tm;
	int64_t east_s;
	int n = 0;

	memset(&tm, 0, sizeof tm);
	if (sscanf(s, "%4d-%2d-%2d%*1[Tt ]%2d:%2d:%2d%n", &tm.tm_year,
		&tm.tm_mon, &tm.tm_mday, &tm.tm_hour, &tm.tm_min, &tm.tm_sec,
		&n) != 6 ||
	    n != 19)
		return false;
	s += n;
	if (*s == '.')
		s += 1 + strspn(s + 1, "0123456789");
	if (!zone(s, &east_s))
		return false;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	*out = (int64_t)timegm(&tm) - east_s;
	return true;
}

enum { TOKEN_BYTES_MAX = 1 << 16 };

int
cred_keys_token_file(char **out, const char *path, struct err *e)
{
	int fd = file_open_user(path);
	char *text = xcalloc(1, TOKEN_BYTES_MAX + 1);
	size_t n = 0, from;
	ssize_t k = 1;

	while (fd >= 0 && k > 0 && n < TOKEN_BYTES_MAX) {
		k = read(fd, text + n, TOKEN_BYTES_MAX - n);
		n += k > 0 ? (size_t)k : 0;
	}
	if (fd < 0 || k < 0) {
		err_set(e, ERR_FILE, "%s: %s", path, file_why(errno));
		if (fd >= 0)
			close(fd);
		cred_keys_wipe(text);
		return -1;
	}
	close(fd);
	while (n > 0 && strchr(" \t\r\n", text[n - 1]) != NULL)
		text[--n] = '\0';
	from = strspn(text, " \t\r\n");
	*out = xstrdup(text + from);
	cred_keys_wipe(text);
	return 0;
}
