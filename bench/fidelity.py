"""Peers that search and stop together, for bench/search.py --equal-epochs:
Syne Tune's schedulers, and a freeze-thaw search."""

import datetime
import logging
import math


class SyneTune:
    """A scheduler of syne_tune.optimizer.baselines, by its name.  Those
    without time_attr, as BORE, stop no trial."""

    def __init__(self, scheduler, epochs):
        import syne_tune.optimizer.baselines
        logging.disable(logging.WARNING)
        self.scheduler = getattr(syne_tune.optimizer.baselines, scheduler)
        self.epochs = epochs

    def start(self, problem, seed):
        import numpy
        from syne_tune import config_space
        numpy.random.seed(seed)
        made = {("int", None): config_space.randint,
                ("int", "log"): config_space.lograndint,
                ("float", None): config_space.uniform,
                ("float", "log"): config_space.loguniform}
        space = {name: made[p["type"], p.get("scale")](p["min"], p["max"])
                 for name, p in problem.space.items()}
        words = self.scheduler.__init__.__code__.co_varnames
        self.stops = "time_attr" in words
        more = ({"time_attr": "epoch", "max_t": self.epochs}
                if self.stops else {})
        self.made = self.scheduler(
            space, metric="value", do_minimize=not problem.maximize,
            random_seed=seed, **more)
        self.asked = 0

    def ask(self):
        from syne_tune.backend.trial_status import Trial
        config = self.made.suggest().config
        self.trial = Trial(trial_id=self.asked, config=config,
                           creation_time=datetime.datetime.now())
        self.asked += 1
        self.made.on_trial_add(self.trial)
        return config

    def report(self, step, value):
        return (self.stops and step < self.epochs and
                self.made.on_trial_result(
                    self.trial, {"epoch": step, "value": value}) == "STOP")

    def end(self, value, stopped):
        if stopped:
            self.made.on_trial_remove(self.trial)
        else:
            self.made.on_trial_complete(
                self.trial, {"epoch": self.epochs, "value": value})


