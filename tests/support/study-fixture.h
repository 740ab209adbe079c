/* Parts of valid studies, for tests that make one error. */

#ifndef HPOTUNE_STUDY_FIXTURE_H
#define HPOTUNE_STUDY_FIXTURE_H

#define LIMITS "\"limits\":{\"trials\":4}"
#define OBJECTIVE "\"objective\":{\"metric\":\"loss\",\"goal\":\"minimize\"}"
#define PARAMETERS                                              \
	"\"parameters\":{\"lr\":{\"type\":\"float\",\"min\":0," \
	"\"max\":1}}"
#define TRIAL "\"trial\":{\"command\":[\"./train\",\"{params}\"]}"
/* The second line of a study that has all it needs; more may follow. */
#define REST OBJECTIVE "," PARAMETERS "," TRIAL "," LIMITS
#define BASE "{\"study\":\"s\"," REST

#endif /* HPOTUNE_STUDY_FIXTURE_H */
