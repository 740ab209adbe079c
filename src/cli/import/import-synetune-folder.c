/* The folder of an experiment of Syne Tune. */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/gz/gz.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/cli/import/import-synetune-folder.h"
#include "src/import/import-results.h"

enum { TABLE_MOST = 1 << 28 };

/* results.csv.zip as Syne Tune writes it, or results.csv unpacked. */
static int
table_read(struct buf *table, const char *folder, struct err *e)
{
	char *packed = xasprintf("%s/results.csv.zip", folder);
	char *plain = xasprintf("%s/results.csv", folder);
	char *text = NULL;
	size_t len;
	int rc;

	if (access(packed, F_OK) == 0) {
		rc = gz_load(&text, &len, packed, TABLE_MOST, e);
		if (rc == 0)
			rc = gz_zip_first(
			    table, text, len, TABLE_MOST, packed, e);
		free(text);
	} else
		rc = json_load_text(table, plain, e);
	buf_putc(table, '\n');
	free(packed);
	free(plain);
	return rc;
}

/* The metric of the metadata: the first of several. */
static int
objective_read(struct import_results *from, const struct json *meta,
    const char *folder, struct buf *notes, struct err *e)
{
	const struct json *names = json_get(meta, "metric_names");
	const struct json *mode = json_get(meta, "metric_mode");
	const char *text;

	if (json_type(mode) == JSON_ARRAY)
		mode = json_first(mode);
	text = json_string(mode);
	from->maximize = text != NULL && strcmp(text, "max") == 0;
	if (from->metric == NULL)
		from->metric = json_string(json_first(names));
	if (from->metric == NULL)
		return err_set(e, ERR_USAGE,
		    "%s: metadata.json has no metric_names: give --metric",
		    folder);
	if (json_count(names) > 1)
		buf_printf(notes,
		    "objective: %s alone, of several metrics of the "
		    "scheduler\n",
		    from->metric);
	return 0;
}

/* The space is JSON in a text of the metadata. */
static int
synetune_space_read(
    struct import_synetune_folder *f, const char *folder, struct err *e)
{
	const char *text =
	    json_string(json_get(json_root(f->meta), "config_space"));
	struct buf domains = { 0 };
	int rc;

	if (text == NULL)
		return 0;
	rc = json_parse(&f->space, text, strlen(text), folder, false, e);
	if (rc == 0) {
		import_synetune_domains(&domains, json_root(f->space));
		rc = json_parse(&f->domains, buf_str(&domains), domains.len,
		    folder, false, e);
	}
	buf_free(&domains);
	return rc;
}

int
import_synetune_folder_read(struct import_synetune_folder *f, struct buf *notes,
    struct import_results *from, const char *folder, struct err *e)
{
	char *meta = xasprintf("%s/metadata.json", folder);
	int rc;

	memset(f, 0, sizeof *f);
	rc = json_load(&f->meta, meta, e);
	if (rc == 0)
		rc = objective_read(from, json_root(f->meta), folder, notes, e);
	if (rc == 0)
		rc = synetune_space_read(f, folder, e);
	if (rc == 0)
		rc = table_read(&f->table, folder, e);
	if (rc == 0)
		rc = import_synetune(&f->list, notes, from, json_root(f->meta),
		    f->space != NULL ? json_root(f->space) : NULL,
		    f->table.data, folder, e);
	if (rc == 0 && f->domains != NULL)
		from->domains = json_root(f->domains);
	free(meta);
	return rc;
}

void
import_synetune_folder_free(struct import_synetune_folder *f)
{
	json_free(f->meta);
	json_free(f->space);
	json_free(f->domains);
	buf_free(&f->table);
	buf_free(&f->list);
}
