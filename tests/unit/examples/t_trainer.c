/*
 * The parts of the example trainer that can be tested without its data:
 * gradient, optimizers, checkpoint file, bad data files, options.
 */

#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "examples/fashion-mnist/checkpoint.h"
#include "examples/fashion-mnist/cache.h"
#include "examples/fashion-mnist/data.h"
#include "examples/fashion-mnist/net.h"
#include "examples/fashion-mnist/optim.h"
#include "examples/fashion-mnist/options.h"
#include "examples/fashion-mnist/run.h"
#include "tests/support/tap.h"

enum { ROWS = 5 };

static double
net_mean_loss(
    struct net *net, const float *x, const uint8_t *labels, float dropout)
{
	struct rng rng = { 3 };
	size_t right = 0;

	net_forward(net, x, ROWS, dropout, &rng);
	return net_loss(net, labels, ROWS, &right) / ROWS;
}

/* Every parameter's gradient against a central difference. */
static void
test_gradient(const char *what, size_t layers, float dropout)
{
	const size_t hidden[] = { 7, 6, 5, 4 }, flat[] = { 7, 9, 4 };
	const uint8_t labels[ROWS] = { 0, 3, 1, 2, 3 };
	const float h = 1e-3f;
	struct net net;
	struct rng rng = { 11 };
	float x[ROWS * 7], kept;
	double up, down, worst = 0, largest = 0, slope;
	size_t i;

	net_init(&net, layers == 3 ? hidden : flat, layers, ROWS);
	net_draw(&net, &rng);
	for (i = 0; i < ROWS * 7; i++)
		x[i] = 4 * rng_unit(&rng) - 2;
	net_mean_loss(&net, x, labels, dropout);
	net_backward(&net, x, ROWS, dropout);
	for (i = 0; i < net.count; i++) {
		kept = net.params[i];
		net.params[i] = kept + h;
		up = net_mean_loss(&net, x, labels, dropout);
		net.params[i] = kept - h;
		down = net_mean_loss(&net, x, labels, dropout);
		net.params[i] = kept;
		slope = (up - down) / (2 * (double)h);
		worst = fmax(worst, fabs(slope - (double)net.grads[i]));
		largest = fmax(largest, fabs(slope));
	}
	ok(worst < 1e-3 && largest > 0.1,
	    "gradient, %s: largest %.2g, worst error %.1g", what, largest,
	    worst);
	net_free(&net);
}

static void
test_not_finite(void)
{
	const size_t sizes[] = { 7, 9, 4 };
	const uint8_t labels[ROWS] = { 0 };
	struct net net;
	float x[ROWS * 7] = { 0 };
	size_t right = 0;
	double loss;

	net_init(&net, sizes, 2, ROWS);
	net.params[0] = NAN;
	net_forward(&net, x, ROWS, 0, NULL);
	loss = net_loss(&net, labels, ROWS, &right);
	ok(isnan(loss) && right == 0, "a result that is not finite is wrong");
	net_free(&net);
}

static void
test_rng(void)
{
	uint32_t order[1000], seen[1000] = { 0 };
	struct rng a = rng_stream(1, RNG_ORDER, 0);
	struct rng b = rng_stream(1, RNG_ORDER, 1);
	struct rng c = rng_stream(1, RNG_DROPOUT, 0);
	size_t i, fixed = 0, once = 0;

	ok(a.state != b.state && a.state != c.state, "streams differ");
	rng_order(&a, order, 1000);
	for (i = 0; i < 1000; i++) {
		seen[order[i]]++;
		fixed += order[i] == i;
	}
	for (i = 0; i < 1000; i++)
		once += seen[i] == 1;
	ok(once == 1000 && fixed < 10, "an order holds everything once");
}

static void
test_optim(void)
{
	const float grads[2] = { 0.5f, -4 };
	float params[2] = { 1, 2 };
	struct optim o;

	optim_init(&o, OPTIM_SGD, 2);
	o.lr = 0.1f;
	o.momentum = 0.5f;
	optim_step(&o, params, grads);
	optim_step(&o, params, grads);
	is_near(params[0], 1 - 0.1 * (0.5 + 0.75), 1e-6, "sgd with momentum");
	o.lr = 0.5f;
	o.decay = 0.1f;
	o.momentum = 0;
	params[1] = 2;
	optim_step(&o, params, grads);
	is_near(params[1], 2 * 0.95 + 2, 1e-6, "sgd with decay");
	optim_free(&o);

	/* With a gradient that stays, every step of Adam is as long as lr. */
	optim_init(&o, OPTIM_ADAM, 2);
	o.lr = 0.01f;
	params[0] = params[1] = 0;
	optim_step(&o, params, grads);
	optim_step(&o, params, grads);
	is_near(params[0], -0.02, 1e-6, "adam down");
	is_near(params[1], 0.02, 1e-6, "adam up");
	optim_free(&o);
}

