"""Every command on studies that together have every key of study.json.

usage: every_key.py HPOTUNE PACKED-PROGRAM [COMMAND ...]

The keys are those of "hpotune check --schema", the commands those of "hpotune
help": one that has no example here is an error.  Each command must end by itself,
with a status that its row allows, and a status above 0 with one line that says why.
In a build with sanitizers each report is an error.  COMMAND: only these.
"""

import concurrent.futures
import glob
import json
import os
import re
import subprocess
import sys

HPOTUNE, PACKED = sys.argv[1:3]

# ---- examples ----------------------------------------------------------------

STEPS = "for s in 1 2 3 4; do echo hpotune: step=$s loss=$1 other=$1; done"
COMMAND = ["sh", "-c", STEPS, "trial", "{x}"]
BASE = {
    "study": "s",
    "objective": {"metric": "loss", "goal": "minimize"},
    "parameters": {"x": {"type": "float", "min": 0.1, "max": 1}},
    "strategy": {"name": "random", "seed": 1},
    "trial": {"command": COMMAND, "max_steps": 4, "retries": 0, "grace": 1},
    "limits": {"trials": 3, "parallel": 2}}
TOPIC = "arn:aws:sns:eu-west-1:123456789012:t"
FAR = {
    "name": "sagemaker", "region": "eu-west-1", "s3": "s3://bucket/x/",
    "role": "arn:aws:iam::123456789012:role/x",
    "image": "123456789012.dkr.ecr.eu-west-1.amazonaws.com/x:1",
    "instance_type": ["ml.m5.large"]}


# No job is made: there is nobody to ask for one.
SOON = {"trials": 3, "wall_time": 0.2}


def changed(*, trial=None, drop=(), **keys):
    """The base with these keys instead."""
    study = {**BASE, **keys}
    study["trial"] = {**BASE["trial"], **(trial or {})}
    for key in drop:
        del study[key]
    return study


def without(block, *keys):
    return {k: v for k, v in block.items() if k not in keys}


