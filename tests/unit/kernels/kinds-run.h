/* What t_kinds.c compares, by the loops of one kind of processor. */

static void
KIND(tile_run)(
    struct results *r, size_t d, size_t numbers, double spread, size_t to)
{
	double strip[COORDINATES_MOST * STRIP], c[COORDINATES_MOST];
	double k[STRIP] = { 0 }, slope[STRIP] = { 0 };
	double local[STRIP] = { 0 }, scale[COORDINATES_MOST];
	double total[(COORDINATES_MOST + 1) * LANES] = { 0 };
	double sum[COORDINATES_MOST] = { 0 };
	size_t from[COORDINATES_MOST], i;
	struct gp_coordinates s = shape_of(d, numbers, 0.25, from, scale);
	struct gp_tile_pairs p = { 3, (int)to - 1, 0.75, k, slope, slope,
		local };

	strip_fill(strip, c, d, numbers);
	for (i = 0; i < numbers * STRIP; i++)
		strip[i] = c[i / STRIP] + spread * (strip[i] - c[i / STRIP]);
	KIND(tile_distance)(&s, c, strip, to, k);
	keep(r, k, STRIP);
	KIND(tile_values_at)(&s, k, to, slope);
	keep(r, slope, STRIP);
	KIND(tile_shift)(&s, 0, c[0], c[0] + 1, strip, to, k);
	KIND(tile_shift)(&s, d - 1, c[d - 1], c[d - 1] + 1, strip, to, k);
	keep(r, k, STRIP);
	KIND(tile_values)(&s, c, strip, GROUP, to, k);
	keep(r, k, STRIP);
	KIND(tile_both)(&s, c, strip, 0, to, k, slope, local);
	keep(r, k, STRIP);
	keep(r, slope, STRIP);
	keep(r, local, STRIP);
	k[0] = KIND(tile_dot)(k, slope, to);
	keep(r, k, 1);
	KIND(tile_gradient)(&s, c, strip, &p, GROUP, to, total);
	keep(r, total, (d + 1) * LANES);
	KIND(tile_pull)(&s, c, strip, to, slope, sum);
	keep(r, sum, d);
}

static void
KIND(few_run)(struct results *r, size_t n)
{
	static double l[TRIANGLE_MOST * STRIDE];
	static double x[TRIANGLE_MOST * FEW_LANE];

	matrix_fill(l, n, STRIDE);
	uniform_fill(x, n * FEW_LANE, -0.5);
	KIND(few_forward)(l, n, STRIDE, x);
	keep(r, x, n * FEW_LANE);
	KIND(few_back)(l, n, STRIDE, x);
	keep(r, x, n * FEW_LANE);
}

static void
KIND(triangle_run)(struct results *r, size_t n)
{
	static struct lines l, x;
	static double a[TRIANGLE_MOST * STRIDE], to[TRIANGLE_MOST];
	size_t i;

	matrix_fill(l.v[0], TRIANGLE_MOST, TRIANGLE_MOST);
	memset(&x, 0, sizeof x);
	for (i = 0; i < n; i++)
		x.v[i][i] = 1;
	if (KIND(triangle_invert)(&l, &x, n) != 0)
		return;
	keep(r, x.v[0], n * TRIANGLE_MOST);
	memset(&l, 0, sizeof l);
	KIND(triangle_square)(&x, &l, n);
	keep(r, l.v[0], n * TRIANGLE_MOST);
	matrix_fill(a, n, STRIDE);
	memset(to, 0, sizeof to);
	KIND(triangle_times)(a, n, STRIDE, x.v[0], to);
	keep(r, x.v[0], n);
	keep(r, to, n);
	matrix_fill(a, n, n);
	if (!KIND(cholesky_factor)(a, n))
		return;
	keep(r, a, n * n);
	KIND(cholesky_forward)(a, n, n / 3, to);
	keep(r, to, n);
}

static void
KIND(kind_run)(struct results *r, size_t n)
{
	size_t d = 1 + n % COORDINATES_MOST;

	r->n = 0;
	KIND(tile_run)(r, d, d, 1, STRIP);
	KIND(tile_run)(r, d, d / 2, 1, 2 * GROUP);
	KIND(tile_run)(r, d, d, 1e-3, 3 * GROUP);
	KIND(few_run)(r, n);
	KIND(triangle_run)(r, (n + 3) / 4 * 4);
}