/* Files of the tests: one folder, emptied after each group. */

static void
file_write(const char *path, const void *bytes, size_t n)
{
	FILE *fp = fopen(path, "w");

	if (fp == NULL || fwrite(bytes, 1, n, fp) != n || fclose(fp) != 0)
		abort();
}

static size_t
file_read(const char *path, uint8_t *bytes, size_t max)
{
	FILE *fp = fopen(path, "r");
	size_t n;

	if (fp == NULL)
		abort();
	n = fread(bytes, 1, max, fp);
	fclose(fp);
	return n;
}

#define CHECKPOINT_PATH "fashion.checkpoint"

static struct checkpoint
checkpoint_make(float *weights, float *slots, const char *identity)
{
	return (struct checkpoint){
		.identity = identity,
		.epoch = 3,
		.position = 128,
		.steps = 77,
		.rng = UINT64_MAX - 5,
		.loss_sum = 0.1,
		.part = { { weights, 3 }, { slots, 2 } },
	};
}

static void
test_checkpoint_round(void)
{
	float weights[3] = { 1, -2, 0x1p-140f }, slots[2] = { 4, 5 };
	float weights2[3] = { 0 }, slots2[2] = { 0 };
	struct checkpoint out = checkpoint_make(weights, slots, "lr=1 seed=2");
	struct checkpoint in = {
		.identity = "lr=1 seed=2",
		.part = { { weights2, 3 }, { slots2, 2 } },
	};
	struct fail f = { "" };

	is_int(checkpoint_read(&in, ".", &f), CHECKPOINT_NONE, "no checkpoint");
	is_int(checkpoint_write(&out, ".", &f), 0, "checkpoint is written");
	ok(access(CHECKPOINT_PATH ".tmp", F_OK) == -1, "and nothing beside it");
	is_int(checkpoint_read(&in, ".", &f), CHECKPOINT_GOOD, "and read");
	ok(in.epoch == 3 && in.position == 128 && in.steps == 77 &&
		in.rng == UINT64_MAX - 5 && in.loss_sum == 0.1,
	    "the same place");
	ok(memcmp(weights, weights2, sizeof weights) == 0 &&
		memcmp(slots, slots2, sizeof slots) == 0,
	    "the same floats");
	is_int(checkpoint_write(&out, "nowhere", &f), -1, "no folder");
	is_str(f.text,
	    "cannot write nowhere/fashion.checkpoint: "
	    "No such file or directory",
	    "reported");
}

static void
test_checkpoint_foreign(void)
{
	float weights[3] = { 0 }, slots[2] = { 0 };
	struct checkpoint in = { .part = { { weights, 3 }, { slots, 2 } } };
	struct fail f = { "" };

	in.identity = "lr=1 seed=22";
	is_int(checkpoint_read(&in, ".", &f), CHECKPOINT_FOREIGN, "other seed");
	is_str(f.text,
	    "./fashion.checkpoint is of a run with seed=2, "
	    "this one has seed=22",
	    "named");
	in.identity = "lr=1 seed=2";
	in.part[1].count = 1;
	is_int(checkpoint_read(&in, ".", &f), CHECKPOINT_FOREIGN, "other size");
	ok(in.epoch == 0 && weights[0] == 0, "nothing was changed");
}