EXAMPLES = {
    "space": changed(
        parameters={
            "x": {"type": "float", "min": 0.1, "max": 1, "step": 0.1,
                  "default": 0.5},
            "scale": {"type": "float", "min": 0.5, "max": 0.9,
                      "scale": "reverse-log"},
            "normal": {"type": "float", "mean": 0, "sd": 1},
            "i": {"type": "int", "min": 1, "max": 9, "step": 2, "default": 3},
            "il": {"type": "int", "min": 1, "max": 64, "scale": "log"},
            "in": {"type": "int", "mean": 3, "sd": 2, "min": 0, "max": 9},
            "c": {"type": "choice", "values": ["a", 1, None], "ordered": True,
                  "weights": [1, 2, 3], "default": "a"},
            "wf": {"type": "float", "min": 0, "max": 1, "when": "x > 0.2"},
            "wi": {"type": "int", "min": 0, "max": 9, "when": {"c": ["a", 1]}},
            "wc": {"type": "choice", "values": [1, 2],
                   "when": [{"c": ["a"]}, {"i": [1, 3]}]},
            "k": {"type": "fixed", "value": 3, "when": {"c": ["a"]}}},
        where=["x < 0.95", "i <= il + 9"],
        enqueue=[{"x": 0.3, "c": 1}, {}]),
    "lengths": changed(
        trial={"command": COMMAND, "max_steps": "ceil(4 * x)", "grace": 1}),
    "said": changed(
        trial={"command": COMMAND, "max_steps": {"metric": "n", "most": 9}}),
    "texts": {"$schema": "schema.json", "description": "what it is",
              **changed(objective={"metric": "loss", "goal": "minimize",
                                   "value": "last", "target": -1})},
    "several": changed(
        drop=["objective"],
        objectives=[{"metric": "loss", "goal": "minimize"},
                    {"metric": "other", "goal": "maximize"}],
        constraints=[{"metric": "other", "min": 0, "max": 10}],
        stopping="none"),
    "replicates": changed(
        replicates={"parameter": "seed", "count": 2, "aggregate": "worst",
                    "racing": False}),
    "confirmed": changed(
        confirm={"parameter": "seed", "baseline": 1, "replicates": 5,
                 "alpha": 0.1, "report": "other", "goal": "maximize"}),
    "races": changed(
        replicates={"parameter": "fold", "values": ["a", "b"], "racing": True}),
    "trial": changed(
        trial={
            "command": COMMAND + [["--x={x}"], "{params:joined}", "{file:t}",
                                  "{params_file}"],
            "arguments": "words", "workdir": "{output_dir}",
            "env": {"A": "{x}"}, "files": {"t": "template"},
            "clean_env": True, "pass_env": ["PATH", "HOME"],
            "metrics": [{"name": "lines", "regex": "loss=([0-9.]+)"},
                        {"from": "csv", "path": "m.csv", "step": "epoch",
                         "tag": "val", "name": "other"},
                        {"from": "tensorboard"},
                        {"path": "log.txt", "reads": ["keras"]},
                        {"from": "text", "path": "loss-*.txt", "name": "third",
                         "regex": "loss (.*)", "step_regex": "at (.*)"}],
            "reads": ["keras", "json"], "step_regex": "step=([0-9]+)",
            "max_run": "1m", "on_max_run": "completed", "cpus": 1,
            "memory": "64MiB", "batch": {"global": 4}}),
    "commits": changed(
        trial={"source": {"git": "repository", "commit": "HEAD",
                          "uncommitted": "record"}}),
    "ranks": changed(
        trial={"launcher": "ranks", "processes": 2, "parameter_servers": 1}),
    "pack": changed(trial={"command": [PACKED], "pack": 2}),
    "warm-starts": changed(
        trial={"command": ["python3", "-m", "warm_loss", "{x}"], "warm": ["json"],
               "shims": ["wandb", "mlflow", "tensorboard"],
               "env": {"PYTHONPATH": os.path.dirname(__file__)}}),
    "gpus": changed(
        trial={"gpus": 1, "gpu_memory": "1GiB"},
        limits={"trials": 3, "gpu_hours": 9},
        backend={"name": "local", "gpus": {"simulate": 2}}),
    "limits": changed(
        limits={"trials": 3, "completed": 3, "parallel": 1,
                "wall_time": "1h", "drain": False,
                "failed_trials": 2, "no_improvement": 9,
                "convergence": {"min_trials": 5, "tolerance": 0.1,
                                "error": 0}}),
    "dollars": changed(
        limits={**SOON, "cost": 5},
        backend={**FAR, "price_per_hour": {"ml.m5.large": 0.01}}),
    "warm": changed(warm_start=["old.db"]),
    "warm-job": changed(
        warm_start=[{"tuning_job": "j", "region": "eu-west-1", "profile": "p",
                     "metric": "m"}]),
    "around": changed(
        hooks={"best": ["true"], "failed": ["true"], "finished": ["true"],
               "timeout": "9s"},
        provenance={"git": False, "packages": ["echo", "a==1"]},
        keep={"best": 1, "last": 1, "bytes": "1GB"}),
    "notices": changed(
        notify={"sns": TOPIC, "eventbridge": "default", "region": "eu-west-1",
                "on": ["finished", "failed"], "profile": "p"}),
    # Backends whose keys exclude each other; the others are made below.
    "local": changed(backend={
        "name": "local", "gpus": {"simulate": 1}, "trials_per_gpu": 2,
        "gpu_ids": "index", "gpu_busy_memory": "1GiB", "gpu_idle": "1m",
        "bind": False, "mps": "off", "log_cap": "1MB"}),
    "pretend": changed(backend={
        "name": "pretend", "curve": "power", "noise": 0.1, "steps": 4,
        "seconds_per_step": 0, "fail": 0, "nan": 0, "seed": 3, "slots": 2,
        "gpus": 1}),
    "sagemaker": changed(limits=SOON, 
        trial={"max_run": "1h"},
        backend={
            **FAR, "container": "script", "profile": "p", "instance_count": 2,
            "volume": "50GiB", "spot": True, "force_spot": False,
            "checkpoints": True, "max_run": "1h", "max_wait": "2h",
            "on_demand_after": 2, "download_time": "2m", "upload_time": "2m",
            "model": "tar.gz", "kms_key": "alias/k", "code": "code",
            "requirements": False, "inputs": {"train": "s3://bucket/train/"},
            "input_mode": "FastFile", "distribution": {"launcher": "torchrun"},
            "price_per_hour": {"ml.m5.large": 0.1}, "tags": {"a": "b"},
            "vpc": {"subnets": ["subnet-1"], "security_groups": ["sg-1"]},
            "parallel": 2, "pace": 50, "metrics_from": "logs", "watch": True,
            "publish": True, "alarm": {"gpu_idle": 5, "minutes": 30},
            "extra": {"EnableNetworkIsolation": True}}),
    "sagemaker-groups": changed(limits=SOON, backend={
        **without(FAR, "instance_type"),
        "groups": [{"name": "a", "instance_type": "ml.m5.large", "count": 2}]}),
    "sagemaker-warm": changed(limits=SOON, backend={**FAR, "keep_alive": "10m"}),
    "sagemaker-algorithm": changed(limits=SOON, 
        trial={"command": ["train"]},
        parameters={"algorithm": {"type": "choice", "values": ["a", "b"]},
                    "x": {"type": "float", "min": 0, "max": 1}},
        backend={**without(FAR, "image"), "container": "algorithm",
                 "algorithm": "algorithm",
                 "algorithms": {"a": {"image": FAR["image"]},
                                "b": {"image": FAR["image"]}}}),
    "slurm": changed(limits=SOON, backend={
        "name": "slurm", "partition": ["a", "b"], "account": "c", "qos": "d",
        "constraint": "e", "time": "1h", "dir": "/tmp", "gpus": "a100:1",
        "nodes": 1, "cpus": 2, "memory": "1GiB", "trials_per_job": 1,
        "exclude_failed_nodes": False, "setup": "true",
        "extra": ["--nice=3"]}),
}

