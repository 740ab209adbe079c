"""Samplers of other projects for bench/search.py, each by the ask and tell of
its own: BoTorch, HEBO, SMAC3, Nevergrad (all of PyPI), besides Optuna's in
search.py.
Spaces of numbers and choices without conditions; one trial at a time.
"""

import importlib.util
import math
import warnings


def is_log(p):
    return p.get("scale") == "log"


class Peer:
    """What they share: the direction, and that smaller is better for them."""

    def start(self, problem, seed):
        if any("when" in p for p in problem.space.values()):
            raise SystemExit("%s: no conditions" % type(self).__name__)
        self.sign = -1 if problem.maximize else 1
        self.space, self.trial, self.last = problem.space, 0, None
        self.open(seed)

    def ask(self):
        self.trial += 1
        params = self.suggest()
        return {k: self.plain(params[k], p) for k, p in self.space.items()}

    def plain(self, value, p):
        return {"int": int, "float": float}.get(p["type"], str)(value)

    def end(self, value, _stopped):
        self.tell(self.sign * value)


class Hebo(Peer):
    """HEBO, with its defaults (Cowen-Rivers et al. 2022)."""

    module = "hebo"

    def open(self, seed):
        import numpy
        import pandas
        import torch
        # HEBO 0.3.2 and pymoo 0.5 are of before pandas 2.0 and NumPy 1.24.
        for kind in (object, int, float):
            setattr(numpy, kind.__name__, kind)
        pandas.DataFrame.append = lambda a, b, ignore_index=False: pandas.concat(
            [a, b], ignore_index=ignore_index)
        from hebo.design_space.design_space import DesignSpace
        from hebo.optimizers.hebo import HEBO
        numpy.random.seed(seed)
        torch.manual_seed(seed)
        torch.set_num_threads(1)
        self.optimizer = HEBO(DesignSpace().parse(
            [self.parameter(k, p) for k, p in self.space.items()]))

    def parameter(self, name, p):
        if p["type"] == "choice":
            return {"name": name, "type": "cat", "categories": p["values"]}
        kind = {"float": "num", "int": "int"}[p["type"]]
        if is_log(p):
            kind = {"num": "pow", "int": "pow_int"}[kind]
        more = {"base": 10} if is_log(p) else {}
        return {"name": name, "type": kind, "lb": p["min"], "ub": p["max"],
                **more}

    def suggest(self):
        self.asked = self.optimizer.suggest(n_suggestions=1)
        return self.asked.iloc[0].to_dict()

    def tell(self, loss):
        import numpy
        self.optimizer.observe(self.asked, numpy.array([[loss]]))


class Smac(Peer):
    """The facade of SMAC3 for hyperparameters (random forest), or NAME
    BlackBoxFacade (Gaussian process)."""

    module = "smac"

    def __init__(self, name):
        self.name = name

    def open(self, seed):
        import tempfile
        import ConfigSpace
        import smac
        space = ConfigSpace.ConfigurationSpace(seed=seed)
        space.add([self.parameter(ConfigSpace, k, p)
                   for k, p in self.space.items()])
        self.folder = tempfile.TemporaryDirectory()
        scenario = smac.Scenario(space, deterministic=True, n_trials=10000,
                                 seed=seed, output_directory=self.folder.name)
        facade = getattr(smac, self.name)
        self.facade = facade(
            scenario, lambda config, seed=0: 0.0, overwrite=True,
            initial_design=facade.get_initial_design(scenario, n_configs=10),
            logging_level=False)

    def parameter(self, lib, name, p):
        if p["type"] == "choice":
            return lib.Categorical(name, p["values"])
        kind = {"float": lib.Float, "int": lib.Integer}[p["type"]]
        return kind(name, (p["min"], p["max"]), log=is_log(p))

    def suggest(self):
        self.asked = self.facade.ask()
        return dict(self.asked.config)

    def tell(self, loss):
        from smac.runhistory.dataclasses import TrialValue
        self.facade.tell(self.asked, TrialValue(cost=loss))


