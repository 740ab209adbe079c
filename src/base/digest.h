/* SHA-256 and HMAC: the only door to libcrypto. */

#ifndef HPOTUNE_DIGEST_H
#define HPOTUNE_DIGEST_H

#include <stddef.h>

#define DIGEST_LEN 32
#define DIGEST_HEX (2 * DIGEST_LEN + 1)
#define DIGEST_BASE64 45

struct err;

void sha256(unsigned char out[DIGEST_LEN], const void *, size_t);
/* FIPS 180-4 over RFC 2104: HMAC-SHA-256. */
void hmac_sha256(unsigned char out[DIGEST_LEN], const void *key, size_t key_len,
    const void *, size_t);
void digest_hex(char out[DIGEST_HEX], const unsigned char[DIGEST_LEN]);
/* With padding, RFC 4648. */
void digest_base64(char out[DIGEST_BASE64], const unsigned char[DIGEST_LEN]);
void sha256_hex(char out[DIGEST_HEX], const void *, size_t);
/* The digest of what follows in an open file: 0, or -1 with errno. */
int sha256_fd(char out[DIGEST_HEX], int fd);
/* The digest of a file, read in pieces. */
int sha256_file(char out[DIGEST_HEX], const char *path, struct err *);

#endif /* HPOTUNE_DIGEST_H */
