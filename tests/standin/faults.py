"""Injected faults by seed: kinds, rates, and counts.

The services query this module at each chance.  The specification is an object
of the kinds below.  A value is a probability, or an object, or a list of
objects, with "p" (1) and any of "on" (patterns of service.Operation, or of
instance types), "max" (at most this many), "after_count" (not at the first
chances) and "seconds" (a number or [least, most]).  Seconds are real ones:
--speed does not shorten them.

Requests: throttle, denied (no permission), error500_before, error503_before,
error500_after (it acted), drop_before, drop_after (it acted, the connection
closes), twice (it came two times, the second is answered), delay (seconds,
then the answer), late_create (dropped, and acts seconds later).  Answers:
retry_after (seconds, header), stale_list (as it was seconds ago),
list_empty_page, clock_skew (seconds), expire_credentials (every: uses of a
session), event_lost, event_twice, event_refused (an entry that is put).  Jobs:
spot_interrupt (seconds into a run of the training, or per_hour), no_capacity
(market: spot or on-demand; spot may come seconds later), spot_ignored (made
on-demand), bad_role (it cannot be assumed: refused), role_denied (it may not
read the data: the job fails before it trains), internal_failure, slow_stop and
slow_upload (seconds), checkpoint_markers.  Logs: log_delay (seconds),
log_split, log_duplicate, log_empty_page, log_token_expired."""

import fnmatch
import random

REQUEST = ("throttle", "denied", "error500_before", "error503_before",
           "error500_after", "drop_before", "drop_after", "twice",
           "delay", "late_create")
KNOWN = REQUEST + (
    "retry_after", "stale_list", "list_empty_page", "clock_skew",
    "expire_credentials", "spot_interrupt", "no_capacity", "spot_ignored",
    "internal_failure", "log_delay", "log_split", "log_duplicate",
    "log_empty_page", "log_token_expired", "event_lost", "event_twice",
    "event_refused",
    "checkpoint_markers", "slow_stop", "slow_upload", "bad_role",
    "role_denied")


class Rule:
    """One line of the specification."""

    def __init__(self, kind, said):
        if isinstance(said, (int, float)):
            said = {"p": said}
        self.kind = kind
        self.said = said
        self.p = float(said.get("p", 1.0))
        self.on = said.get("on", "*")
        if isinstance(self.on, str):
            self.on = [self.on]
        self.most = said.get("max")
        self.after = said.get("after_count", 0)
        self.chances = 0
        self.hits = 0

    def draw(self, rng, name):
        if not any(fnmatch.fnmatchcase(name, on) for on in self.on):
            return False
        self.chances += 1
        hit = rng.random() < self.p
        if self.chances <= self.after or not hit or \
                (self.most is not None and self.hits >= self.most):
            return False
        self.hits += 1
        return True


class Faults:
    def __init__(self, spec, seed, journal):
        self.seed = seed
        self.journal = journal
        self.rngs = {}
        self.load(spec)

    def load(self, spec):
        """Takes a specification in place of the one before."""
        unknown = sorted(set(spec) - set(KNOWN))
        if unknown:
            raise ValueError("unknown faults: " + ", ".join(unknown))
        self.rules = {}
        for kind, said in spec.items():
            said = said if isinstance(said, list) else [said]
            self.rules[kind] = [Rule(kind, one) for one in said]
            self.rngs.setdefault(kind, random.Random("%s %s" % (self.seed,
                                                                kind)))
        self.skew = float(self.first("clock_skew").get("seconds", 0))
        if self.skew:
            self.journal.fault("clock_skew")
        self.retry_after = self.first("retry_after").get("seconds")
        self.retry_header = self.first("retry_after").get("header",
                                                          "Retry-After")
        self.wear = self.first("expire_credentials").get("every")

    def first(self, kind):
        rules = self.rules.get(kind)
        return rules[0].said if rules else {}

    def strikes(self, kind, name="*", count=True, market=None):
        """The rule of this kind that strikes now, None when none does.

        count: it is a fault by now, not only a plan of one."""
        for rule in self.rules.get(kind, ()):
            if rule.said.get("market", market) == market and \
                    rule.draw(self.rngs[kind], name):
                if count:
                    self.journal.fault(kind)
                return rule
        return None

    def request(self, name):
        """What happens to this request: a rule or None."""
        for kind in REQUEST:
            if kind in self.rules:
                if kind == "late_create" and \
                        name != "sagemaker.CreateTrainingJob":
                    continue
                rule = self.strikes(kind, name)
                if rule is not None:
                    return rule
        return None

    def reclaim(self, rule, run_speed):
        """Seconds until a spot machine is taken away."""
        rate = rule.said.get("per_hour")
        if rate is None:
            return self.between(rule, 2.0)
        return self.rngs[rule.kind].expovariate(rate / 3600 * run_speed)

    def between(self, rule, otherwise):
        """Seconds that a rule says: a number or [least, most]."""
        said = rule.said.get("seconds", otherwise)
        if isinstance(said, (int, float)):
            return float(said)
        return self.rngs[rule.kind].uniform(*said)
