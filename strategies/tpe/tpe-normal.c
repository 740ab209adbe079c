/*
 * The normal distribution including its tails.
 *
 * Quantile: Wichura, "Algorithm AS 241: the percentage points of the normal
 * distribution", Applied Statistics 37 (1988), the version of 16 digits.  Left
 * of TAIL the logarithm of the distribution comes from the asymptotic series of
 * Mills' ratio.
 */

#include <math.h>

#include "strategies/tpe/tpe-normal.h"

#define LOG_SQRT_2PI 0.91893853320467274178
#define TAIL (-35.0) /* erfc still has all its digits here */

double
tpe_normal_log_below(double x)
{
	double y, series;

	if (x > 5)
		return log1p(-0.5 * erfc(x * M_SQRT1_2));
	if (x > TAIL)
		return log(0.5 * erfc(-x * M_SQRT1_2));
	if (isinf(x))
		return x;
	y = 1 / (x * x);
	series =
	    -y * (1 - y * (3 - y * (15 - y * (105 - y * (945 - y * 10395)))));
	return -0.5 * x * x - LOG_SQRT_2PI - log(-x) + log1p(series);
}

double
tpe_normal_log_between(double a, double b)
{
	double la, lb;

	if (a > 0)
		return tpe_normal_log_between(-b, -a);
	if (b > 0)
		return log(0.5 * (erf(b * M_SQRT1_2) - erf(a * M_SQRT1_2)));
	if (b > TAIL)
		return log(0.5 * (erfc(-b * M_SQRT1_2) - erfc(-a * M_SQRT1_2)));
	la = tpe_normal_log_below(a);
	lb = tpe_normal_log_below(b);
	return lb + log1p(-exp(la - lb));
}

/*
 * The density over a short interval is its middle times a series of Hermite
 * polynomials: no difference of two nearly equal numbers.
 */
double
tpe_normal_log_around(double middle, double half)
{
	double m = middle * middle, h = half * half, series;

	if (half > 0.25 || fabs(middle) * half > 0.5)
		return tpe_normal_log_between(middle - half, middle + half);
	series = (((m - 28) * m + 210) * m - 420) * m + 105;
	series = series * h / 72 + ((m - 15) * m + 45) * m - 15;
	series = series * h / 42 + (m - 6) * m + 3;
	series = series * h / 20 + m - 1;
	series = series * h / 6;
	return log(2 * half * (1 + series)) - 0.5 * m - LOG_SQRT_2PI;
}

double
tpe_normal_above(double x)
{
	return x > 8.5 ? 0 : 0.5 * erfc(x * M_SQRT1_2);
}

/* c[0] + c[1] x + … + c[7] x^7 */
static double
tpe_normal_polynomial(const double c[8], double x)
{
	double sum = c[7];
	int i;

	for (i = 6; i >= 0; i--)
		sum = sum * x + c[i];
	return sum;
}

/* The quantile of a small p by r = sqrt(-ln p). */
static double
tail_quantile(double r)
{
	static const double near[2][8] = {
		{ 1.42343711074968357734e0, 4.63033784615654529590e0,
		    5.76949722146069140550e0, 3.64784832476320460504e0,
		    1.27045825245236838258e0, 2.41780725177450611770e-1,
		    2.27238449892691845833e-2, 7.74545014278341407640e-4 },
		{ 1, 2.05319162663775882187e0, 1.67638483018380384940e0,
		    6.89767334985100004550e-1, 1.48103976427480074590e-1,
		    1.51986665636164571966e-2, 5.47593808499534494600e-4,
		    1.05075007164441684324e-9 },
	};
	static const double far[2][8] = {
		{ 6.65790464350110377720e0, 5.46378491116411436990e0,
		    1.78482653991729133580e0, 2.96560571828504891230e-1,
		    2.65321895265761230930e-2, 1.24266094738807843860e-3,
		    2.71155556874348757815e-5, 2.01033439929228813265e-7 },
		{ 1, 5.99832206555887937690e-1, 1.36929880922735805310e-1,
		    1.48753612908506148525e-2, 7.86869131145613259100e-4,
		    1.84631831751005468180e-5, 1.42151175831644588870e-7,
		    2.04426310338993978564e-15 },
	};

	if (r <= 5)
		return -tpe_normal_polynomial(near[0], r - 1.6) /
		       tpe_normal_polynomial(near[1], r - 1.6);
	return -tpe_normal_polynomial(far[0], r - 5) /
	       tpe_normal_polynomial(far[1], r - 5);
}

double
tpe_normal_quantile(double p)
{
	static const double middle[2][8] = {
		{ 3.3871328727963666080e0, 1.3314166789178437745e2,
		    1.9715909503065514427e3, 1.3731693765509461125e4,
		    4.5921953931549871457e4, 6.7265770927008700853e4,
		    3.3430575583588128105e4, 2.5090809287301226727e3 },
		{ 1, 4.2313330701600911252e1, 6.8718700749205790830e2,
		    5.3941960214247511077e3, 2.1213794301586595867e4,
		    3.9307895800092710610e4, 2.8729085735721942674e4,
		    5.2264952788528545610e3 },
	};
	double q = p - 0.5, r = 0.180625 - q * q;

	if (fabs(q) <= 0.425)
		return q * tpe_normal_polynomial(middle[0], r) /
		       tpe_normal_polynomial(middle[1], r);
	if (q < 0)
		return tail_quantile(sqrt(-log(p)));
	return -tail_quantile(sqrt(-log1p(-p)));
}

/*
 * The x far on the left with ln(probability below x) = y, by Newton's method.
 */
static double
log_quantile(double y)
{
	double x = -sqrt(-2 * (y + LOG_SQRT_2PI)), below, dx;
	int i;

	for (i = 0; i < 50; i++) {
		below = tpe_normal_log_below(x);
		dx = (below - y) * exp(below + 0.5 * x * x + LOG_SQRT_2PI);
		x -= dx;
		if (fabs(dx) <= 1e-15 * fabs(x))
			break;
	}
	return x;
}

double
tpe_normal_between_quantile(double q, double a, double b)
{
	double below, above, mass, p, x;

	if (a > 0)
		return -tpe_normal_between_quantile(1 - q, -b, -a);
	if (q <= 0 || q >= 1)
		return q <= 0 ? a : b;
	if (b < -30) {
		below = tpe_normal_log_below(a);
		mass = log(q) + tpe_normal_log_between(a, b);
		p = fmax(below, mass) + log1p(exp(-fabs(below - mass)));
		x = log_quantile(p);
	} else {
		below = tpe_normal_above(-a);
		above = tpe_normal_above(b);
		if (b < 0) {
			below = 0.5 * erfc(-a * M_SQRT1_2);
			mass = 0.5 * erfc(-b * M_SQRT1_2) - below;
		} else
			mass = 1 - below - above;
		p = below + q * mass;
		x = p < 0.5 ? tpe_normal_quantile(p)
			    : -tpe_normal_quantile(above + (1 - q) * mass);
	}
	return x < a ? a : x > b ? b : x;
}
