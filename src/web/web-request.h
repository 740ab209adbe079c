/*
 * What a request about studies gets, drawn by a reader (web-reader.h), which
 * alone touches files of studies.  Its frames are those below.
 */

#ifndef HPOTUNE_WEB_REQUEST_H
#define HPOTUNE_WEB_REQUEST_H

#include <stdbool.h>

struct web_access;
struct web_address;
struct web_sink;
struct web_studies;

struct web_request {
	const struct web_access *access;
	struct web_studies *studies;
	const struct web_address *address;
	const struct web_address *form; /* of an action; NULL: a page is read */
};

enum web_request_frame {
	/*
	 * Texts that end with NUL: the status, the type of the content, "1" when
	 * pieces are sent as they come; names and values of more headers.
	 */
	WEB_FRAME_ANSWER = 'a',
	WEB_FRAME_BODY = 'b', /* a piece of the body */
	WEB_FRAME_COMMAND = 'c' /* words that end with NUL: run this instead */
};

/* Draw, with the number of the study of a comparison as web_sink_at. */
void web_request_draw(const struct web_request *, struct web_sink *);

#endif /* HPOTUNE_WEB_REQUEST_H */