/* No byte may differ, none may be missing, none may follow. */
static void
test_checkpoint_damage(void)
{
	float weights[3] = { 0 }, slots[2] = { 0 };
	struct checkpoint in = checkpoint_make(weights, slots, "lr=1 seed=2");
	uint8_t bytes[512] = { 0 };
	struct fail f = { "" };
	size_t i, n, flipped = 0, cut = 0;

	n = file_read(CHECKPOINT_PATH, bytes, sizeof bytes);
	for (i = 0; i < n; i++) {
		bytes[i] ^= 0x10;
		file_write(CHECKPOINT_PATH, bytes, n);
		flipped += checkpoint_read(&in, ".", &f) == CHECKPOINT_DAMAGED;
		bytes[i] ^= 0x10;
		file_write(CHECKPOINT_PATH, bytes, i);
		cut += checkpoint_read(&in, ".", &f) == CHECKPOINT_DAMAGED;
	}
	is_int(flipped, n, "every flipped byte is noticed");
	is_int(cut, n, "every cut is noticed");
	is_str(f.text, "./fashion.checkpoint is damaged", "reported");
	file_write(CHECKPOINT_PATH, bytes, n + 1);
	is_int(checkpoint_read(&in, ".", &f), CHECKPOINT_DAMAGED, "too long");
	ok(weights[0] == 0 && slots[0] == 0, "nothing was changed");
	unlink(CHECKPOINT_PATH);
}

static const uint8_t idx_good[] = { 0, 0, 8, 1, 0, 0, 0, 3, 7, 8, 9 };

static void
idx_refuses(const void *bytes, size_t n, const char *why, const char *what)
{
	struct fail f = { "" };
	struct idx x;

	file_write("f", bytes, n);
	ok(idx_read(&x, "f", 1, &f) == -1 && x.bytes == NULL, "%s", what);
	is_str(f.text, why, "reported");
}

static void
test_idx_plain(void)
{
	uint8_t bad[sizeof idx_good + 1] = { 0 };
	struct fail f = { "" };
	struct idx x;
	size_t n = sizeof idx_good;

	file_write("f", idx_good, n);
	ok(idx_read(&x, "f", 1, &f) == 0 && x.size[0] == 3 && x.bytes[2] == 9,
	    "a plain file");
	idx_free(&x);
	ok(idx_read(&x, "g", 1, &f) == -1, "no file");
	is_str(f.text, "g: No such file or directory", "reported");
	idx_refuses("", 0, "f: the file ends too early", "an empty file");
	idx_refuses("hello, world", 12,
	    "f: not an IDX file of bytes in 1 dimensions", "another file");
	idx_refuses(idx_good, 6, "f: the file ends too early", "half a head");
	idx_refuses(idx_good, n - 1, "f: the file ends too early", "a cut one");
	memcpy(bad, idx_good, n);
	idx_refuses(bad, n + 1, "f: the file is longer than its header says",
	    "one too long");
	bad[7] = 0;
	idx_refuses(bad, n, "f: dimension 1 is 0, out of range", "none");
	bad[4] = 0xff;
	idx_refuses(bad, n, "f: dimension 1 is 4278190080, out of range",
	    "far too many");
	bad[3] = 2;
	idx_refuses(bad, n, "f: not an IDX file of bytes in 1 dimensions",
	    "another shape");
}

/* Zipped: cut anywhere, or with a wrong byte in data or checksum. */
static void
test_idx_zipped(void)
{
	uint8_t bytes[128];
	struct fail f = { "" };
	struct idx x;
	size_t i, n, cut = 0;
	gzFile gz;

	if ((gz = gzopen("f", "w")) == NULL)
		abort();
	gzwrite(gz, idx_good, sizeof idx_good);
	gzclose(gz);
	ok(idx_read(&x, "f", 1, &f) == 0 && x.bytes[0] == 7, "a zipped file");
	idx_free(&x);
	n = file_read("f", bytes, sizeof bytes);
	for (i = 0; i < n; i++) {
		file_write("f", bytes, i);
		cut += idx_read(&x, "f", 1, &f) == -1;
	}
	is_int(cut, n, "every cut is noticed");
	bytes[n - 8] ^= 1;
	file_write("f", bytes, n);
	is_int(idx_read(&x, "f", 1, &f), -1, "a wrong checksum");
	is_str(f.text, "f: incorrect data check", "reported");
	unlink("f");
}

/* A number of a packed file, by way of the folder "unpacked"; 0: it was refused. */
static int
cached(bool mapped, const char *what)
{
	struct fail f = { "" };
	struct idx x;
	int number;

	if (cache_read(&x, "f", 1, "unpacked", &f) == -1)
		return 0;
	ok((x.map != NULL) == mapped, "%s", what);
	number = x.bytes[1];
	idx_free(&x);
	return number;
}

