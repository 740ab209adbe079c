#!/usr/bin/env python3
"""How well forms of the covariance predict: random settings of the problems of
bench/mixed.py and of bbob, without a search.

    kernel-forms.py [--half odd|even] [--rows 60] [--draws 2] [--bbob 2,5]

Each form is fitted to the rows by the maximum of its posterior, with the priors
of gp, and predicts 200 other settings; results are standardised and, as in gp,
made normal by Yeo and Johnson's power.  A table: mean of minus the log density
of the other results (less is better), by kind of problem, and in how many of
the problems a form is better than the first.

one       one Matern kernel, 5/2; a choice is 0 or 1 times its relevance (gp, but
          where all parameters are continuous)
product   the Matern kernel of the numbers times exp(-sum of relevances of
          choices that differ)
mixture   CASMOPOLITAN's (Wan et al., ICML 2021): a share of that product, the
          rest half each of the two kernels alone
arc       as one, and a parameter with a condition is on an arc (Hutter and
          Osborne, arXiv:1310.5738): two points without it agree, and a point
          without it is equally far from every point with it
warp      as one, and each number goes through Kumaraswamy's function, with
          normal priors of deviation 0.5 of the logarithms of its two powers
"""

import argparse
import math
import random
import statistics

import mixed
import numpy as np
from scipy import linalg, optimize, stats

FORMS = ["one", "product", "mixture", "arc", "warp"]


def draw(space, rng):
    """A random setting and its row: coordinates in [0, 1], NaN = inactive."""
    params, row = {}, []
    for name, p in space.items():
        if not all(params.get(k) in v for k, v in p.get("when", {}).items()):
            row.append(math.nan)
            continue
        u = rng.random()
        if p["type"] == "choice":
            n = len(p["values"])
            params[name] = p["values"][int(u * n)]
            row.append((int(u * n) + 0.5) / n)
            continue
        low, high, log = p["min"], p["max"], p.get("scale") == "log"
        if p["type"] == "int":
            edges = (low - 0.5, high + 0.5)
            x = (math.exp(math.log(edges[0]) + u * math.log(edges[1] / edges[0]))
                 if log else edges[0] + u * (edges[1] - edges[0]))
            x = params[name] = min(max(round(x), low), high)
            low, high = edges
        else:
            x = params[name] = (low * (high / low) ** u if log
                                else low + u * (high - low))
        row.append(math.log(x / low) / math.log(high / low) if log
                   else (x - low) / (high - low))
    return params, row


