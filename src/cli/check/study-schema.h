/* The JSON Schema of study.json, for editors. */

#ifndef HPOTUNE_STUDY_SCHEMA_H
#define HPOTUNE_STUDY_SCHEMA_H

struct buf;

/*
 * Append the schema (draft 2020-12): schema/study-schema.json, with strategies,
 * rules and backends from the tables of their options.
 */
void study_schema_put(struct buf *);

#endif /* HPOTUNE_STUDY_SCHEMA_H */