class FreezeThaw:
    """One epoch at a time for the setting of a pool of random ones whose next
    epoch has the greatest expected improvement over the best value known at
    that epoch (Wistuba et al., "Supervising the multi-fidelity race of
    hyperparameter configurations", 2022, DyHPO), with the Gaussian process of
    settings and curves of Swersky et al., "Freeze-thaw Bayesian optimization",
    2014, in place of a deep kernel.  The last epochs are spent on the end of
    the setting that is best then."""

    POOL = 500
    REFIT = (20, 60, 180, 540, 1620)  # epochs
    NOISE = 1e-3

    def __init__(self, epochs):
        self.epochs = epochs

    def run(self, problem, seed, budget):
        """Best final value, smaller is better, after each full trial's worth
        of epochs."""
        import numpy
        self.np = numpy
        self.rng = numpy.random.default_rng(seed)
        self.unit = self.rng.random((self.POOL, len(problem.space)))
        self.curves, self.seen = {}, []
        self.done = numpy.zeros(self.POOL, dtype=int)
        self.scales = numpy.full(len(problem.space), 0.7)
        out, best = [], math.inf
        for used in range(1, budget + 1):
            i = self.choose(budget - used + 1)
            if i not in self.curves:
                curve = problem.curve(self.params(problem.space, i),
                                      range(1, self.epochs + 1))
                self.curves[i] = [-v if problem.maximize else v
                                  for v in curve]
            self.done[i] += 1
            self.seen.append((i, self.done[i]))
            if self.done[i] == self.epochs:
                best = min(best, self.curves[i][-1])
            if used in self.REFIT:
                self.refit()
            elif used > self.REFIT[0]:
                self.append(i)
            if used % self.epochs == 0:
                out.append(best)
        return out

    def params(self, space, i):
        params = {}
        for u, (name, p) in zip(self.unit[i], space.items()):
            low, high = p["min"], p["max"]
            if p.get("scale") == "log":
                value = low * (high / low) ** u
            else:
                value = low + u * (high - low)
            params[name] = round(value) if p["type"] == "int" else value
        return params

    def value(self, seen):
        return self.curves[seen[0]][seen[1] - 1]

    def choose(self, left):
        np = self.np
        if len(self.seen) < self.REFIT[0]:
            return len(self.seen) % self.POOL  # of random settings
        top = min(self.seen, key=self.value)[0]
        if self.epochs > self.done[top] >= self.epochs - left:
            return top
        at_step = {}
        for seen in self.seen:
            at_step[seen[1]] = min(at_step.get(seen[1], math.inf),
                                   self.value(seen))
        least = min(at_step.values())
        known = np.array([at_step.get(t + 1, least) for t in self.done])
        deviation = np.sqrt(np.maximum(self.variance, 1e-12))
        z = ((known - self.mean) / self.unit_value - self.middle) / deviation
        normal = np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
        below = np.array([(1 + math.erf(v / math.sqrt(2))) / 2 for v in z])
        gain = deviation * (z * below + normal)
        gain[self.done == self.epochs] = -1
        return int(np.argmax(gain))

    def kernel(self, a, steps_a, b, steps_b, scales):
        """Of settings a and b of the pool at these steps."""
        np = self.np
        x = self.unit / scales
        square = ((x[a] ** 2).sum(1)[:, None] + (x[b] ** 2).sum(1) -
                  2 * x[a] @ x[b].T)
        r = np.sqrt(5 * np.maximum(square, 0))
        near = (1 + r + r * r / 3) * np.exp(-r)
        t = np.log(steps_a)[:, None] - np.log(steps_b)
        late = np.exp(-t * t / 2)
        same = a[:, None] == b
        return near * (0.5 + 0.5 * late) + 0.2 * same * late

    def refit(self):
        """New scales by the likelihood of the last values, and the posterior
        from all values."""
        np = self.np
        values = np.array([self.value(s) for s in self.seen])
        self.mean, self.unit_value = values.mean(), values.std() + 1e-9
        last = {s[0]: k for k, s in enumerate(self.seen)}
        some = list(last.values())[-200:]
        i, t = np.array([self.seen[k] for k in some]).T
        y = (values[some] - self.mean) / self.unit_value
        best = -math.inf
        for k in range(40):
            scales = (self.scales if k == 0 else
                      np.exp(self.rng.uniform(-1.6, 1.6, len(self.scales))))
            lower = np.linalg.cholesky(self.kernel(i, t, i, t, scales) +
                                       self.NOISE * np.eye(len(y)))
            w = np.linalg.solve(lower, y)
            score = -w @ w / 2 - np.log(np.diag(lower)).sum()
            if score > best:
                best, self.scales = score, scales
        pool = np.arange(self.POOL)
        n = len(self.seen)
        size = max(n, 64) * 4
        self.lower, self.z = np.zeros((size, size)), np.zeros(size)
        self.across = np.zeros((size, self.POOL))
        i, t = np.array(self.seen).T
        self.lower[:n, :n] = np.linalg.cholesky(
            self.kernel(i, t, i, t, self.scales) + self.NOISE * np.eye(n))
        self.z[:n] = np.linalg.solve(
            self.lower[:n, :n], (values - self.mean) / self.unit_value)
        self.across[:n] = np.linalg.solve(
            self.lower[:n, :n],
            self.kernel(i, t, pool, self.done + 1, self.scales))
        self.middle = self.across[:n].T @ self.z[:n]
        self.variance = 1.2 - (self.across[:n] ** 2).sum(0)

    def append(self, i):
        """The newest value, of setting i, whose next epoch is another one."""
        from scipy.linalg import solve_triangular
        np = self.np
        n = len(self.seen) - 1
        one = np.array([i])
        old_i, old_t = np.array(self.seen[:n]).T
        lower = self.lower[:n, :n]

        def against(step):
            return solve_triangular(lower, self.kernel(
                old_i, old_t, one, np.array([step]), self.scales)[:, 0],
                lower=True, check_finite=False)

        pool = np.arange(self.POOL)
        row = against(self.done[i])
        diagonal = math.sqrt(max(1.2 + self.NOISE - row @ row, self.NOISE))
        y = (self.value(self.seen[-1]) - self.mean) / self.unit_value
        self.lower[n, :n], self.lower[n, n] = row, diagonal
        self.z[n] = (y - row @ self.z[:n]) / diagonal
        self.across[:n, i] = against(self.done[i] + 1)
        self.across[n] = (self.kernel(
            one, self.done[one], pool, self.done + 1, self.scales)[0] -
            row @ self.across[:n]) / diagonal
        self.middle += self.across[n] * self.z[n]
        self.variance -= self.across[n] ** 2
        self.middle[i] = self.across[:n + 1, i] @ self.z[:n + 1]
        self.variance[i] = 1.2 - (self.across[:n + 1, i] ** 2).sum()
