/* An experiment of NNI -> the text of a study.json. */

#ifndef HPOTUNE_IMPORT_NNI_H
#define HPOTUNE_IMPORT_NNI_H

struct buf;
struct err;
struct json;

/*
 * The file of the search space that a configuration names, relative to its own
 * folder; NULL: it has the space itself, or is one.
 */
const char *import_nni_space_file(const struct json *config);
/*
 * config: config.yml, or the search space alone; space: that of its file, or
 * NULL.  notes: a line each on what has no equivalent, or was chosen.
 */
int import_nni(struct buf *out, struct buf *notes, const struct json *config,
    const struct json *space, struct err *);

#endif /* HPOTUNE_IMPORT_NNI_H */
