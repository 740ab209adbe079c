/* libcurl, opened at its first use. */

#include <dlfcn.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/http/http-internal.h"

/*
 * libcurl is loaded at its first use.  If it were linked, each start of the
 * program would load and relocate about thirty more libraries, and most studies
 * run without a network.
 */

#define LIBRARY "libcurl.so.4"
/* 7.88, as in configure.ac */
enum { VERSION_LEAST = 0x075800 };

static const struct {
	const char *name;
	size_t at;
} functions[] = {
	{ "curl_global_init", offsetof(struct http_libcurl, global_init) },
	{ "curl_global_cleanup",
	    offsetof(struct http_libcurl, global_cleanup) },
	{ "curl_version_info", offsetof(struct http_libcurl, version_info) },
	{ "curl_easy_init", offsetof(struct http_libcurl, easy_init) },
	{ "curl_easy_setopt", offsetof(struct http_libcurl, easy_setopt) },
	{ "curl_easy_getinfo", offsetof(struct http_libcurl, easy_getinfo) },
	{ "curl_easy_strerror", offsetof(struct http_libcurl, easy_strerror) },
	{ "curl_easy_cleanup", offsetof(struct http_libcurl, easy_cleanup) },
	{ "curl_slist_append", offsetof(struct http_libcurl, slist_append) },
	{ "curl_slist_free_all",
	    offsetof(struct http_libcurl, slist_free_all) },
	{ "curl_multi_init", offsetof(struct http_libcurl, multi_init) },
	{ "curl_multi_setopt", offsetof(struct http_libcurl, multi_setopt) },
	{ "curl_multi_add_handle",
	    offsetof(struct http_libcurl, multi_add_handle) },
	{ "curl_multi_remove_handle",
	    offsetof(struct http_libcurl, multi_remove_handle) },
	{ "curl_multi_socket_action",
	    offsetof(struct http_libcurl, multi_socket_action) },
	{ "curl_multi_info_read",
	    offsetof(struct http_libcurl, multi_info_read) },
	{ "curl_multi_assign", offsetof(struct http_libcurl, multi_assign) },
	{ "curl_multi_cleanup", offsetof(struct http_libcurl, multi_cleanup) },
};

/* The library is never closed: OpenSSL's exit handlers need it. */
int
http_libcurl_load(struct http_libcurl *lib, struct err *e)
{
	void *so = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL), *f;
	const curl_version_info_data *v;
	size_t i;

	if (so == NULL)
		return err_set(e, ERR_FILE,
		    "%s cannot be opened (Debian's package is libcurl4): %s",
		    LIBRARY, dlerror());
	for (i = 0; i < sizeof functions / sizeof *functions; i++) {
		f = dlsym(so, functions[i].name);
		if (f == NULL)
			return err_set(e, ERR_FILE, "%s has no %s", LIBRARY,
			    functions[i].name);
		memcpy((char *)lib + functions[i].at, &f, sizeof f);
	}
	v = lib->version_info(CURLVERSION_NOW);
	if (v->version_num < VERSION_LEAST)
		return err_set(e, ERR_FILE, "%s is %s, older than 7.88",
		    LIBRARY, v->version);
	if (lib->global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return err_set(
		    e, ERR_FILE, "%s cannot be initialized", LIBRARY);
	return 0;
}
