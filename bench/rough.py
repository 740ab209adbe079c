"""Problems that fail, are noisy, jump or are wide, for bench/search.py.

fail     failures by chance, beyond an edge at the optimum, out of memory, of whole
         choices, and NaN in place of a failure; chance, of the setting alone: the
         same one always fails
noise    normal noise of a tenth, three tenths and all of the distance from the
         median of random settings to the best, and outliers of ten deviations;
         judged by the value without noise of the setting that looked best
ints     whole numbers alone, of which some act together
wide     20 to 60 parameters of which 3 to 5 matter, numbers alone or mixed
many     choices of 20 to 100 values
tree     conditions in two levels, and a number of layers with sizes of their own

All are sums, products and compositions of few formulas over the unit cube, computed
in microseconds.  Each kind is in two halves: "odd" to choose by, "even" to judge by.
The halves have other functions, other optima and other sizes.
"""

import math
import random

FAILED = None  # in place of a value


def bowl(u, c):
    return sum((1 + i % 3) * (a - b) ** 2 for i, (a, b) in enumerate(zip(u, c)))


def valley(u, c):
    """Rosenbrock's function with its least value at c."""
    z = [1 + 2.5 * (a - b) for a, b in zip(u, c)]
    return sum(4 * (z[i + 1] - z[i] ** 2) ** 2 + (1 - z[i]) ** 2
               for i in range(len(z) - 1)) / len(z)


def waves(u, c):
    return bowl(u, c) + 0.06 * sum(1 - math.cos(15 * (a - b))
                                   for a, b in zip(u, c))


def cusp(u, c):
    """Steep near its least value, and turned by neighbours."""
    z = [u[i] - c[i] + 0.3 * (u[i - 1] - c[i - 1]) for i in range(len(u))]
    return sum(math.sqrt(abs(a) + 1e-4) - 1e-2 for a in z) / len(z)


def plateau(u, c):
    """A curve of learning: near 1 in most places."""
    return 1 - math.exp(-3 * bowl(u, c))


def ackley(u, c):
    n = len(u)
    z = [4 * (a - b) for a, b in zip(u, c)]
    return (20 - 20 * math.exp(-0.2 * math.sqrt(sum(a * a for a in z) / n)) +
            math.e - math.exp(sum(math.cos(math.tau * a) for a in z) / n)) / 10


SHAPES = {"odd": (bowl, waves, plateau), "even": (valley, ackley, cusp)}


class Space:
    """Parameters by their kinds, one letter each: f is a number, l one with a
    logarithmic scale, i a whole number from 1 to 12, b one of powers of two, c a
    choice of five, of which each has a place in the cube."""

    def __init__(self, kinds, rng, sizes=5):
        self.params, self.places = {}, {}
        for at, kind in enumerate(kinds):
            name = "%s%d" % (kind, at)
            self.params[name] = {
                "f": {"type": "float", "min": -1, "max": 3},
                "l": {"type": "float", "min": 1e-5, "max": 1, "scale": "log"},
                "i": {"type": "int", "min": 1, "max": 12},
                "b": {"type": "int", "min": 16, "max": 2048, "scale": "log"},
                "c": {"type": "choice",
                      "values": ["v%d" % v for v in range(sizes)]},
            }[kind]
            if kind == "c":
                places = [(v + rng.random()) / sizes for v in range(sizes)]
                rng.shuffle(places)
                self.places[name] = dict(zip(self.params[name]["values"],
                                             places))

    def cube(self, params):
        return [self.place(k, v) for k, v in params.items()]

    def place(self, name, v):
        if name in self.places:
            return self.places[name][v]
        p = self.params[name]
        low, high = p["min"], p["max"]
        if p.get("scale") == "log":
            return math.log(v / low) / math.log(high / low)
        return (v - low) / (high - low)

    def optimum(self, rng):
        """A place that a setting has, not at a bound of a number."""
        return [self.place(k, self.drawn(k, rng, 0.2)) for k in self.params]

    def drawn(self, name, rng, margin=0.0):
        p = self.params[name]
        if p["type"] == "choice":
            return rng.choice(p["values"])
        u = rng.uniform(margin, 1 - margin)
        low, high = p["min"], p["max"]
        v = (low * (high / low) ** u if p.get("scale") == "log"
             else low + u * (high - low))
        return round(v) if p["type"] == "int" else v

    def random(self, rng):
        return {k: self.drawn(k, rng) for k in self.params}


