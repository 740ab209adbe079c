/*
 * SHA-256 by libcrypto.  When libcrypto fails, the program ends, as it does
 * when memory runs out.
 */

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "src/base/digest.h"
#include "src/base/err.h"

enum { PIECE = 1 << 16 };

static void
need(bool good)
{
	if (good)
		return;
	fputs("hpotune: libcrypto does not compute SHA-256\n", stderr);
	abort();
}

void
sha256(unsigned char out[DIGEST_LEN], const void *data, size_t len)
{
	need(EVP_Digest(data, len, out, NULL, EVP_sha256(), NULL) == 1);
}

void
hmac_sha256(unsigned char out[DIGEST_LEN], const void *key, size_t key_len,
    const void *data, size_t len)
{
	/* A NULL key would make libcrypto reuse the previous key. */
	if (key_len == 0)
		key = "";
	need(HMAC(EVP_sha256(), key, (int)key_len, data, len, out, NULL) !=
	     NULL);
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
	(void)EVP_EncodeBlock((unsigned char *)out, digest, DIGEST_LEN);
}

void
sha256_hex(char out[DIGEST_HEX], const void *data, size_t len)
{
	unsigned char d[DIGEST_LEN];

	sha256(d, data, len);
	digest_hex(out, d);
}

int
sha256_file(char out[DIGEST_HEX], const char *path, struct err *e)
{
	unsigned char d[DIGEST_LEN];
	char piece[PIECE];
	EVP_MD_CTX *sum;
	FILE *f = fopen(path, "re");
	size_t n;
	int rc = 0;

	if (f == NULL)
		return err_set(e, ERR_FILE, "%s: %s", path, strerror(errno));
	sum = EVP_MD_CTX_new();
	need(sum != NULL && EVP_DigestInit_ex(sum, EVP_sha256(), NULL) == 1);
	while ((n = fread(piece, 1, sizeof piece, f)) > 0)
		need(EVP_DigestUpdate(sum, piece, n) == 1);
	need(EVP_DigestFinal_ex(sum, d, NULL) == 1);
	if (ferror(f))
		rc = err_set(e, ERR_FILE, "%s: %s", path, strerror(errno));
	digest_hex(out, d);
	EVP_MD_CTX_free(sum);
	(void)fclose(f);
	return rc;
}
