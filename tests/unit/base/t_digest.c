/* SHA-256 and HMAC by the vectors of FIPS 180-4 and RFC 4231. */

#include <stdlib.h>
#include <unistd.h>

#include "src/base/digest.h"
#include "src/base/err.h"
#include "src/base/mem.h"
#include "tests/support/tap.h"

static void
check_sha256(const char *text, const char *want)
{
	char hex[DIGEST_HEX];

	sha256_hex(hex, text, strlen(text));
	is_str(hex, want, "SHA-256");
}

static void
test_sha256(void)
{
	char hex[DIGEST_HEX];

	check_sha256("", "e3b0c44298fc1c149afbf4c8996fb924"
			 "27ae41e4649b934ca495991b7852b855");
	check_sha256("abc", "ba7816bf8f01cfea414140de5dae2223"
			    "b00361a396177a9cb410ff61f20015ad");
	check_sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
	    "248d6a61d20638b8e5c026930c3e6039"
	    "a33ce45964ff2167f6ecedd419db06c1");
	sha256_hex(hex, NULL, 0);
	ok(strncmp(hex, "e3b0c442", 8) == 0, "nothing at all is the empty one");
}

static void
test_base64(void)
{
	unsigned char d[DIGEST_LEN];
	char text[DIGEST_BASE64];

	sha256(d, "", 0);
	digest_base64(text, d);
	is_str(text, "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
	    "a digest in base64 has 43 letters and one of padding");
}

struct vector {
	unsigned char key_byte;
	size_t key_len; /* 0: key is text */
	const char *key;
	unsigned char data_byte;
	size_t data_len; /* 0: data is text */
	const char *data;
	const char *want;
};

/* RFC 4231, cases 1, 2, 3, 6 and 7. */
static const struct vector vectors[] = {
	{ .key_byte = 0x0b,
	    .key_len = 20,
	    .data = "Hi There",
	    .want = "b0344c61d8db38535ca8afceaf0bf12b"
		    "881dc200c9833da726e9376c2e32cff7" },
	{ .key = "Jefe",
	    .data = "what do ya want for nothing?",
	    .want = "5bdcc146bf60754e6a042426089575c7"
		    "5a003f089d2739839dec58b964ec3843" },
	{ .key_byte = 0xaa,
	    .key_len = 20,
	    .data_byte = 0xdd,
	    .data_len = 50,
	    .want = "773ea91e36800e46854db8ebd09181a7"
		    "2959098b3ef8c122d9635514ced565fe" },
	{ .key_byte = 0xaa,
	    .key_len = 131,
	    .data = "Test Using Larger Than Block-Size Key - Hash Key First",
	    .want = "60e431591ee0b67f0d8a26aacbf5b77f"
		    "8e0bc6213728c5140546040f0ee37f54" },
	{ .key_byte = 0xaa,
	    .key_len = 131,
	    .data = "This is a test using a larger than block-size key and a "
		    "larger than block-size data. The key needs to be hashed "
		    "before being used by the HMAC algorithm.",
	    .want = "9b09ffa71b942fcb27635fbcd5b0e944"
		    "bfdc63644f0713938a7f51535c3a35e2" },
};

static void
test_hmac(void)
{
	unsigned char key[256], data[256], d[DIGEST_LEN];
	char hex[DIGEST_HEX];
	const struct vector *v;
	size_t i;

	for (i = 0; i < sizeof vectors / sizeof *vectors; i++) {
		v = &vectors[i];
		memset(key, v->key_byte, sizeof key);
		memset(data, v->data_byte, sizeof data);
		hmac_sha256(d, v->key != NULL ? (const void *)v->key : key,
		    v->key != NULL ? strlen(v->key) : v->key_len,
		    v->data != NULL ? (const void *)v->data : data,
		    v->data != NULL ? strlen(v->data) : v->data_len);
		digest_hex(hex, d);
		is_str(hex, v->want, "HMAC-SHA-256");
	}
	hmac_sha256(d, NULL, 0, NULL, 0);
	digest_hex(hex, d);
	is_str(hex,
	    "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad",
	    "no key, no data");
}

/* A million times "a" is longer than one piece. */
static void
test_file(void)
{
	char path[] = "/tmp/t_digest-XXXXXX", hex[DIGEST_HEX];
	struct err e = ERR_INIT;
	int fd = mkstemp(path);
	char *million = xmalloc(1000000);

	memset(million, 'a', 1000000);
	ok(write(fd, million, 1000000) == 1000000, "a file");
	(void)close(fd);
	ok(sha256_file(hex, path, &e) == 0, "is read");
	is_str(hex,
	    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
	    "a million times a");
	free(million);
	(void)unlink(path);
	ok(sha256_file(hex, path, &e) == -1, "a file that is not there");
	ok(strstr(e.text, path) != NULL && e.kind == ERR_FILE, "is named");
	ok(sha256_file(hex, "/", &e) == -1, "a folder");
}

int
main(void)
{
	test_sha256();
	test_base64();
	test_hmac();
	test_file();
	return done_testing();
}
