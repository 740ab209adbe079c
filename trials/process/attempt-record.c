/*
 * Encoding of the records: a magic number, little-endian fields, a checksum.
 * Data with a wrong checksum is rejected.
 */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "trials/process/attempt-record.h"

enum { RECORD_VERSION = 1, SUM_AT = RECORD_SECTOR - 8 };

static const char claim_magic[8] = "hpoCLAIM";
static const char exit_magic[8] = "hpo:EXIT";

enum exit_flag {
	EXIT_RAN = 1,
	EXIT_TIMEOUT = 2,
	EXIT_OOM = 4,
	EXIT_STOPPED = 8,
	EXIT_KILLED = 16,
	EXIT_UNSYNCED = 32,
	EXIT_PREEMPTED = 64,
	EXIT_FLAGS = 127
};

/* CRC-64 of ECMA-182, reflected, bit by bit: a sector is short. */
static uint64_t
checksum(const unsigned char *p, size_t n)
{
	uint64_t crc = ~UINT64_C(0);
	int bit;

	while (n-- > 0) {
		crc ^= *p++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^
			      (UINT64_C(0xc96c5795d7870f42) & -(crc & 1));
	}
	return ~crc;
}

/* A walk over the fields of one sector. */
struct walk {
	unsigned char *out; /* writing, or NULL */
	const unsigned char *in;
	size_t at;
	bool bad;
};

static void
put_int(struct walk *w, int64_t value)
{
	uint64_t v = (uint64_t)value;
	int i;

	for (i = 0; i < 8; i++, v >>= 8)
		w->out[w->at++] = (unsigned char)(v & 0xff);
}

static int64_t
get_int(struct walk *w)
{
	uint64_t v = 0;
	int i;

	for (i = 0; i < 8; i++)
		v |= (uint64_t)w->in[w->at++] << (8 * i);
	return (int64_t)v;
}

/* A number that must lie in a range, or the record is bad. */
static int
get_range(struct walk *w, int64_t min, int64_t max)
{
	int64_t v = get_int(w);

	if (v < min || v > max) {
		w->bad = true;
		return 0;
	}
	return (int)v;
}

/* Texts fill fields of fixed size: n bytes with at least one NUL. */
static void
attempt_record_put_text(struct walk *w, const char *s, size_t n)
{
	size_t len = strnlen(s, n - 1);

	memcpy(w->out + w->at, s, len);
	w->at += n;
}

static void
get_text(struct walk *w, char *s, size_t n)
{
	memcpy(s, w->in + w->at, n);
	if (memchr(s, '\0', n) == NULL)
		w->bad = true;
	s[n - 1] = '\0';
	w->at += n;
}

static struct walk
record_begin(unsigned char *sector, const char magic[8], const char *uuid)
{
	struct walk w = { .out = sector };

	memset(sector, 0, RECORD_SECTOR);
	memcpy(sector, magic, 8);
	w.at = 8;
	put_int(&w, RECORD_VERSION);
	attempt_record_put_text(&w, uuid, RECORD_UUID + 1);
	return w;
}

void
attempt_record_sign(unsigned char sector[RECORD_SECTOR])
{
	struct walk w = { .out = sector, .at = SUM_AT };

	put_int(&w, (int64_t)checksum(sector, SUM_AT));
}

/*
 * Check magic, checksum, version and uuid, which is copied to the argument
 * theirs; leaves w at the first field of the record type.
 */
static enum record_check
attempt_record_open(struct walk *w, const unsigned char *sector,
    const char magic[8], const char *uuid, char theirs[RECORD_UUID + 1])
{
	static const unsigned char zeros[RECORD_SECTOR];

	*w = (struct walk){ .in = sector, .at = SUM_AT };
	if (memcmp(sector, zeros, RECORD_SECTOR) == 0)
		return RECORD_NONE;
	if (memcmp(sector, magic, 8) != 0 ||
	    (uint64_t)get_int(w) != checksum(sector, SUM_AT))
		return RECORD_BAD;
	w->at = 8;
	if (get_int(w) != RECORD_VERSION)
		return RECORD_BAD;
	get_text(w, theirs, RECORD_UUID + 1);
	if (w->bad)
		return RECORD_BAD;
	return strcmp(theirs, uuid) == 0 ? RECORD_GOOD : RECORD_FOREIGN;
}

void
attempt_record_encode_claim(
    unsigned char sector[RECORD_SECTOR], const struct claim *c)
{
	struct walk w = record_begin(sector, claim_magic, c->uuid);

	put_int(&w, c->kind);
	attempt_record_put_text(&w, c->boot_id, sizeof c->boot_id);
	put_int(&w, c->shim_pid);
	put_int(&w, c->shim_start);
	put_int(&w, c->trial_pid);
	put_int(&w, c->trial_start);
	put_int(&w, c->claimed_us);
	put_int(&w, c->started_us);
	attempt_record_put_text(&w, c->cgroup, sizeof c->cgroup);
	put_int(&w, c->trial);
	attempt_record_sign(sector);
}