class Problem:
    """give(params) is a value, NaN or FAILED.  noise: deviation of what the tool
    is told, with a tenth of outliers where outliers holds; chance: the share of
    trials that fail whatever their setting."""

    maximize = False

    def __init__(self, name, space, give, noise=0.0, outliers=False, chance=0.0):
        self.name, self.space, self.give = name, space, give
        self.deviation, self.outliers, self.chance = noise, outliers, chance
        self.noisy = noise > 0
        self.plain = Problem(name, space, give) if self.noisy else self
        self.rng = random.Random(0)

    def start(self, seed):
        self.rng = random.Random("%s %d" % (self.name, seed))

    def value(self, params):
        """What the tool is told; the value without noise is in true."""
        self.true = value = self.give(params)
        if self.chance and self.rng.random() < self.chance:
            return FAILED
        if value is FAILED or not self.noisy:
            return value
        much = 10 if self.outliers and self.rng.random() < 0.1 else 1
        return value + self.rng.gauss(0, self.deviation * much)


def composed(half, turn, kinds, rng):
    """A space, and a function of its settings."""
    shape = SHAPES[half][turn % 3]
    space = Space(kinds, rng)
    c = space.optimum(rng)
    return space, (lambda p: shape(space.cube(p), c)), c


def failing(half, turn, name, kinds):
    """One problem of failures."""
    rng = random.Random("fail %s %s %d" % (half, name, turn))
    space, give, c = composed(half, turn, kinds, rng)
    title, more = "fail-%s %s" % (name, kinds), {}
    names = list(space.params)
    if name == "chance":
        more["chance"] = 0.2 if turn % 2 else 0.35
        told = give
    elif name == "setting":
        def told(p):
            where = random.Random(repr([half] + list(p.values())))
            return math.nan if where.random() < 0.25 else give(p)
    elif name == "edge":
        def told(p):
            u = space.cube(p)
            over = sum(a - b for a, b in zip(u[:2], c[:2]))
            return FAILED if over > 0.04 else give(p)
    elif name == "memory":
        inner = [i for i, k in enumerate(kinds) if k in "ib"][:3]

        def told(p):
            u = space.cube(p)
            used = math.prod(math.exp(3 * (u[i] - c[i])) for i in inner)
            # More is better, up to the limit.
            return (FAILED if used > 1.3 else
                    give(p) - 0.3 * math.log(used) / len(inner))
    elif name == "choice":
        bad = {}
        for n in names:
            if n[0] == "c":
                best = min(space.places[n], key=lambda v: abs(
                    space.places[n][v] - c[names.index(n)]))
                bad[n] = set(rng.sample(
                    [v for v in space.params[n]["values"] if v != best], 2))

        def told(p):
            return (FAILED if any(p[n] in b for n, b in bad.items())
                    else give(p))
    else:
        assert name == "nan"

        def told(p):
            u = space.cube(p)
            return math.nan if abs(u[0] - c[0]) > 0.3 else give(p)
    return Problem(title, space.params, told, **more)


def noisy(half, turn, share, kinds, outliers=False):
    rng = random.Random("noise %s %g %d" % (half, share, turn))
    space, give, _ = composed(half, turn, kinds, rng)
    seen = sorted(give(space.random(rng)) for _ in range(1000))
    return Problem("noise %g%s %s %d" % (share, " outliers" * outliers, kinds,
                                         turn), space.params,
                   give, share * (seen[500] - seen[0]), outliers)