class Model:
    """One form on rows x (n x d) with results y."""

    def __init__(self, form, space, x, y):
        self.form, self.y = form, y
        self.choice = np.array([p["type"] == "choice" for p in space.values()])
        self.maybe = np.array(["when" in p for p in space.values()])
        self.d = d = len(self.choice)
        self.x = x
        # ln relevances, ln signal, ln noise, and what the form adds
        self.more = {"mixture": 1, "arc": d, "warp": 2 * d}.get(form, 0)
        self.fit()

    def place(self, x, theta):
        z = np.where(np.isnan(x), 0.5, x)
        if self.form == "warp":
            a, b = np.exp(theta[self.d + 2:].reshape(2, self.d))
            w = 1 - (1 - np.clip(z, 1e-9, 1 - 1e-9) ** a) ** b
            z = np.where(self.choice | np.isnan(x), z, w)
        return z

    def covariance(self, u, v, theta):
        a, signal = np.exp(theta[:self.d]), math.exp(theta[self.d])
        s, t = self.place(u, theta)[:, None], self.place(v, theta)[None]
        apart = np.where(self.choice, s != t, (s - t) ** 2)
        if self.form == "arc":
            reach = np.exp(theta[self.d + 2:])
            no, other = np.isnan(u)[:, None], np.isnan(v)[None]
            bow = 2 * reach * (1 - np.cos((s - t) * np.minimum(
                np.sqrt(a / reach), math.pi))) / a
            arc = np.where(no != other, reach / a, np.where(no, 0, bow))
            apart = np.where(self.maybe & ~self.choice, arc, apart)
        of_numbers = apart[..., ~self.choice] @ a[~self.choice]
        of_choices = apart[..., self.choice] @ a[self.choice]
        if self.form in ("product", "mixture"):
            k, h = matern(of_numbers), np.exp(-of_choices)
            if self.form == "product":
                return signal * k * h
            share = 1 / (1 + math.exp(-theta[self.d + 2]))
            return signal * (share * k * h + (1 - share) * (k + h) / 2)
        return signal * matern(of_numbers + of_choices)

    def loss(self, theta):
        d, n = self.d, len(self.y)
        noise = 1e-6 + math.exp(theta[d + 1])
        k = self.covariance(self.x, self.x, theta) + noise * np.eye(n)
        try:
            factor = linalg.cho_factor(k, lower=True)
        except linalg.LinAlgError:
            return 1e6
        a = np.exp(theta[:d])
        prior = (-0.1 * np.sum(1 / a + a) + theta[d] - math.exp(theta[d]) -
                 30 * noise)
        if self.form == "warp":
            prior -= np.sum(theta[d + 2:] ** 2) / 2 / 0.5 ** 2
        elif self.more:
            prior -= np.sum(theta[d + 2:] ** 2) / 2 / 2 ** 2
        return (0.5 * self.y @ linalg.cho_solve(factor, self.y) +
                np.sum(np.log(np.diag(factor[0]))) - prior)

    def fit(self):
        d = self.d
        bounds = ([(-7, 9)] * d + [(-7, 7), (-16, 1)] +
                  [(-5, 5)] * self.more)
        best = None
        for scale in (0, -2):
            start = np.concatenate([np.full(d, scale), [0, -5],
                                    np.zeros(self.more)])
            found = optimize.minimize(self.loss, start, method="L-BFGS-B",
                                      bounds=bounds, options={"maxiter": 40})
            if best is None or found.fun < best.fun:
                best = found
        self.theta = best.x

    def score(self, x, y):
        """Mean of minus the log densities of the results y at x."""
        noise = 1e-6 + math.exp(self.theta[self.d + 1])
        k = self.covariance(self.x, self.x, self.theta)
        factor = linalg.cho_factor(k + noise * np.eye(len(k)), lower=True)
        cross = self.covariance(x, self.x, self.theta)
        mean = cross @ linalg.cho_solve(factor, self.y)
        self_k = np.array([self.covariance(r[None], r[None], self.theta)[0, 0]
                           for r in x])
        var = self_k - np.sum(
            cross * linalg.cho_solve(factor, cross.T).T, axis=1)
        return -float(np.mean(stats.norm.logpdf(
            y, mean, np.sqrt(np.maximum(var, 1e-9) + noise))))


def matern(r2):
    t = np.sqrt(5 * r2)
    return (1 + t + t * t / 3) * np.exp(-t)


def scores(problem, forms, rows, seed):
    rng = random.Random(seed)
    seen = [draw(problem.space, rng) for _ in range(rows + 200)]
    y = np.array([problem.value(p) for p, _ in seen])
    x = np.array([r for _, r in seen])
    middle = np.median(y)
    y = np.minimum(y, middle + 10 * (middle - y.min()))
    y = (y - y[:rows].mean()) / y[:rows].std()
    _, power = stats.yeojohnson(y[:rows])
    y = stats.yeojohnson(y, power)
    y = (y - y[:rows].mean()) / y[:rows].std()
    return [Model(f, problem.space, x[:rows], y[:rows]).score(
        x[rows:], y[rows:]) for f in forms]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--half", default="odd", choices=("odd", "even"))
    ap.add_argument("--rows", type=int, default=60)
    ap.add_argument("--draws", type=int, default=2)
    ap.add_argument("--bbob", help="dimensions")
    ap.add_argument("--forms", default=",".join(FORMS))
    ap.add_argument("--kinds", default="")
    args = ap.parse_args()
    forms = args.forms.split(",")
    problems = mixed.problems(args.half)
    for d in args.bbob.split(",") if args.bbob else ():
        problems += [mixed.plain(f, int(d))
                     for f in range(1 if args.half == "odd" else 2, 25, 2)]
    kinds = {}
    for problem in problems:
        kind = problem.name.split()[0]
        if args.kinds and kind not in args.kinds.split(","):
            continue
        found = [scores(problem, forms, args.rows, 1 + i)
                 for i in range(args.draws)]
        kinds.setdefault(kind, []).append(
            [statistics.mean(f) for f in zip(*found)])
        print("#", problem.name, *("%.3f" % s for s in kinds[kind][-1]),
              flush=True)
    print("| problems | " + " | ".join(forms) + " |")
    print("|---" * (len(forms) + 1) + "|")
    for kind, rows in kinds.items():
        print("| %s (%d) | " % (kind, len(rows)) + " | ".join(
            "%.3f (%d)" % (statistics.mean(s), sum(
                a < b for a, b in zip(s, list(zip(*rows))[0])))
            for s in zip(*rows)) + " |")


if __name__ == "__main__":
    main()