static void
zipped_make(uint8_t number)
{
	uint8_t bytes[sizeof idx_good];
	gzFile gz = gzopen("g", "w");

	memcpy(bytes, idx_good, sizeof bytes);
	bytes[9] = number;
	if (gz == NULL)
		abort();
	gzwrite(gz, bytes, sizeof bytes);
	gzclose(gz);
	/* Another inode, also within the clock's resolution. */
	if (rename("g", "f") == -1)
		abort();
}

static void
test_idx_cached(void)
{
	static const char name[] = "unpacked/f.unpacked";
	uint8_t bytes[256];
	struct fail f = { "" };
	struct idx x;
	size_t i, n, good = 0;

	zipped_make(8);
	is_int(cached(false, "unpacked at first"), 8, "what is in the file");
	is_int(cached(true, "then mapped"), 8, "the same");
	ok(cache_read(&x, "f", 2, "unpacked", &f) == -1,
	    "not as another shape");
	zipped_make(5);
	is_int(cached(false, "another file is unpacked"), 5, "its number");
	is_int(cached(true, "and mapped"), 5, "the same");
	n = file_read(name, bytes, sizeof bytes);
	for (i = 0; i < n; i++) {
		bytes[i] ^= 4;
		file_write(name, bytes, n);
		bytes[i] ^= 4;
		good += cache_read(&x, "f", 1, "unpacked", &f) == 0 &&
			x.map == NULL && x.bytes[1] == 5;
		idx_free(&x);
	}
	is_int(good, n, "a damaged one is unpacked again");
	for (i = good = 0; i < n; i++) {
		file_write(name, bytes, i);
		good += cache_read(&x, "f", 1, "unpacked", &f) == 0 &&
			x.map == NULL && x.bytes[1] == 5;
		idx_free(&x);
	}
	is_int(good, n, "and a cut one");
	unlink(name);
	rmdir("unpacked");
	file_write("unpacked", "", 0);
	is_int(cached(false, "where no folder can be, as without"), 5,
	    "the number");
	unlink("unpacked");
	unlink("f");
}

/* A set of n blank pictures; labels count from `label` down. */
static void
data_make(uint8_t pictures, uint8_t rows, uint8_t labels, uint8_t label)
{
	uint8_t bytes[16 + 4 * DATA_PIXELS] = { 0, 0, 8, 3, 0, 0, 0, pictures,
		0, 0, 0, rows, 0, 0, 0, 28 };
	uint8_t small[12] = { 0, 0, 8, 1, 0, 0, 0, labels, label, 1, 2, 3 };

	bytes[16] = 255;
	file_write("train-images-idx3-ubyte", bytes,
	    16 + (size_t)pictures * rows * 28);
	file_write("train-labels-idx1-ubyte", small, 8 + (size_t)labels);
}

static void
data_refuses(const char *why)
{
	struct fail f = { "" };
	struct data d;

	if (data_load(&d, ".", NULL, "train", &f) == 0) {
		data_free(&d);
		snprintf(f.text, sizeof f.text, "(loaded)");
	}
	is_str(f.text, why, why);
}

static void
test_data(void)
{
	float x[2 * DATA_PIXELS];
	const uint32_t order[] = { 0, 2, 0 };
	uint8_t y[2];
	struct fail f = { "" };
	struct images all;
	struct data d;

	data_refuses("no readable ./train-images-idx3-ubyte.gz (No such file "
		     "or directory): install the package dataset-fashion-mnist "
		     "or name its folder with --data");
	data_make(3, 28, 2, 0);
	data_refuses(".: 3 train pictures but 2 labels");
	data_make(3, 27, 3, 0);
	data_refuses(".: train pictures are 27x28, not 28x28");
	data_make(3, 28, 3, 10);
	data_refuses(".: train label 0 is 10, above 9");
	data_make(3, 28, 3, 9);
	is_int(data_load(&d, ".", NULL, "train", &f), 0, "a set of three");
	all = data_slice(&d, 0, 3);
	data_gather(&all, order, 1, 2, x, y);
	ok(y[0] == 2 && y[1] == 9, "gathered in the order given");
	is_near(x[DATA_PIXELS] - x[0], 1 / 0.353, 1e-4, "white above black");
	data_free(&d);
}

/* The validation pictures are the last ones, and not among those trained on.
 * Uses the set that test_data() has left. */
