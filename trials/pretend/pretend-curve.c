/*
 * Formulas: the quality of a configuration from its parameters, and the curve
 * of a trial of that quality.  Deterministic: the same seed, trial and step
 * give the same value.
 */

#include <math.h>
#include <string.h>

#include "src/base/json/json.h"
#include "src/base/rng.h"
#include "trials/pretend/pretend.h"

/* Streams of the generator, kept apart by their high bits. */
enum stream { STREAM_TRIAL = 1, STREAM_NOISE, STREAM_NAME };

static uint64_t
stream(enum stream kind, uint64_t a, uint64_t b)
{
	return (uint64_t)kind << 60 ^ a << 24 ^ b;
}

/* FNV-1a: names and texts as numbers. */
static uint64_t
text_hash(uint64_t h, const char *s)
{
	for (; *s != '\0'; s++)
		h = (h ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
	return h;
}

static double
uniform_of(uint64_t seed, uint64_t which)
{
	struct rng g;

	rng_init(&g, seed, which);
	return rng_uniform(&g);
}

/*
 * Cost of one parameter, 0 to 1.  Numbers count by their order of magnitude,
 * with an optimum within 1e-4 to 1e2.
 */
static double
parameter_cost(uint64_t seed, const struct json *j)
{
	uint64_t h = text_hash(UINT64_C(0xcbf29ce484222325), json_key(j));
	double x, at, z;
	bool b;

	if (json_number(j, &x)) {
		at = -4 + 6 * uniform_of(seed, stream(STREAM_NAME, h, 0));
		z = x > 0 ? log10(x) : -5;
		return 1 - exp(-(z - at) * (z - at) / 4);
	}
	if (json_bool(j, &b))
		h += b ? 1 : 2;
	else if (json_string(j) != NULL)
		h = text_hash(h, json_string(j));
	return uniform_of(seed, stream(STREAM_NAME, h, 1));
}

uint64_t
pretend_curve_seed(uint64_t seed, const char *metric)
{
	return seed ^ text_hash(UINT64_C(0xcbf29ce484222325), metric);
}

double
pretend_curve_quality(uint64_t seed, const char *params_json)
{
	struct json_doc *doc = NULL;
	const struct json *j;
	double sum = 0;
	size_t n = 0;

	if (params_json == NULL ||
	    json_parse(
		&doc, params_json, strlen(params_json), NULL, false, NULL) != 0)
		return 0.5;
	for (j = json_first(json_root(doc)); j != NULL; j = json_next(j), n++)
		sum += parameter_cost(seed, j);
	json_free(doc);
	return n > 0 ? sum / (double)n : 0.5;
}

double
pretend_curve_loss(
    const struct pretend_script *s, int64_t trial, double quality, int64_t step)
{
	double u = uniform_of(s->seed, stream(STREAM_TRIAL, trial, 0));
	double x = (double)step / (double)(s->steps > 0 ? s->steps : 1);
	double end = 0.05 + 0.6 * quality;

	switch (s->curve) {
	case PRETEND_EXP:
		return end + (0.9 - end) * exp(-x / (0.1 + 0.2 * u));
	case PRETEND_POWER:
		return end + (0.9 - end) * pow(1 + (double)step, -0.5 - u);
	case PRETEND_CROSSING:
		if (u < 0.5) {
			end = 0.3 + 0.4 * quality;
			return end + (0.9 - end) * exp(-x / 0.05);
		}
		return end + (0.95 - end) * exp(-2 * x / u);
	case PRETEND_PLATEAU:
		return x < 0.2 + 0.6 * u ? 0.9 : end;
	case PRETEND_FLAT:
	case PRETEND_CURVES:
		break;
	}
	return end;
}

double
pretend_curve_value(const struct pretend_script *s, int64_t trial, int attempt,
    double quality, int64_t step)
{
	double loss = pretend_curve_loss(s, trial, quality, step);
	struct rng g;
	double nan_from;

	rng_init(&g, s->seed, stream(STREAM_TRIAL, trial, 1));
	if (rng_uniform(&g) < s->nan) {
		nan_from = 1 + rng_uniform(&g) * (double)s->steps;
		if ((double)step >= nan_from)
			return NAN;
	}
	rng_init(&g, s->seed,
	    stream(
		STREAM_NOISE, trial, (uint64_t)attempt << 48 ^ (uint64_t)step));
	loss += s->noise * rng_normal(&g);
	return s->maximize ? 1 - loss : loss;
}
