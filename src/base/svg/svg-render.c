/* librsvg reads the SVG, cairo writes the document. */

#include <dlfcn.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/svg/svg-render.h"

#define LIBRARY "librsvg-2.so.2"

struct g_error {
	uint32_t domain;
	int code;
	char *message;
};

struct rectangle {
	double x, y, width, height;
};

typedef int write_func(void *closure, const unsigned char *data, unsigned n);

/*
 * The functions that are used, of librsvg and of the libraries that it needs. Their
 * interfaces are stable, so that their headers are no part of the build.
 */
struct rsvg {
	void *(*handle_new_from_data)(
	    const uint8_t *, size_t, struct g_error **);
	int (*handle_render_document)(
	    void *, void *cr, const struct rectangle *, struct g_error **);
	void (*object_unref)(void *);
	void *(*pdf_surface)(write_func *, void *closure, double, double);
	void *(*svg_surface)(write_func *, void *closure, double, double);
	void *(*image_surface)(int format, int width, int height);
	int (*write_png)(void *surface, write_func *, void *closure);
	void *(*create)(void *surface);
	void (*destroy)(void *cr);
	void (*surface_finish)(void *);
	void (*surface_destroy)(void *);
	int (*surface_status)(void *);
	const char *(*status_to_string)(int);
};

static const struct {
	const char *name;
	size_t at;
} functions[] = {
	{ "rsvg_handle_new_from_data",
	    offsetof(struct rsvg, handle_new_from_data) },
	{ "rsvg_handle_render_document",
	    offsetof(struct rsvg, handle_render_document) },
	{ "g_object_unref", offsetof(struct rsvg, object_unref) },
	{ "cairo_pdf_surface_create_for_stream",
	    offsetof(struct rsvg, pdf_surface) },
	{ "cairo_svg_surface_create_for_stream",
	    offsetof(struct rsvg, svg_surface) },
	{ "cairo_image_surface_create", offsetof(struct rsvg, image_surface) },
	{ "cairo_surface_write_to_png_stream",
	    offsetof(struct rsvg, write_png) },
	{ "cairo_create", offsetof(struct rsvg, create) },
	{ "cairo_destroy", offsetof(struct rsvg, destroy) },
	{ "cairo_surface_finish", offsetof(struct rsvg, surface_finish) },
	{ "cairo_surface_destroy", offsetof(struct rsvg, surface_destroy) },
	{ "cairo_surface_status", offsetof(struct rsvg, surface_status) },
	{ "cairo_status_to_string", offsetof(struct rsvg, status_to_string) },
};

/* The library is never closed: types of GLib stay registered. */
static int
rsvg_load(struct rsvg *lib, struct err *e)
{
	void *so = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL), *f;
	size_t i;

	if (so == NULL)
		return err_set(e, ERR_FILE,
		    "PDF and PNG need librsvg (Debian's package is "
		    "librsvg2-2): %s",
		    dlerror());
	for (i = 0; i < sizeof functions / sizeof *functions; i++) {
		f = dlsym(so, functions[i].name);
		if (f == NULL)
			return err_set(e, ERR_FILE,
			    "%s has no %s: 2.46 is the oldest that will do",
			    LIBRARY, functions[i].name);
		memcpy((char *)lib + functions[i].at, &f, sizeof f);
	}
	return 0;
}

static int
svg_render_take(void *closure, const unsigned char *data, unsigned n)
{
	buf_add(closure, (const char *)data, n);
	return 0;
}

/* A surface of width x height of its own units: points, or pixels of PNG. */
static void *
surface_open(const struct rsvg *lib, struct buf *out, enum svg_format format,
    double width, double height)
{
	switch (format) {
	case SVG_PDF:
		return lib->pdf_surface(svg_render_take, out, width, height);
	case SVG_OUTLINES:
		return lib->svg_surface(svg_render_take, out, width, height);
	case SVG_PNG:
		break;
	}
	return lib->image_surface(0, (int)width, (int)height);
}

static int
svg_render_put(const struct rsvg *lib, struct buf *out, enum svg_format format,
    void *handle, double width, double height, struct err *e)
{
	struct rectangle all = { 0, 0, width, height };
	struct g_error *wrong = NULL;
	void *surface = surface_open(lib, out, format, width, height);
	void *cr = lib->create(surface);
	int rc = 0, status;

	if (!lib->handle_render_document(handle, cr, &all, &wrong))
		rc = err_set(e, ERR_FILE, "the figure cannot be drawn: %s",
		    wrong != NULL ? wrong->message
				  : "librsvg does not say why");
	lib->destroy(cr);
	if (format == SVG_PNG && rc == 0 &&
	    lib->write_png(surface, svg_render_take, out) != 0)
		rc = err_set(e, ERR_FILE, "the PNG cannot be written");
	lib->surface_finish(surface);
	status = lib->surface_status(surface);
	if (rc == 0 && status != 0)
		rc = err_set(e, ERR_FILE, "the figure cannot be written: %s",
		    lib->status_to_string(status));
	lib->surface_destroy(surface);
	return rc;
}

int
svg_render(struct buf *out, enum svg_format format, const struct buf *svg,
    const double mm[2], double dpi, struct err *e)
{
	double scale = format == SVG_PNG ? dpi / 25.4 : 72 / 25.4;
	double width = mm[0] * scale, height = mm[1] * scale;
	struct g_error *wrong = NULL;
	struct rsvg lib;
	void *handle;
	int rc;

	if (rsvg_load(&lib, e) != 0)
		return -1;
	if (format == SVG_PNG) {
		width = ceil(width);
		height = ceil(height);
	}
	handle = lib.handle_new_from_data(
	    (const uint8_t *)svg->data, svg->len, &wrong);
	if (handle == NULL)
		return err_set(e, ERR_FILE, "the figure cannot be read: %s",
		    wrong != NULL ? wrong->message
				  : "librsvg does not say why");
	rc = svg_render_put(&lib, out, format, handle, width, height, e);
	lib.object_unref(handle);
	return rc;
}
