/*
 * A product of matrices for one kind of processor.  mlp-product.c includes this
 * file once for each kind, with these macros:
 *
 * TILE(name)	the name of a function or type of this kind
 * TILE_TARGET	the attribute that selects its instructions, or nothing
 * TILE_WIDE	numbers of a vector
 * TILE_HALF	numbers of the vector in which a row may end
 * TILE_ROWS	rows of a tile, 4 or 8: three vectors for each of them, and the
 *		operands, fit the registers of the processor
 */

#define tile_wide TILE(wide)
#define tile_half TILE(half)
#define tile_one TILE(one)
#define tile_strip TILE(strip)
#define tile_all TILE(all)

typedef float tile_wide __attribute__((
    vector_size(TILE_WIDE * sizeof(float)), aligned(4), may_alias));
typedef float tile_half __attribute__((
    vector_size(TILE_HALF * sizeof(float)), aligned(4), may_alias));

/* gcc keeps vectors with names in registers, but not those of an array. */
#define TILE_EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)

#define TILE_ZERO(i)                                        \
	tile_wide u##i = { 0 }, v##i = { 0 }, w##i = { 0 }; \
	tile_half h##i = { 0 };

#define TILE_STEP(i)                                                \
	if (TILE_ROWS > (i)) {                                      \
		const float s = by_rows ? a[(i)*lda] : a[i];        \
                                                                    \
		if (wide > 0)                                       \
			u##i += s * *(const tile_wide *)b;          \
		if (wide > 1)                                       \
			v##i += s * *(const tile_wide *)(b + one);  \
		if (wide > 2)                                       \
			w##i += s * *(const tile_wide *)(b + two);  \
		if (half)                                           \
			h##i += s * *(const tile_half *)(b + ends); \
	}

#define TILE_STORE(i)                                                \
	if (TILE_ROWS > (i) && (i) < rows) {                         \
		float *to = c + (i)*n;                               \
		float row[3 * TILE_WIDE + TILE_HALF];                \
                                                                     \
		if (columns < ends + half * TILE_HALF)               \
			to = row;                                    \
		if (wide > 0)                                        \
			*(tile_wide *)to = u##i;                     \
		if (wide > 1)                                        \
			*(tile_wide *)(to + one) = v##i;             \
		if (wide > 2)                                        \
			*(tile_wide *)(to + two) = w##i;             \
		if (half)                                            \
			*(tile_half *)(to + ends) = h##i;            \
		if (to == row)                                       \
			memcpy(c + (i)*n, row, columns * sizeof *c); \
	}

/*
 * At most TILE_ROWS rows of c, and wide vectors and a half of its columns.  Rows
 * of a beyond the last one, and numbers of b beyond the last column, are read
 * without influence.
 */
static inline __attribute__((always_inline)) TILE_TARGET void
tile_one(const size_t wide, const bool half, const bool by_rows, const float *a,
    size_t lda, const float *b, size_t k, float *c, size_t n, size_t rows,
    size_t columns)
{
	const size_t one = TILE_WIDE, two = 2 * one, ends = wide * one;

	TILE_EACH(TILE_ZERO)
	for (; k > 0; k--) {
		TILE_EACH(TILE_STEP)
		a += by_rows ? 1 : lda;
		b += n;
	}
	TILE_EACH(TILE_STORE)
}

/* All rows of some columns. */
static inline __attribute__((always_inline)) TILE_TARGET void
tile_strip(const size_t wide, const bool half, const bool by_rows,
    const float *a, size_t lda, const float *b, size_t k, float *c, size_t m,
    size_t n, size_t columns)
{
	size_t i;

	for (i = 0; i < m; i += TILE_ROWS)
		tile_one(wide, half, by_rows, a + (by_rows ? i * lda : i), lda,
		    b, k, c + i * n, n,
		    m - i < TILE_ROWS ? m - i : (size_t)TILE_ROWS, columns);
}

static inline __attribute__((always_inline)) TILE_TARGET void
tile_all(const bool by_rows, const float *a, size_t lda, const float *b,
    size_t k, float *c, size_t m, size_t n)
{
	size_t at, wide, some;
	bool half;

	for (at = 0; at < n; at += some) {
		wide = (n - at) / TILE_WIDE;
		half = wide < 3 && (n - at) % TILE_WIDE > 0;
		if (half && (n - at) % TILE_WIDE > TILE_HALF) {
			half = false;
			wide++;
		}
		wide = wide < 3 ? wide : 3;
		some = wide * TILE_WIDE + half * TILE_HALF;
		some = some < n - at ? some : n - at;
#define TILE_STRIP(w, h)                \
	if (wide == (w) && half == (h)) \
		tile_strip(             \
		    w, h, by_rows, a, lda, b + at, k, c + at, m, n, some);
		TILE_STRIP(3, false)
		TILE_STRIP(2, false)
		TILE_STRIP(1, false)
		TILE_STRIP(2, true)
		TILE_STRIP(1, true)
		TILE_STRIP(0, true)
#undef TILE_STRIP
	}
}

static TILE_TARGET void
TILE(rows)(const float *a, size_t lda, const float *b, size_t k, float *c,
    size_t m, size_t n)
{
	tile_all(true, a, lda, b, k, c, m, n);
}

static TILE_TARGET void
TILE(columns)(const float *a, size_t lda, const float *b, size_t k, float *c,
    size_t m, size_t n)
{
	tile_all(false, a, lda, b, k, c, m, n);
}

#undef tile_wide
#undef tile_half
#undef tile_one
#undef tile_strip
#undef tile_all
#undef TILE
#undef TILE_TARGET
#undef TILE_WIDE
#undef TILE_HALF
#undef TILE_ROWS
#undef TILE_EACH
#undef TILE_ZERO
#undef TILE_STEP
#undef TILE_STORE
