/*
 * The normal distribution in numerically difficult cases: intervals far in a
 * tail, very short intervals, and quantiles.
 */

#ifndef HPOTUNE_TPE_NORMAL_H
#define HPOTUNE_TPE_NORMAL_H

/* ln of the probability below x. */
double tpe_normal_log_below(double x);
/* ln of the probability between a and b; a < b, both may be infinite. */
double tpe_normal_log_between(double a, double b);
/* The same between middle - half and middle + half, also for tiny half. */
double tpe_normal_log_around(double middle, double half);
/* The probability above x; 0 where it is negligible against 1. */
double tpe_normal_above(double x);
/* The x with probability p below it, 0 < p < 1. */
double tpe_normal_quantile(double p);
/*
 * The x in [a, b] below which a share q, 0 to 1, of the probability between a
 * and b is.
 */
double tpe_normal_between_quantile(double q, double a, double b);

#endif /* HPOTUNE_TPE_NORMAL_H */
