/*
 * SHA-256 by libcrypto: by its functions for this digest alone, although
 * libcrypto 3 marks them as deprecated.  The general interface (EVP), linked from
 * an archive, would add 3 MB and a third of the program's start time.
 */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/crypto.h>
#include <openssl/sha.h>

#include "src/base/digest.h"
#include "src/base/err.h"
#include "src/base/file.h"

enum {
	PIECE = 1 << 16,
	BLOCK = SHA256_CBLOCK,
	INNER = 0x36, /* RFC 2104: ipad and opad */
	OUTER = 0x5c
};

void
sha256(unsigned char out[DIGEST_LEN], const void *data, size_t len)
{
	SHA256_CTX sum;

	(void)SHA256_Init(&sum);
	(void)SHA256_Update(&sum, data, len);
	(void)SHA256_Final(out, &sum);
	OPENSSL_cleanse(&sum, sizeof sum);
}

/* out: the digest of the key, padded to a block and mixed with pad, and data. */
static void
keyed_sha256(unsigned char out[DIGEST_LEN], const unsigned char key[BLOCK],
    unsigned char pad, const void *data, size_t len)
{
	unsigned char block[BLOCK];
	SHA256_CTX sum;
	size_t i;

	for (i = 0; i < BLOCK; i++)
		block[i] = key[i] ^ pad;
	(void)SHA256_Init(&sum);
	(void)SHA256_Update(&sum, block, BLOCK);
	(void)SHA256_Update(&sum, data, len);
	(void)SHA256_Final(out, &sum);
	OPENSSL_cleanse(block, sizeof block);
	OPENSSL_cleanse(&sum, sizeof sum);
}

void
hmac_sha256(unsigned char out[DIGEST_LEN], const void *key, size_t key_len,
    const void *data, size_t len)
{
	unsigned char padded[BLOCK] = { 0 }, inner[DIGEST_LEN];

	if (key_len > BLOCK)
		sha256(padded, key, key_len);
	else if (key_len > 0)
		memcpy(padded, key, key_len);
	keyed_sha256(inner, padded, INNER, data, len);
	keyed_sha256(out, padded, OUTER, inner, sizeof inner);
	OPENSSL_cleanse(padded, sizeof padded);
}

void
digest_hex(char out[DIGEST_HEX], const unsigned char d[DIGEST_LEN])
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < DIGEST_LEN; i++) {
		out[2 * i] = digits[d[i] >> 4];
		out[2 * i + 1] = digits[d[i] & 15];
	}
	out[2 * DIGEST_LEN] = '\0';
}

void
digest_base64(char out[DIGEST_BASE64], const unsigned char digest[DIGEST_LEN])
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "abcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t i, n = 0;
	unsigned held = 0, have = 0;

	for (i = 0; i < DIGEST_LEN; i++) {
		held = held << 8 | digest[i];
		for (have += 8; have >= 6; have -= 6)
			out[n++] = letters[held >> (have - 6) & 63];
	}
	out[n++] = letters[held << (6 - have) & 63];
	while (n % 4 != 0)
		out[n++] = '=';
	out[n] = '\0';
}

void
sha256_hex(char out[DIGEST_HEX], const void *data, size_t len)
{
	unsigned char d[DIGEST_LEN];

	sha256(d, data, len);
	digest_hex(out, d);
}

int
sha256_fd(char out[DIGEST_HEX], int fd)
{
	unsigned char d[DIGEST_LEN];
	char piece[PIECE];
	SHA256_CTX sum;
	ssize_t n;

	(void)SHA256_Init(&sum);
	while ((n = read(fd, piece, sizeof piece)) > 0 ||
	       (n == -1 && errno == EINTR))
		if (n > 0)
			(void)SHA256_Update(&sum, piece, (size_t)n);
	(void)SHA256_Final(d, &sum);
	digest_hex(out, d);
	return n == 0 ? 0 : -1;
}

int
sha256_file(char out[DIGEST_HEX], const char *path, struct err *e)
{
	int fd = file_open_user(path);
	int rc = fd != -1 ? sha256_fd(out, fd) : -1;

	if (rc == -1)
		(void)err_set(e, ERR_FILE, "%s: %s", path, file_why(errno));
	if (fd != -1)
		(void)close(fd);
	return rc;
}
