/*
 * Refusals that the owner of the account has to fix: a missing permission, a
 * missing bucket, a role that SageMaker cannot assume.  Maps AWS's message to
 * one clause.  No I/O.
 */

#include <stdio.h>
#include <string.h>

#include "trials/sagemaker/sm-internal.h"

/* The word after this one, up to a blank; "" = none. */
static void
word_after(char *out, size_t n, const char *text, const char *mark)
{
	const char *at = strcasestr(text, mark);
	size_t len = 0;

	*out = '\0';
	if (at == NULL)
		return;
	at += strlen(mark);
	len = strcspn(at, " \t\r\n\"'");
	/* The end of a sentence is not part of a name. */
	while (len > 0 && strchr(".,;:", at[len - 1]) != NULL)
		len--;
	if (len >= n)
		len = n - 1;
	memcpy(out, at, len);
	out[len] = '\0';
}

static bool
says(const char *message, const char *what)
{
	return strcasestr(message, what) != NULL;
}

/* A role that is missing, or that does not trust SageMaker. */
static bool
is_role(const char *message)
{
	return (says(message, "assume") && says(message, "role")) ||
	       (says(message, "rolearn") && says(message, "invalid"));
}

/* Objects or a bucket that the role cannot read. */
static bool
is_place(const char *code, const char *message)
{
	return strcmp(code, "NoSuchBucket") == 0 ||
	       says(message, "NoSuchBucket") ||
	       says(message, "No S3 objects found") ||
	       (says(message, "bucket") && says(message, "does not exist"));
}

static bool
is_region(const char *code)
{
	return strcmp(code, "PermanentRedirect") == 0 ||
	       strcmp(code, "AuthorizationHeaderMalformed") == 0 ||
	       strcmp(code, "IllegalLocationConstraintException") == 0;
}

static bool
is_denied(const char *code, const char *message)
{
	return strncmp(code, "AccessDenied", 12) == 0 ||
	       says(message, "AccessDenied") ||
	       says(message, "Access Denied") ||
	       says(message, "not authorized to perform") ||
	       says(message, "permission");
}

static void
denied_why(
    char *why, size_t n, const struct sm_settings *set, const char *message)
{
	char action[80], user[140], on[140];

	word_after(action, sizeof action, message, "authorized to perform: ");
	word_after(user, sizeof user, message, "User: ");
	word_after(on, sizeof on, message, "on resource: ");
	if (*action == '\0')
		(void)snprintf(why, n,
		    "AWS denies access to the bucket %s: allow it in the "
		    "policy of the user that runs the study%s "
		    "(hpotune-sagemaker(7))",
		    set->bucket,
		    set->kms_key == NULL ? ", or name the key that the bucket "
					   "asks for as \"kms_key\""
					 : "");
	else
		(void)snprintf(why, n,
		    "AWS denies %s%s%s%s%s: allow it in the policy of the user "
		    "that runs the study (hpotune-sagemaker(7))",
		    action, *user != '\0' ? " to " : "", user,
		    strcmp(action, "iam:PassRole") == 0 ? " for " : "",
		    strcmp(action, "iam:PassRole") == 0 ? on : "");
}

static void
place_why(
    char *why, size_t n, const struct sm_settings *set, const char *message)
{
	char uri[160];

	word_after(uri, sizeof uri, message, "S3 URL \"");
	if (*uri != '\0')
		(void)snprintf(why, n,
		    "SageMaker finds nothing at %s: put the data there, or "
		    "let the role %s read it",
		    uri, set->role);
	else
		(void)snprintf(why, n,
		    "the bucket %s does not exist: create it, or name another "
		    "one in \"s3\" of the backend and start again",
		    set->bucket);
}

bool
sm_owner_errors_why(char *why, size_t n, const struct sm_settings *set,
    const char *code, const char *message)
{
	if (is_place(code, message))
		place_why(why, n, set, message);
	else if (is_role(message) && !says(message, "authorized to perform"))
		(void)snprintf(why, n,
		    "SageMaker cannot assume the role %s: let it trust "
		    "sagemaker.amazonaws.com, or name another one in \"role\" "
		    "of the backend and start again",
		    set->role);
	else if (is_region(code))
		(void)snprintf(why, n,
		    "the bucket %s is in another region: name one of the "
		    "study's region in \"s3\" of the backend and start again",
		    set->bucket);
	else if (*code == '\0' && is_denied(code, message))
		(void)snprintf(why, n,
		    "the role %s may not do what the job needs (%.120s): "
		    "allow it in its policy",
		    set->role, message);
	else if (is_denied(code, message) && *code != '\0' &&
		 strcmp(code, "ValidationException") != 0)
		denied_why(why, n, set, message);
	else
		return false;
	return true;
}
