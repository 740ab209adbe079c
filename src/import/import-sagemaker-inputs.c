/* The channels of a training job as "inputs". */

#include <string.h>

#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/import/import-study.h"

static const struct {
	const char *theirs, *ours;
} words[] = {
	{ "S3Prefix", "prefix" },
	{ "ManifestFile", "manifest" },
	{ "AugmentedManifestFile", "augmented-manifest" },
	{ "FullyReplicated", "replicated" },
	{ "ShardedByS3Key", "sharded" },
	{ "None", "none" },
	{ "Gzip", "gzip" },
};

static const struct {
	const char *theirs, *ours;
} file_system[] = {
	{ "FileSystemId", "id" },
	{ "FileSystemType", "type" },
	{ "DirectoryPath", "path" },
	{ "FileSystemAccessMode", "access" },
};

const char *
import_channel_word(const char *text, bool theirs)
{
	const char *from;
	size_t i;

	for (i = 0; i < sizeof words / sizeof words[0]; i++) {
		from = theirs ? words[i].theirs : words[i].ours;
		if (strcmp(from, text) == 0)
			return theirs ? words[i].ours : words[i].theirs;
	}
	return text;
}

void
import_file_system_put(
    struct converted *to, int depth, const struct json *from, bool theirs)
{
	size_t i;

	for (i = 0; i < sizeof file_system / sizeof file_system[0]; i++)
		converted_copy(to, depth,
		    theirs ? file_system[i].ours : file_system[i].theirs,
		    json_get(from,
			theirs ? file_system[i].theirs : file_system[i].ours));
}

/* A value in AWS's spelling; nothing when it is the study's default. */
static void
import_inputs_word_put(struct import *im, const char *key, const struct json *j,
    const char *by_default)
{
	const char *text = json_string(j);

	if (text != NULL && strcmp(text, by_default) != 0)
		converted_text(
		    &im->to, 4, key, import_channel_word(text, true));
}

static void
import_inputs_s3_put(struct import *im, const struct json *s3)
{
	converted_text(&im->to, 4, "s3", json_string(json_get(s3, "S3Uri")));
	import_inputs_word_put(
	    im, "type", json_get(s3, "S3DataType"), "S3Prefix");
	import_inputs_word_put(im, "distribution",
	    json_get(s3, "S3DataDistributionType"), "FullyReplicated");
	converted_copy(
	    &im->to, 4, "attributes", json_get(s3, "AttributeNames"));
	converted_copy(
	    &im->to, 4, "groups", json_get(s3, "InstanceGroupNames"));
}

/*
 * Whether it is an S3 prefix, replicated to all machines, without other
 * settings.
 */
static bool
is_plain(const struct json *channel, const struct json *s3)
{
	const char *type = json_string(json_get(s3, "S3DataType"));
	const char *way = json_string(json_get(s3, "S3DataDistributionType"));
	const struct json *j;

	if ((type != NULL && strcmp(type, "S3Prefix") != 0) ||
	    (way != NULL && strcmp(way, "FullyReplicated") != 0) ||
	    json_get(s3, "AttributeNames") != NULL ||
	    json_get(s3, "InstanceGroupNames") != NULL)
		return false;
	for (j = json_first(channel); j != NULL; j = json_next(j))
		if (strcmp(json_key(j), "ChannelName") != 0 &&
		    strcmp(json_key(j), "DataSource") != 0 &&
		    (json_string(j) == NULL ||
			strcmp(json_string(j), "None") != 0))
			return false;
	return true;
}

static void
channel_put(struct import *im, const struct json *channel)
{
	const char *name = json_string(json_get(channel, "ChannelName"));
	const struct json *s3 =
	    import_at(channel, "DataSource", "S3DataSource");
	const struct json *fs =
	    import_at(channel, "DataSource", "FileSystemDataSource");

	if (name == NULL || (s3 == NULL && fs == NULL) ||
	    strcmp(name, "hpotune") == 0) {
		buf_printf(im->to.notes,
		    "backend.inputs: the channel %s was left out: %s\n",
		    name != NULL ? name : "without a name",
		    name != NULL && strcmp(name, "hpotune") == 0
			? "the name is hpotune's own"
			: "neither S3 nor a file system");
		return;
	}
	if (strcmp(name, "sm_drivers") == 0) {
		buf_puts(im->to.notes,
		    "trial.launcher: the SDK starts the program by its channel "
		    "sm_drivers, whose distributed.json names Torchrun or MPI, "
		    "and their processes, if any: write \"launcher\": "
		    "\"torchrun\" or \"mpirun\", and \"processes\"; the "
		    "channel "
		    "was left out\n");
		return;
	}
	if (s3 != NULL && is_plain(channel, s3)) {
		converted_text(
		    &im->to, 3, name, json_string(json_get(s3, "S3Uri")));
		return;
	}
	converted_open(&im->to, 3, name, '{');
	if (s3 != NULL)
		import_inputs_s3_put(im, s3);
	else {
		converted_open(&im->to, 4, "file_system", '{');
		import_file_system_put(&im->to, 5, fs, true);
		converted_close(&im->to, 4, '}');
	}
	converted_copy(&im->to, 4, "mode", json_get(channel, "InputMode"));
	converted_copy(
	    &im->to, 4, "content_type", json_get(channel, "ContentType"));
	import_inputs_word_put(
	    im, "compression", json_get(channel, "CompressionType"), "None");
	import_inputs_word_put(im, "record_wrapper",
	    json_get(channel, "RecordWrapperType"), "None");
	converted_copy(&im->to, 4, "shuffle_seed",
	    import_at(channel, "ShuffleConfig", "Seed"));
	converted_close(&im->to, 3, '}');
}

void
import_inputs_put(struct import *im)
{
	const struct json *j = import_at(im->def, "InputDataConfig", NULL);

	if (json_count(j) == 0)
		return;
	converted_open(&im->to, 2, "inputs", '{');
	for (j = json_first(j); j != NULL; j = json_next(j))
		channel_put(im, j);
	converted_close(&im->to, 2, '}');
}