class Nevergrad(Peer):
    """An optimizer of Nevergrad, by default NGOpt, with the budget it needs to
    know: that of the run."""

    module = "nevergrad"
    budget = 100

    def __init__(self, name):
        self.name = name

    def open(self, seed):
        import nevergrad
        space = nevergrad.p.Dict(**{k: self.parameter(nevergrad.p, p)
                                    for k, p in self.space.items()})
        space.random_state.seed(seed)
        self.optimizer = nevergrad.optimizers.registry[self.name](
            parametrization=space, budget=self.budget)

    def parameter(self, lib, p):
        if p["type"] == "choice":
            return lib.Choice(p["values"])
        made = (lib.Log if is_log(p) else lib.Scalar)(
            lower=p["min"], upper=p["max"])
        return made.set_integer_casting() if p["type"] == "int" else made

    def suggest(self):
        self.asked = self.optimizer.ask()
        return self.asked.value

    def tell(self, loss):
        self.optimizer.tell(self.asked, loss if math.isfinite(loss) else 1e300)


class Botorch(Peer):
    """The loop of BoTorch's documentation for numbers, with its defaults: the
    logarithm of the expected improvement of a SingleTaskGP.  The start is that of
    Ax: the middle, then Sobol points, five trials in all."""

    module = "botorch"
    n_first = 5

    def open(self, seed):
        import torch
        if any(p["type"] == "choice" for p in self.space.values()):
            raise SystemExit("botorch: no choices")
        torch.manual_seed(seed)
        torch.set_num_threads(1)
        self.torch = torch
        n = len(self.space)
        self.first = torch.quasirandom.SobolEngine(
            n, scramble=True, seed=seed).draw(self.n_first, dtype=torch.double)
        self.first[0] = 0.5
        self.x = torch.empty(0, n, dtype=torch.double)
        self.y = torch.empty(0, 1, dtype=torch.double)

    def value_at(self, u, p):
        low, high = p["min"], p["max"]
        if is_log(p):
            value = math.exp(math.log(low) + u * math.log(high / low))
        else:
            value = low + u * (high - low)
        return min(max(round(value), low), high) if p["type"] == "int" \
            else min(max(value, low), high)

    def best_improvement(self):
        from botorch.acquisition import LogExpectedImprovement
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskGP
        from botorch.optim import optimize_acqf
        from gpytorch.mlls import ExactMarginalLogLikelihood
        gp = SingleTaskGP(self.x, self.y)
        fit_gpytorch_mll(ExactMarginalLogLikelihood(gp.likelihood, gp))
        n = self.x.shape[1]
        bounds = self.torch.stack([self.torch.zeros(n), self.torch.ones(n)])
        row, _ = optimize_acqf(
            LogExpectedImprovement(gp, best_f=self.y.max()),
            bounds=bounds.double(), q=1, num_restarts=10, raw_samples=512)
        return row[0].detach()

    def suggest(self):
        done = self.x.shape[0]
        self.row = self.first[done] if done < self.n_first \
            else self.best_improvement()
        return {k: self.value_at(float(u), p)
                for u, (k, p) in zip(self.row, self.space.items())}

    def tell(self, loss):
        value = self.torch.tensor([[-loss]], dtype=self.torch.double)
        self.x = self.torch.cat([self.x, self.row[None]])
        self.y = self.torch.cat([self.y, value])


KINDS = {"botorch": lambda name: Botorch(),
         "hebo": lambda name: Hebo(),
         "smac": lambda name: Smac(name or "HyperparameterOptimizationFacade"),
         "nevergrad": lambda name: Nevergrad(name or "NGOpt")}
MODULES = {"botorch": "botorch", "hebo": "hebo", "smac": "smac",
           "nevergrad": "nevergrad", "optuna": "optuna", "syne": "syne_tune"}


# In OptunaHub's registry: the folder, and the class.
HUB = {"auto": ("auto_sampler", "AutoSampler"),
       "turbo": ("turbo", "TuRBOSampler"),
       "catcmawm": ("catcmawm", "CatCmawmSampler"),
       "confopt": ("confopt_sampler", "ConfOptSampler")}
HUB_MODULES = {"catcmawm": "cmaes", "confopt": "confopt"}


def missing(tool):
    """The module that KIND:NAME needs and Python does not have, or None."""
    module = MODULES.get(tool.partition(":")[0])
    if tool.startswith(("optuna:GPSampler", "hub:")):
        module = (HUB_MODULES.get(tool.partition(":")[2], "torch")
                  if found("optuna") else "optuna")
    return None if module is None or found(module) else module


def found(module):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.util.find_spec(module) is not None
