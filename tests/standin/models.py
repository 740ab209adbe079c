"""Validates requests by the service models of botocore.

Shapes of JSON services: types, required members, enumerations, lengths, ranges
and patterns, at any depth.  Stricter than AWS in one point: a member missing
in the model is rejected."""

import base64
import functools
import re

from botocore.loaders import Loader

MODEL = {"sagemaker": "sagemaker", "logs": "logs", "events": "events",
         "monitoring": "cloudwatch", "sqs": "sqs", "sns": "sns"}
# The shapes were the same before these two spoke JSON; their models say so
# only since then.
PREFIX = {"monitoring": "GraniteServiceVersion20100801", "sqs": "AmazonSQS"}

# Members that AWS added after the botocore of some distribution: they are put
# into its older model.
NEWER = {"sagemaker": {
    "AlgorithmSpecification": {
        "ContainerEntrypoint": {"type": "list", "min": 1, "max": 100,
                                "member": {"type": "string", "max": 256}},
        "ContainerArguments": {"type": "list", "min": 1, "max": 100,
                               "member": {"type": "string", "max": 256}}},
    "OutputDataConfig": {
        "CompressionType": {"type": "string", "enum": ["GZIP", "NONE"]}},
    "StoppingCondition": {
        "MaxPendingTimeInSeconds": {"type": "integer", "min": 7200,
                                    "max": 2419200}},
    "TrainingJobSummary": {"SecondaryStatus": {"type": "string"}},
    "CreateTrainingJobRequest": {
        "InfraCheckConfig": {"type": "map"},
        "RemoteDebugConfig": {"type": "map"},
        "SessionChainingConfig": {"type": "map"}},
}}
LENGTHS = {"HyperParameterValue": 2500}
WORDS = {"SecondaryStatus": ["Pending"], "TrainingJobStatus": ["Deleting"]}

CLASSES = {"L": r"^\W\d_", "Z": r"\s", "N": "0-9", "M": "\u0300-\u036f",
           "P": r"!-/:-@\[-`{-~\u00a1-\u00bf\u2010-\u205e",
           "S": r"$+<=>^`|~\u00a2-\u00b1\u20a0-\u2bff", "Zs": r" \u00a0",
           "Alnum": "a-zA-Z0-9"}
LETTERS = "a-zA-Z\u00aa-\u02ff\u0370-\u1fff\u2c00-\ud7ff\uf900-\ufffd"
CLASSES["L"] = LETTERS


class Invalid(Exception):
    """A request that does not fit the model; .where is a path of members."""


@functools.lru_cache(maxsize=None)
def pattern(text):
    """The model's (Java) pattern in Python's language, None if it has none."""
    text = re.sub(r"\\p\{(\w+)\}", lambda m: CLASSES[m.group(1)], text)
    try:
        return re.compile(text)
    except re.error:
        return None


def inline(shapes, name, shape):
    """A shape that is written where it is used: under a name of its own."""
    if "member" in shape:
        shape = dict(shape, member={
            "shape": inline(shapes, name + "Member", shape["member"])})
    shapes[name] = shape
    return name


def renew(service, shapes):
    """What came after the model of an older botocore."""
    for structure, members in NEWER.get(service, {}).items():
        have = shapes[structure]["members"]
        for name, shape in members.items():
            if name not in have:
                have[name] = {"shape": inline(shapes, structure + name, shape)}
    if service != "sagemaker":
        return
    for name, words in WORDS.items():
        shapes[name]["enum"] = list(set(shapes[name]["enum"]).union(words))
    for name, most in LENGTHS.items():
        if name in shapes:
            shapes[name]["max"] = max(most, shapes[name].get("max", 0))


