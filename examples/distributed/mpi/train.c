/*
 * Logistic regression over MPI: each rank has its own points, the gradients are
 * summed with MPI_Allreduce.
 *
 *	mpicc -O2 -o train train.c -lm
 *	train --lr=0.1 --momentum=0.5
 *
 * Rank 0 reports and saves after each epoch; at the same point all ranks check
 * whether one of them received SIGTERM.
 */

#include <math.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 8, POINTS = 512, EPOCHS = 10 };

struct point {
	double x[SIZE];
	int yes;
};

static volatile sig_atomic_t told;

static void
on_term(int sig)
{
	(void)sig;
	told = 1;
}

static double
normal(unsigned *seed)
{
	double sum = -6;
	int i;

	for (i = 0; i < 12; i++)
		sum += rand_r(seed) / (double)RAND_MAX;
	return sum;
}

/* Yes or no, by a line through eight dimensions, with some noise. */
static void
points_make(struct point *p, unsigned seed)
{
	double margin;
	int i, k;

	for (k = 0; k < POINTS; k++) {
		margin = normal(&seed);
		for (i = 0; i < SIZE; i++) {
			p[k].x[i] = normal(&seed);
			margin += p[k].x[i] * (i % 2 ? 1 : -2);
		}
		p[k].yes = margin > 0;
	}
}

static double
guess(const double *w, const struct point *p)
{
	double sum = 0;
	int i;

	for (i = 0; i < SIZE; i++)
		sum += w[i] * p->x[i];
	return 1 / (1 + exp(-sum));
}

static double
loss(const double *w, const struct point *p)
{
	double sum = 0, g;
	int k;

	for (k = 0; k < POINTS; k++) {
		g = guess(w, &p[k]);
		sum -= log(fmax(p[k].yes ? g : 1 - g, 1e-9));
	}
	return sum / POINTS;
}

/* The mean over all points of all ranks. */
static void
gradient(double *g, const double *w, const struct point *p, int ranks)
{
	double mine[SIZE] = { 0 }, error;
	int i, k;

	for (k = 0; k < POINTS; k++) {
		error = guess(w, &p[k]) - p[k].yes;
		for (i = 0; i < SIZE; i++)
			mine[i] += error * p[k].x[i] / (POINTS * ranks);
	}
	MPI_Allreduce(mine, g, SIZE, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static const char *
saved_path(const char *name)
{
	static char path[2][4096];
	const char *dir = getenv("HPOTUNE_CHECKPOINT_DIR");
	char *to = path[strcmp(name, "state") == 0];

	(void)snprintf(
	    to, sizeof path[0], "%s/%s", dir != NULL ? dir : ".", name);
	return to;
}

/* Weights and their speed after an epoch; by a rename, so never half of it. */
static void
save(int epoch, const double *state)
{
	FILE *f = fopen(saved_path("state.new"), "w");
	int i;

	if (f == NULL)
		return;
	(void)fprintf(f, "%d", epoch);
	for (i = 0; i < 2 * SIZE; i++)
		(void)fprintf(f, " %.17g", state[i]);
	if (fclose(f) == 0)
		(void)rename(saved_path("state.new"), saved_path("state"));
}

static int
load(double *state)
{
	FILE *f = fopen(saved_path("state"), "r");
	int epoch = 0, i;

	if (f == NULL)
		return 0;
	if (fscanf(f, "%d", &epoch) != 1)
		epoch = 0;
	for (i = 0; i < 2 * SIZE; i++)
		if (fscanf(f, "%lf", &state[i]) != 1)
			epoch = 0;
	(void)fclose(f);
	return epoch;
}

static double
option(int argc, char **argv, const char *name, double otherwise)
{
	size_t len = strlen(name);
	int i;

	for (i = 1; i < argc; i++)
		if (strncmp(argv[i], name, len) == 0)
			return atof(argv[i] + len);
	return otherwise;
}

int
main(int argc, char **argv)
{
	static struct point mine[POINTS], test[POINTS];
	double state[2 * SIZE] = { 0 }, g[SIZE], lr, momentum;
	double *w = state, *speed = state + SIZE;
	int rank, ranks, epoch, step, i, leave;

	(void)signal(SIGTERM, on_term);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	lr = option(argc, argv, "--lr=", 0.1);
	momentum = option(argc, argv, "--momentum=", 0.5);
	points_make(test, 1);
	points_make(mine, (unsigned)rank + 2);
	for (epoch = load(state) + 1; epoch <= EPOCHS; epoch++) {
		for (step = 0; step < 16; step++) {
			gradient(g, w, mine, ranks);
			for (i = 0; i < SIZE; i++) {
				speed[i] = momentum * speed[i] - lr * g[i];
				w[i] += speed[i];
			}
		}
		if (rank == 0) {
			printf("hpotune: step=%d loss=%.6f\n", epoch,
			    loss(w, test));
			(void)fflush(stdout);
			save(epoch, state);
		}
		leave = told;
		MPI_Allreduce(
		    MPI_IN_PLACE, &leave, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
		if (leave)
			break;
	}
	MPI_Finalize();
	return 0;
}