# Values of options of strategies and rules where that of the schema does not do.
OPTIONS = {
    "strategy.cmaes.x0": {"x": 0.5},
    "strategy.pbt.mutate": ["x"],
    "strategy.external.command": [
        "sh", "-c", "while read -r line; do case $line in *type*ask*) "
        "echo '{\"params\": {\"x\": 0.5}}' ;; esac; done"],
    "strategy.external.timeout": "100s",
    "rule.threshold.lower": -1e9,
    "rule.threshold.upper": 1e9,
    "rule.overfit.against": "other",
    "second_look": "10%",
}


HOSTS = ("texts", "trial", "ranks", "pack", "gpus", "warm", "around", "local",
         "pretend", "notices", "limits")


def option_value(place, schema):
    """Something that the schema of an option allows."""
    for known in (place, place.split(".")[-1]):
        if known in OPTIONS:
            return OPTIONS[known]
    for one in schema.get("anyOf", []):
        return option_value("", one)
    if "const" in schema:
        return schema["const"]
    kind = schema.get("type")
    if kind == "boolean":
        return True
    if kind in ("integer", "number"):
        return max(schema.get("minimum", 1), min(schema.get("maximum", 2), 2))
    if kind == "string" and "pattern" not in schema:
        return "loss"
    raise SystemExit("%s: OPTIONS has no value of it" % place)


def plugins(schema, kind):
    """The blocks of a kind of plug-in, each with all of its options."""
    for one in schema["$defs"][kind]["anyOf"]:
        head = {"strategy": "name", "rule": "rule"}[kind]
        if "properties" not in one:
            continue
        name = one["properties"][head]["const"]
        yield {key: option_value("%s.%s.%s" % (kind, name, key), of)
               for key, of in one["properties"].items()}