static void
test_split(void)
{
	const volatile sig_atomic_t quiet = 0;
	struct options o = { .data = ".",
		.hidden = 4,
		.layers = 2,
		.batch = 2,
		.train_size = 2,
		.validation_size = 1 };
	struct fail f = { "" };
	struct run r;

	is_int(run_init(&r, &o, &quiet, &f), 0, "a run on three pictures");
	ok(r.train.count == 2 && r.train.labels[0] == 9 &&
		r.train.labels[1] == 1,
	    "trained on the first two");
	ok(r.valid.count == 1 && r.valid.labels[0] == 2, "judged by the last");
	is_int(r.net.layers, 3, "two hidden layers");
	run_free(&r);
	o.train_size = 3;
	is_int(run_init(&r, &o, &quiet, &f), -1, "the two may not overlap");
	run_free(&r);
	unlink("train-images-idx3-ubyte");
	unlink("train-labels-idx1-ubyte");
}

static void
options_refuses(const char *argument, const char *why)
{
	char *argv[] = { (char[]){ "train" }, (char[]){ "--optimizer=adam" },
		strdup(argument), NULL };
	struct options o;
	struct fail f = { "(read)" };

	plugin_options_read(&o, 3, argv, &f);
	is_str(f.text, why, argument);
	free(argv[2]);
}

static void
test_options(void)
{
	char *argv[] = { (char[]){ "train" }, (char[]){ "--weight_decay=.5" },
		(char[]){ "--train-size=77" }, (char[]){ "--momentum=0.9" },
		NULL };
	char identity[OPTIONS_IDENTITY_MAX];
	struct options o;
	struct fail f;

	ok(plugin_options_read(&o, 4, argv, &f) == 0 && o.weight_decay == 0.5 &&
		o.train_size == 77 && o.momentum == 0.9,
	    "names with - and with _");
	options_identity(&o, identity);
	is_str(identity,
	    "hidden=128 layers=1 lr=0.050000000000000003 batch=64 "
	    "dropout=0 optimizer=sgd momentum=0.90000000000000002 "
	    "weight-decay=0.5 seed=1 train-size=77 validation-size=5000",
	    "identity");
	o.retune = 1;
	options_identity(&o, identity);
	is_str(identity,
	    "hidden=128 layers=1 optimizer=sgd seed=1 train-size=77 "
	    "validation-size=5000",
	    "with --retune the settings that may change are none of it");
	setenv("HPOTUNE_UNTIL_STEP", "3", 1);
	ok(plugin_options_read(&o, 4, argv, &f) == 0 && o.epochs == 3,
	    "until the step that hpotune gives");
	setenv("HPOTUNE_UNTIL_STEP", "30", 1);
	ok(plugin_options_read(&o, 4, argv, &f) == 0 && o.epochs == 10,
	    "HPOTUNE_UNTIL_STEP does not exceed the user's limit");
	unsetenv("HPOTUNE_UNTIL_STEP");
	options_refuses(
	    "--momentum=0.5", "--momentum: only with --optimizer=sgd");
	options_refuses(
	    "--optimizer=rms", "--optimizer=rms: neither sgd nor adam");
	options_refuses("--lr=0.1x", "--lr=0.1x: not a number");
	options_refuses("--lr=", "--lr=: not a number");
	options_refuses("--lr=nan", "--lr=nan: not within 1e-09 and 100");
	options_refuses("--hidden=0", "--hidden=0: not within 1 and 4096");
	options_refuses("--hidden=1.5", "--hidden=1.5: not a whole number");
	options_refuses("--hidden", "--hidden: write --NAME=VALUE");
	options_refuses("--test=1", "--test: takes no value");
	options_refuses("--hid=1", "--hid=1: no such option (--help)");
	options_refuses("hidden=1", "hidden=1: not an option (--help)");
}

int
main(void)
{
	char dir[] = "/tmp/t_trainer.XXXXXX";

	if (mkdtemp(dir) == NULL || chdir(dir) == -1)
		return 1;
	test_gradient("one hidden layer", 2, 0);
	test_gradient("two hidden layers", 3, 0);
	test_gradient("with dropout", 3, 0.4f);
	test_not_finite();
	test_rng();
	test_optim();
	test_checkpoint_round();
	test_checkpoint_foreign();
	test_checkpoint_damage();
	test_idx_plain();
	test_idx_zipped();
	test_idx_cached();
	test_data();
	test_split();
	test_options();
	if (chdir("/") == -1 || rmdir(dir) == -1)
		ok(false, "the folder of the tests is empty at the end");
	return done_testing();
}
