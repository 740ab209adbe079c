/* What the form of a button asks for: a command, or a file of the list. */

#ifndef HPOTUNE_WEB_FORM_H
#define HPOTUNE_WEB_FORM_H

struct buf;
struct strv;
struct web_address;
struct web_study;

/*
 * Read a form.  0: argv is the command that does it.  Otherwise the status of
 * the answer whose text is in out: 200 when it is done, 409 when that failed, or
 * 400 for a form that is none.  do: pause, resume, stop (of trial, or of the
 * server), enqueue (words); of a trial: retry, forget, count (again), note
 * (words) and tag (words, those after a minus sign are taken away); and without
 * a trial archive, restore and note (words), which are no commands: they are for
 * the list of studies, which hides it, shows it, and has a note about it.
 */
int web_form_read(struct strv *argv, struct buf *out, const struct web_study *,
    const struct web_address *form);

#endif /* HPOTUNE_WEB_FORM_H */
