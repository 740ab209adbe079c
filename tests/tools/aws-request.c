/*
 * Makes one AWS request with our client and prints the answer: for scenarios
 * against stand-ins.
 *
 *	aws-request [-n TIMES] [-p PACE] [-t TRIES] SERVICE OPERATION [JSON]
 *	aws-request … s3 PUT|GET|HEAD|DELETE BUCKET KEY [FILE]
 *	aws-request … s3 LIST BUCKET PREFIX [MOST]
 *	aws-request … sts whoami
 *
 * With -n the request is sent this often at once, "@" in JSON and KEY being the
 * number of the call, and counts of the classes are printed.  Errors go to
 * stderr: "class code sent|unsent clear|unclear: message".
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "tests/support/aws/aws-class.h"
#include "trials/aws/aws-internal.h"
#include "trials/aws/aws.h"

struct asker {
	struct loop *loop;
	struct aws *aws;
	char **args;
	int times, tries, open;
	double pace;
	int counts[AWS_CLASSES], unclear;
	struct buf file;
};

static void
die(const char *text)
{
	(void)fprintf(stderr, "aws-try: %s\n", text);
	exit(2);
}

static void
on_note(void *arg, bool warn, const char *text)
{
	(void)arg;
	(void)fprintf(stderr, "%s: %s\n", warn ? "warning" : "note", text);
}

static void
over(struct asker *k, const struct aws_answer *a)
{
	k->counts[a->what]++;
	k->unclear += a->unclear;
	if (!a->good)
		(void)fprintf(stderr, "%s %s %s %s: %s\n",
		    aws_class_name(a->what), a->code[0] != '\0' ? a->code : "-",
		    a->sent ? "sent" : "unsent",
		    a->unclear ? "unclear" : "clear", a->message);
	if (--k->open == 0)
		loop_stop(k->loop);
}

static void
on_answer(void *arg, const struct aws_answer *a)
{
	struct asker *k = arg;
	struct buf b = { 0 };

	if (a->good && k->times == 0) {
		if (a->json != NULL) {
			json_write(&b, a->json);
			(void)printf("%s\n", buf_str(&b));
		} else
			(void)fwrite(a->body, 1, a->len, stdout);
	}
	buf_free(&b);
	over(k, a);
}

static void
on_list(void *arg, const struct aws_answer *a, const struct aws_s3_object *o,
    size_t n)
{
	struct asker *k = arg;
	size_t i;

	for (i = 0; i < n && k->times == 0; i++)
		(void)printf("%s\t%lld\t%lld\n", o[i].key, (long long)o[i].size,
		    (long long)o[i].modified_s);
	over(k, a);
}

/* The text with the number of the call for each "@". */
static char *
numbered(const char *text, int i)
{
	struct buf b = { 0 };

	for (; *text != '\0'; text++)
		if (*text == '@')
			buf_printf(&b, "%d", i);
		else
			buf_putc(&b, *text);
	buf_puts(&b, "");
	return buf_take(&b);
}

static void
file_read(struct buf *b, const char *path)
{
	FILE *f = fopen(path, "re");
	char piece[65536];
	size_t n;

	if (f == NULL)
		die("cannot read the file");
	while ((n = fread(piece, 1, sizeof piece, f)) > 0)
		buf_add(b, piece, n);
	(void)fclose(f);
}

static void
ask_s3(struct asker *k, int i)
{
	char **args = k->args, *key;
	struct aws_s3_ask ask = { .tries = k->tries };

	if (args[1] == NULL || args[2] == NULL || args[3] == NULL)
		die("s3 METHOD BUCKET KEY");
	if (strcmp(args[1], "LIST") == 0) {
		(void)aws_s3_list(k->aws, args[2], args[3],
		    args[4] != NULL ? strtoul(args[4], NULL, 10) : 0, on_list,
		    k);
		return;
	}
	key = numbered(args[3], i);
	ask.method = args[1];
	ask.bucket = args[2];
	ask.key = key;
	if (args[4] != NULL && k->file.len == 0)
		file_read(&k->file, args[4]);
	ask.body = k->file.data;
	ask.body_len = k->file.len;
	(void)aws_s3(k->aws, &ask, on_answer, k);
	free(key);
}

static void
ask_json(struct asker *k, int i)
{
	static const struct {
		const char *name;
		enum aws_service service;
	} names[] = { { "sagemaker", AWS_SAGEMAKER }, { "logs", AWS_LOGS },
		{ "cloudwatch", AWS_CLOUDWATCH }, { "events", AWS_EVENTS },
		{ "sqs", AWS_SQS } };
	size_t j = 0, n = sizeof names / sizeof names[0];
	char *body = numbered(k->args[2] != NULL ? k->args[2] : "{}", i);
	struct aws_ask ask = {
		.operation = k->args[1], .body = body, .tries = k->tries
	};

	while (j < n && strcmp(names[j].name, k->args[0]) != 0)
		j++;
	if (j == n)
		die("no such service");
	ask.service = names[j].service;
	(void)aws_json(k->aws, &ask, on_answer, k);
	free(body);
}

static void
ask_all(struct asker *k)
{
	int i, n = k->times > 0 ? k->times : 1;

	for (i = 0; i < n; i++) {
		k->open++;
		if (strcmp(k->args[0], "s3") == 0)
			ask_s3(k, i);
		else if (strcmp(k->args[0], "sts") == 0)
			(void)aws_whoami(k->aws, on_answer, k);
		else
			ask_json(k, i);
	}
}

static void
turn(void *arg)
{
	(void)arg;
}

static const char *
env_get(const char *name)
{
	return getenv(name);
}

static void
options(struct asker *k, int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "n:p:t:")) != -1)
		switch (c) {
		case 'n':
			k->times = atoi(optarg);
			break;
		case 'p':
			k->pace = atof(optarg);
			break;
		case 't':
			k->tries = atoi(optarg);
			break;
		default:
			exit(2);
		}
	k->args = argv + optind;
	if (argc - optind < 2)
		die("SERVICE OPERATION [JSON]");
}

static void
counts_print(const struct asker *k)
{
	int what;

	for (what = 0; what < AWS_CLASSES; what++)
		if (k->counts[what] > 0)
			(void)printf(
			    "%s %d\n", aws_class_name(what), k->counts[what]);
	(void)printf("unclear %d\nrequests %lld\n", k->unclear,
	    (long long)k->aws->requests);
}

int
main(int argc, char **argv)
{
	struct asker k = { .pace = 50 };
	struct aws_env env = { .env = env_get, .note = on_note };
	struct err e = ERR_INIT;
	int failed;

	options(&k, argc, argv);
	if (loop_open(&k.loop, LOOP_REAL, &e) != 0)
		die(e.text);
	env.loop = k.loop;
	env.pace = k.pace;
	if (aws_open(&k.aws, &env, &e) != 0)
		die(e.text);
	ask_all(&k);
	loop_run(k.loop, turn, &k);
	if (k.times > 0)
		counts_print(&k);
	failed = k.counts[AWS_OK] == 0;
	aws_close(k.aws);
	loop_close(k.loop);
	buf_free(&k.file);
	return failed;
}