def examples(schema):
    """Strategies are dealt to those that have no other reason for theirs."""
    out = dict(EXAMPLES)
    hosts = list(HOSTS)
    for block in plugins(schema, "strategy"):
        host = hosts.pop(0) if hosts else None
        name = "%s-%s" % (host or "strategy", block["name"])
        out[name] = {**(out.pop(host) if host else BASE), "strategy": block}
    rules = list(plugins(schema, "rule"))
    out["rules"] = changed(stopping=[b for b in rules if b["rule"] != "none"])
    out["rule-none"] = changed(stopping=rules[-1])
    return out

# ---- are all keys in an example? ---------------------------------------------


def accepts(schema, value, root):
    """Whether it can be a value of this schema, by its constants and type."""
    if "$ref" in schema:
        return accepts(root["$defs"][schema["$ref"].split("/")[-1]], value, root)
    if "const" in schema:
        return value == schema["const"]
    if "enum" in schema:
        return value in schema["enum"]
    if "anyOf" in schema and "properties" not in schema:
        return any(accepts(s, value, root) for s in schema["anyOf"])
    if isinstance(value, dict):
        known = schema.get("properties", {})
        return ((not known or set(value) <= set(known)) and
                schema.get("type", "object") == "object" and
                set(schema.get("required", [])) <= set(value) and
                all(not isinstance(known.get(k), dict) or
                    "const" not in known[k] or v == known[k]["const"]
                    for k, v in value.items()))
    return schema.get("type") != "object" or "properties" not in schema


def keys_of(schema, root, seen=()):
    """The place in the schema of each key."""
    if "$ref" in schema:
        name = schema["$ref"].split("/")[-1]
        if name not in seen:
            yield from keys_of(root["$defs"][name], root, seen + (name,))
        return
    for key, of in schema.get("properties", {}).items():
        if of is not False:
            yield id(schema), key
            yield from keys_of(of, root, seen)
    for below in schema.get("anyOf", []):
        yield from keys_of(below, root, seen)
    for word in ("items", "additionalProperties"):
        if isinstance(schema.get(word), dict):
            yield from keys_of(schema[word], root, seen)


def used(schema, value, root):
    """The same of those that a value has."""
    if "$ref" in schema:
        yield from used(root["$defs"][schema["$ref"].split("/")[-1]], value, root)
        return
    for below in schema.get("anyOf", []):
        if accepts(below, value, root):
            yield from used(below, value, root)
    if isinstance(value, dict):
        known = schema.get("properties", {})
        for key, v in value.items():
            of = known.get(key)
            if isinstance(of, dict):
                yield id(schema), key
                yield from used(of, v, root)
            elif isinstance(schema.get("additionalProperties"), dict):
                yield from used(schema["additionalProperties"], v, root)
    elif isinstance(value, list) and isinstance(schema.get("items"), dict):
        for v in value:
            yield from used(schema["items"], v, root)


def missing(schema, studies):
    want = dict.fromkeys(keys_of(schema, schema))
    for study in studies:
        for key in used(schema, study, schema):
            want.pop(key, None)
    return sorted({key for _, key in want})

# ---- commands ------------------------------------------------------------------