def whole(half, turn, d):
    """Whole numbers as of a network: sizes act by their product, others jump."""
    rng = random.Random("ints %s %d" % (half, d))
    space, give, c = composed(half, turn, "ib" * (d // 2), rng)

    def told(p):
        u = space.cube(p)
        size = sum(u[1::2]) - sum(c[1::2])
        jump = 0.05 * (int(list(p.values())[0]) % 3)
        return give(p) + size * size + jump
    return Problem("ints %d" % d, space.params, told)


def wide(half, turn, kinds, matter):
    rng = random.Random("wide %s %d" % (half, len(kinds)))
    shape = SHAPES[half][turn % 3]
    space = Space(kinds, rng)
    c = space.optimum(rng)
    of = sorted(rng.sample(range(len(kinds)), matter))

    def told(p):
        u = space.cube(p)
        return (shape([u[i] for i in of], [c[i] for i in of]) +
                0.002 * bowl(u, c))
    return Problem("wide %d of %d%s" % (
        matter, len(kinds), " mixed" * (len(set(kinds)) > 1)), space.params,
        told)


def many(half, turn, kinds, sizes):
    rng = random.Random("many %s %d" % (half, sizes))
    shape = SHAPES[half][turn % 3]
    space = Space(kinds, rng, sizes)
    c = space.optimum(rng)
    return Problem("many %s of %d" % (kinds, sizes), space.params,
                   lambda p: shape(space.cube(p), c))


def tree(half, turn):
    """Three models, two of which have a solver with parameters of its own."""
    rng = random.Random("tree %s %d" % (half, turn))
    shape = SHAPES[half][turn % 3]
    space = {"model": {"type": "choice", "values": ["a", "b", "c"]},
             "shared": {"type": "float", "min": 0, "max": 1}}
    best, lift = {"shared": rng.uniform(0.2, 0.8)}, {}
    for m in "abc":
        lift[m] = rng.choice([0, 0.1, 0.3])
        for k in range(2 + turn % 3):
            space["%s%d" % (m, k)] = {"type": "float", "min": 0, "max": 1,
                                      "when": {"model": [m]}}
        if m != "b":
            space[m + "s"] = {"type": "choice", "values": ["p", "q", "r"],
                              "when": {"model": [m]}}
            for s in "pq":
                lift[m + s] = rng.uniform(0, 0.2)
                space[m + s] = {"type": "float", "min": 1e-4, "max": 1e2,
                                "scale": "log", "when": {m + "s": [s]}}
    for k, p in space.items():
        if p["type"] == "float":
            best[k] = rng.uniform(0.2, 0.8)

    def told(p):
        keys = [k for k in p if k in best]
        u = [math.log(p[k] / 1e-4) / math.log(1e6) if "scale" in space[k]
             else p[k] for k in keys]
        own = p["model"] + str(p.get(p["model"] + "s", ""))
        return (shape(u, [best[k] for k in keys]) + lift[p["model"]] +
                lift.get(own, 0.1))
    return Problem("tree %d" % turn, space, told)


def layers(half, turn):
    """One to four layers, each with its size and its share that is dropped."""
    rng = random.Random("layers %s" % half)
    shape = SHAPES[half][turn % 3]
    space = {"layers": {"type": "int", "min": 1, "max": 4},
             "rate": {"type": "float", "min": 1e-5, "max": 1, "scale": "log"}}
    for k in range(1, 5):
        more = {"when": {"layers": list(range(k, 5))}} if k > 1 else {}
        space["size%d" % k] = {"type": "int", "min": 8, "max": 512,
                               "scale": "log", **more}
        space["drop%d" % k] = {"type": "float", "min": 0, "max": 0.8, **more}
    right = rng.randint(2, 4)
    c = [rng.uniform(0.2, 0.8) for _ in range(9)]

    def told(p):
        n = p["layers"]
        u = [math.log(p["rate"] / 1e-5) / math.log(1e5)]
        for k in range(1, n + 1):
            u += [math.log(p["size%d" % k] / 8) / math.log(64),
                  p["drop%d" % k] / 0.8]
        return shape(u, c[:len(u)]) + 0.15 * abs(n - right)
    return Problem("layers", space, told)


def problems(half):
    """The problems of a half, 24 in each."""
    t = 0 if half == "odd" else 1
    kinds = {"odd": ("fflic", "llfic", "fibbi", "flccb"),
             "even": ("lfffc", "flibc", "bibfl", "clfci")}[half]
    out = [failing(half, t, "chance", "ffll"),
           failing(half, t + 1, "chance", kinds[0]),
           failing(half, t + 2, "setting", kinds[1]),
           failing(half, t, "edge", "fffl" if t else "lff"),
           failing(half, t + 1, "edge", kinds[1]),
           failing(half, t, "memory", kinds[2]),
           failing(half, t + 1, "memory", "ibib" + "fl" * t),
           failing(half, t + 2, "choice", kinds[3]),
           failing(half, t, "nan", kinds[0])]
    out += [noisy(half, t, 0.1, "ffff" + "f" * t),
            noisy(half, t + 1, 0.3, "lff" + "l" * t),
            noisy(half, t + 2, 0.3, kinds[1]),
            noisy(half, t, 1, "ffl" + "l" * t),
            noisy(half, t + 1, 1, kinds[0]),
            noisy(half, t + 2, 0.1, kinds[0], True)]
    out += [whole(half, t, 6 + 2 * t)]
    out += ([wide(half, 0, "f" * 20, 3), wide(half, 1, "flicb" * 6, 4)]
            if half == "odd" else
            [wide(half, 0, "flicb" * 8, 4), wide(half, 1, "ficlb" * 12, 5)])
    out += ([many(half, 0, "cff", 50), many(half, 1, "cccf", 20)]
            if half == "odd" else
            [many(half, 0, "cfl", 100), many(half, 2, "ccff", 30)])
    out += [tree(half, t), tree(half, t + 1), tree(half, t + 2),
            layers(half, t)]
    for problem in out:
        kind, _, rest = problem.name.partition(" ")
        problem.name = " ".join((kind, half, rest)).strip()
    return out