class Model:
    """One service."""

    def __init__(self, service):
        raw = Loader().load_service_model(MODEL[service], "service-2")
        self.service = service
        self.shapes = raw["shapes"]
        self.operations = raw["operations"]
        self.prefix = raw["metadata"].get("targetPrefix",
                                          PREFIX.get(service))
        renew(service, self.shapes)

    def knows(self, operation):
        return operation in self.operations

    def check(self, operation, value):
        """Raises Invalid when value is no input of this operation."""
        shape = self.operations[operation].get("input")
        if shape is not None:
            self.check_shape(shape["shape"], value, "")

    def check_output(self, operation, value):
        """Raises Invalid when value is no output of this operation."""
        shape = self.operations[operation].get("output")
        if shape is not None:
            self.check_shape(shape["shape"], value, "")

    def from_form(self, operation, fields):
        """The input that a form of the Query protocol stands for."""
        shape = self.operations[operation]["input"]["shape"]
        return self.from_fields(shape, {tuple(name.split(".")): value
                                        for name, value in fields.items()})

    def from_fields(self, name, fields):
        shape = self.shapes[name]
        if shape["type"] not in ("structure", "map", "list"):
            if list(fields) != [()]:
                raise Invalid("a field has parts that it cannot have")
            return fields[()]
        if shape["type"] == "structure":
            return {key: self.from_fields(
                        shape["members"][key]["shape"], inner_fields)
                    if key in shape["members"] else inner_fields
                    for key, inner_fields in parts(fields).items()}
        if shape["type"] == "list":
            return [self.from_fields(shape["member"]["shape"], one)
                    for one in numbered(fields, "member")]
        names = [shape[one].get("locationName", one)
                 for one in ("key", "value")]
        found = {}
        for one in numbered(fields, "entry"):
            entry = parts(one)
            if sorted(entry) != sorted(names):
                raise Invalid("an entry of a map is not whole")
            found[self.from_fields(shape["key"]["shape"], entry[names[0]])] = \
                self.from_fields(shape["value"]["shape"], entry[names[1]])
        return found

    def check_shape(self, name, value, where):
        shape = self.shapes[name]
        kind = shape["type"]
        CHECKS[kind](self, shape, value, where)

    def structure(self, shape, value, where):
        need(isinstance(value, dict), where, "a structure", value)
        members = shape.get("members", {})
        if not members and "required" not in shape and shape.get("document"):
            return
        for name in shape.get("required", ()):
            if value.get(name) is None:
                raise Invalid("Value null at '%s' failed to satisfy "
                              "constraint: Member must not be null"
                              % inner(where, name))
        for name, item in value.items():
            if name not in members:
                raise Invalid("Unknown member '%s'" % inner(where, name))
            if item is not None:
                self.check_shape(members[name]["shape"], item,
                                 inner(where, name))

    def list(self, shape, value, where):
        need(isinstance(value, list), where, "a list", value)
        within(shape, len(value), value, where, "length")
        for number, item in enumerate(value):
            self.check_shape(shape["member"]["shape"], item,
                             "%s.%d.member" % (where, number + 1))

    def map(self, shape, value, where):
        need(isinstance(value, dict), where, "a map", value)
        within(shape, len(value), value, where, "length")
        for key, item in value.items():
            if "key" in shape:
                self.check_shape(shape["key"]["shape"], key, where + ".key")
                self.check_shape(shape["value"]["shape"], item,
                                 where + "." + key + ".member")

    def string(self, shape, value, where):
        need(isinstance(value, str), where, "a string", value)
        within(shape, len(value), value, where, "length")
        if "enum" in shape and value not in shape["enum"]:
            raise Invalid("Value '%s' at '%s' failed to satisfy constraint: "
                          "Member must satisfy enum value set: [%s]"
                          % (value, where, ", ".join(shape["enum"])))
        if "pattern" in shape:
            rule = pattern(shape["pattern"])
            if rule is not None and not rule.fullmatch(value):
                raise Invalid("Value '%s' at '%s' failed to satisfy "
                              "constraint: Member must satisfy regular "
                              "expression pattern: %s"
                              % (value, where, shape["pattern"]))

    def integer(self, shape, value, where):
        need(isinstance(value, int) and not isinstance(value, bool), where,
             "an integer", value)
        most = 2 ** 31 if shape["type"] == "integer" else 2 ** 63
        need(-most <= value < most, where, "in range", value)
        within(shape, value, value, where, "value")

    def number(self, shape, value, where):
        need(isinstance(value, (int, float)) and not isinstance(value, bool),
             where, "a number", value)
        need(value == value and abs(value) != float("inf"), where, "finite",
             value)
        within(shape, value, value, where, "value")

    def boolean(self, shape, value, where):
        need(isinstance(value, bool), where, "a boolean", value)

    def blob(self, shape, value, where):
        need(isinstance(value, str), where, "base64", value)
        try:
            base64.b64decode(value, validate=True)
        except ValueError:
            raise Invalid("'%s' is not base64" % where) from None


def parts(fields):
    """Fields by the first part of their names."""
    found = {}
    for name, value in fields.items():
        if not name:
            raise Invalid("a field lacks a part of its name")
        found.setdefault(name[0], {})[name[1:]] = value
    return found


def numbered(fields, word):
    """The fields of entry.1, entry.2 and so on, without a gap."""
    inside = parts(fields)
    if list(inside) != [word]:
        raise Invalid("expected .%s.N" % word)
    found = parts(inside[word])
    if sorted(found, key=int) != [str(n + 1) for n in range(len(found))]:
        raise Invalid("the numbers of .%s have a gap" % word)
    return [found[str(n + 1)] for n in range(len(found))]


def inner(where, name):
    """Member names are shown with a small first letter, as AWS does."""
    name = name[:1].lower() + name[1:]
    return where + "." + name if where else name


def need(good, where, what, value):
    if not good:
        raise Invalid("Value '%s' at '%s' is not %s" % (value, where or "body",
                                                        what))


def within(shape, size, value, where, what):
    if "min" in shape and size < shape["min"]:
        raise Invalid("Value '%s' at '%s' failed to satisfy constraint: Member "
                      "must have %s greater than or equal to %s"
                      % (value, where, what, shape["min"]))
    if "max" in shape and size > shape["max"]:
        raise Invalid("Value '%s' at '%s' failed to satisfy constraint: Member "
                      "must have %s less than or equal to %s"
                      % (value, where, what, shape["max"]))


CHECKS = {"structure": Model.structure, "list": Model.list, "map": Model.map,
          "string": Model.string, "character": Model.string,
          "integer": Model.integer, "long": Model.integer,
          "float": Model.number, "double": Model.number,
          "timestamp": Model.number, "boolean": Model.boolean,
          "blob": Model.blob}


@functools.lru_cache(maxsize=None)
def load(service):
    """The model of one of the JSON services, read when first asked for."""
    return Model(service)