# Of each command: its arguments, and the statuses that are right before the study
# has a database, and when it has one with trials; None: it is not run then.  S is
# the study, D its database.
DONE, FAILED, WRONG = (0,), (1,), (2,)
ANY = (0, 1, 2)
ROWS = [
    ("check", "S", DONE, DONE),
    ("check", "--json S", DONE, DONE),
    ("check", "--schema", DONE, None),
    ("check", "--log log S", ANY, None),
    ("check", "--checkpoint S", ANY, None),
    ("try", "S x=0.5", ANY, None),
    ("try", "--json S", None, ANY),
    ("doctor", "--timeout 1 S", None, ANY),
    ("start", "-q -n 2 S", None, ANY),
    ("ask", "S", None, ANY),
    ("tell", "S 1 loss=1 other=1", None, ANY),
    ("tell", "S 3 loss=1 other=1 --done", None, ANY),
    ("tell", "S 1 --failed --why hm", None, ANY),
    ("status", "S", WRONG, DONE),
    ("status", "--json S", WRONG, DONE),
    ("watch", "S", WRONG, DONE),
    ("trials", "S", WRONG, DONE),
    ("trials", "--sort objective --json S", WRONG, DONE),
    ("best", "S", WRONG, ANY),
    ("best", "--json S", WRONG, ANY),
    ("show", "S 1", WRONG, DONE),
    ("show", "--json S 1", WRONG, DONE),
    ("logs", "S 1", WRONG, ANY),
    ("stop", "S 1", WRONG, ANY),
    ("stop", "S", WRONG, DONE),
    ("pause", "S", WRONG, ANY),
    ("resume", "S", WRONG, ANY),
    ("retry", "S 1", WRONG, ANY),
    ("forget", "S 1", WRONG, ANY),
    ("confirm", "S", WRONG, ANY),
    ("propose", "S x=0.25", WRONG, ANY),
    ("verdict", "S", WRONG, DONE),
    ("sql", "S", ANY, ANY),
    ("plot", "S -o p.svg", ANY, ANY),
    ("mcp", "--help", ANY, ANY),
    ("forget", "-u S 1", WRONG, ANY),
    ("clean", "-n S", WRONG, ANY),
    ("clean", "S", WRONG, ANY),
    ("note", "S 1 hm", WRONG, DONE),
    ("tag", "S 1 good", WRONG, DONE),
    ("enqueue", "S x=0.5", WRONG, ANY),
    ("enqueue", "-l S", WRONG, DONE),
    ("judge", "S 1", WRONG, ANY),
    ("importance", "S", WRONG, ANY),
    ("export", "S", WRONG, DONE),
    ("export", "-f json S", WRONG, DONE),
    ("export", "-f mlflow --url http://127.0.0.1:9 S", WRONG, ANY),
    ("export", "-f optuna -o o.db S", WRONG, ANY),
    ("export", "-f sagemaker S", WRONG, ANY),
    ("export", "-f tensorboard -o events S", WRONG, ANY),
    ("report", "-o - S", WRONG, DONE),
    ("replay", "D", WRONG, ANY),
    ("import", "optuna -o new.json o.db", None, ANY),
    ("sagemaker", "gc S", ANY, ANY),
    ("sagemaker", "model S 1", WRONG, ANY),
    ("slurm", "gc S", ANY, ANY),
    ("web", "--port 0 S", None, DONE),
    ("queue", "-q S", None, ANY),
    ("rename", "S t", WRONG, ANY),
    ("strategies", "", DONE, None),
    ("rules", "", DONE, None),
    ("completion", "bash", DONE, None),
    ("help", "", DONE, None),
    ("version", "", DONE, None),
]
# What needs no study, and what only says that there is no database, is the same for
# all: it is run for one of them.
WITHOUT_STUDY = ("strategies", "rules", "completion", "help", "version")
# They answer on standard output.
ANSWERS = ("doctor", "check")
# They need a service, and none answers.
FAR_AWAY = ("warm-job", "dollars", "slurm", "sagemaker", "sagemaker-groups",
            "sagemaker-warm", "sagemaker-algorithm")


def environment(folder):
    env = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")}
    # No service is asked: nothing listens there.
    env.update({k: "http://127.0.0.1:9"
                for k in ("AWS_ENDPOINT_URL", "http_proxy", "https_proxy")})
    env.update(AWS_EC2_METADATA_DISABLED="true", HPOTUNE_NVML="", HOME=folder,
               PATH=os.getcwd() + "/slurm-down:" + env["PATH"])
    # The reports are read here: they are no part of the one line on stderr.
    env["ASAN_OPTIONS"] = ":".join(
        [o for o in env.get("ASAN_OPTIONS", "").split(":")
         if o and not o.startswith("log_path")] +
        ["exitcode=99", "log_path=%s/report" % folder])
    return env