enum record_check
attempt_record_decode_claim(struct claim *c,
    const unsigned char sector[RECORD_SECTOR], const char *uuid)
{
	struct walk w;
	enum record_check is;

	*c = (struct claim){ 0 };
	is = attempt_record_open(&w, sector, claim_magic, uuid, c->uuid);
	if (is != RECORD_GOOD && is != RECORD_FOREIGN)
		return is;
	c->kind =
	    (enum claim_kind)get_range(&w, CLAIM_STARTING, CLAIM_ABANDONED);
	get_text(&w, c->boot_id, sizeof c->boot_id);
	c->shim_pid = get_int(&w);
	c->shim_start = get_int(&w);
	c->trial_pid = get_int(&w);
	c->trial_start = get_int(&w);
	c->claimed_us = get_int(&w);
	c->started_us = get_int(&w);
	get_text(&w, c->cgroup, sizeof c->cgroup);
	/* Records of older versions end before it. */
	c->trial = get_int(&w);
	return w.bad ? RECORD_BAD : is;
}

void
attempt_record_encode_exit(unsigned char sector[RECORD_SECTOR],
    const struct attempt_exit *x, const char *uuid)
{
	struct walk w = record_begin(sector, exit_magic, uuid);

	put_int(&w, (x->ran ? EXIT_RAN : 0) | (x->timeout ? EXIT_TIMEOUT : 0) |
			(x->oom ? EXIT_OOM : 0) |
			(x->stopped ? EXIT_STOPPED : 0) |
			(x->killed ? EXIT_KILLED : 0) |
			(x->unsynced ? EXIT_UNSYNCED : 0) |
			(x->preempted ? EXIT_PREEMPTED : 0));
	put_int(&w, x->exit_code);
	put_int(&w, x->signal);
	put_int(&w, x->started_us);
	put_int(&w, x->ended_us);
	put_int(&w, x->max_rss);
	put_int(&w, x->cpu_us);
	attempt_record_put_text(&w, x->why, sizeof x->why);
	put_int(&w, x->error);
	put_int(&w, x->log_size);
	put_int(&w, x->metrics_size);
	attempt_record_sign(sector);
}

enum record_check
attempt_record_decode_exit(struct attempt_exit *x,
    const unsigned char sector[RECORD_SECTOR], const char *uuid)
{
	char theirs[RECORD_UUID + 1];
	struct walk w;
	enum record_check is =
	    attempt_record_open(&w, sector, exit_magic, uuid, theirs);
	int flags;

	*x = (struct attempt_exit){ 0 };
	if (is != RECORD_GOOD)
		return is;
	flags = get_range(&w, 0, EXIT_FLAGS);
	x->ran = flags & EXIT_RAN;
	x->timeout = flags & EXIT_TIMEOUT;
	x->oom = flags & EXIT_OOM;
	x->stopped = flags & EXIT_STOPPED;
	x->killed = flags & EXIT_KILLED;
	x->unsynced = flags & EXIT_UNSYNCED;
	x->preempted = flags & EXIT_PREEMPTED;
	x->exit_code = get_range(&w, -1, 255);
	x->signal = get_range(&w, 0, 255);
	x->started_us = get_int(&w);
	x->ended_us = get_int(&w);
	x->max_rss = get_int(&w);
	x->cpu_us = get_int(&w);
	get_text(&w, x->why, sizeof x->why);
	/* Records of older versions end before these. */
	x->error = get_range(&w, 0, INT32_MAX);
	x->log_size = get_int(&w);
	x->metrics_size = get_int(&w);
	w.bad = w.bad || x->log_size < 0 || x->metrics_size < 0;
	return w.bad ? RECORD_BAD : RECORD_GOOD;
}

int
attempt_record_read(int fd, const char *uuid, struct claim *c,
    enum record_check *claim_is, struct attempt_exit *x,
    enum record_check *exit_is)
{
	unsigned char both[2 * RECORD_SECTOR] = { 0 };

	/* A file still empty or short reads as zeros. */
	if (pread(fd, both, sizeof both, 0) == -1)
		return -1;
	*claim_is = attempt_record_decode_claim(c, both, uuid);
	*exit_is = attempt_record_decode_exit(x, both + RECORD_SECTOR, uuid);
	return 0;
}

int
attempt_record_lock(int fd)
{
	struct flock l = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1
	};

	if (fcntl(fd, F_OFD_SETLK, &l) == 0)
		return 0;
	if (errno == EACCES)
		errno = EAGAIN;
	return -1;
}

int
attempt_record_locked(int fd)
{
	struct flock l = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1
	};

	if (fcntl(fd, F_OFD_GETLK, &l) == -1)
		return -1;
	return l.l_type != F_UNLCK;
}
