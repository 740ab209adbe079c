/* An Experiment of Katib -> the text of a study.json. */

#ifndef HPOTUNE_IMPORT_KATIB_H
#define HPOTUNE_IMPORT_KATIB_H

struct buf;
struct err;
struct json;

/* root: the resource, as YAML or JSON; notes as of import_wandb. */
int import_katib(
    struct buf *out, struct buf *notes, const struct json *root, struct err *);

#endif /* HPOTUNE_IMPORT_KATIB_H */