def run(argv, folder, env):
    """Its status and what it writes to standard error."""
    child = subprocess.Popen(
        [HPOTUNE] + argv, cwd=folder, env=env, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if argv[0] == "web":
        child.stdout.readline()
        child.terminate()
    _, said = child.communicate(timeout=300)
    return child.returncode, said.decode(errors="replace")


def wrong(argv, status, right, said, folder):
    """What is not as it should be, or None."""
    reports = glob.glob(folder + "/**/report.*", recursive=True)
    for report in reports:
        text = open(report, errors="replace").read()
        if "Sanitizer" in text:
            return text
        os.unlink(report)
    if status not in right:
        return "status %d, not %s: %s" % (status, right, said)
    lines = [l for l in said.splitlines()
             if not re.match("hpotune: note: |([0-9-]+ )?[0-9:]{8} (?!error: )", l)]
    if (len(lines) != (status != 0) and
            not (argv[0] in ANSWERS and not lines)) or any(
                not re.match("hpotune: |([0-9-]+ )?[0-9:]{8} error: ", l) for l in lines):
        return "status %d, not one line of an error: %s" % (status, said)
    return None


def fill(folder, study):
    os.makedirs(folder + "/code")
    json.dump(study, open(folder + "/s.json", "w"))
    open(folder + "/template", "w").write("x = {x}\n")
    open(folder + "/log", "w").write("hpotune: step=1 loss=1\n")
    open(folder + "/code/train.py", "w").write("\n")
    if "source" in study["trial"]:
        git = ["git", "-C", folder + "/repository", "-c", "user.name=x",
               "-c", "user.email=x@localhost"]
        os.mkdir(folder + "/repository")
        subprocess.run(git + ["init", "-q"], check=True)
        subprocess.run(git + ["commit", "-q", "--allow-empty", "-m", "x"],
                       check=True)
    if "old.db" in study.get("warm_start", []):
        old = changed(study="old")
        json.dump(old, open(folder + "/old.json", "w"))
        subprocess.run([HPOTUNE, "start", "-q", "old.json"], cwd=folder,
                       env=environment(folder), check=True)


def row_run(name):
    """All commands on one example: a list of what is wrong."""
    folder = os.path.join(os.getcwd(), name)
    study = STUDIES[name]
    fill(folder, study)
    env = environment(folder)
    found = []
    for phase in (2, 3):
        for row in ROWS:
            right = row[phase]
            if sys.argv[3:] and row[0] not in sys.argv[3:]:
                continue
            if right is None or name != "space" and (
                    right is WRONG or row[0] in WITHOUT_STUDY):
                continue
            if name in FAR_AWAY:
                right = ANY
            argv = [row[0]] + [
                {"S": "s.json", "D": "s.db"}.get(w, w) for w in row[1].split()]
            status, said = run(argv, folder, env)
            if os.environ.get("EVERY_KEY_SHOW"):
                print(name, argv, status, said[:300].strip())
            why = wrong(argv, status, right, said, folder)
            if why is not None:
                found.append("%s: %s: %s" % (name, " ".join(argv), why))
    print("# all commands on", name, flush=True)
    return found


schema = json.loads(subprocess.run(
    [HPOTUNE, "check", "--schema"], capture_output=True, check=True).stdout)
listed = re.findall(r"^  ([a-z]+) ", subprocess.run(
    [HPOTUNE, "help"], capture_output=True, check=True, text=True).stdout, re.M)
STUDIES = examples(schema)
trouble = ["no example has the key " + k
           for k in missing(schema, STUDIES.values())]
trouble += ["ROWS has no command " + c
            for c in listed if c not in [row[0] for row in ROWS]]
trouble += ["ROWS: no such command: " + row[0]
            for row in ROWS if row[0] not in listed]
os.mkdir("slurm-down")
for program in ("sbatch", "scancel", "scontrol", "sinfo", "squeue", "sacct"):
    os.symlink("/bin/false", "slurm-down/" + program)
if not trouble:
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for found in pool.map(row_run, STUDIES):
            trouble += found
with os.fdopen(3, "w") as out:
    out.writelines(line + "\n" for line in trouble)
