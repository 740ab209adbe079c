"""Runs the entry script.  Arguments: the script, the program sm-request, and
toolkit: only what is compared with AWS's training toolkit.

A job has the same conditions as on SageMaker: the variables of a real request,
a tree with the script and the code in a channel, and the script as the first
process.  Prints TAP."""

import io
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time

SCRIPT, TOOL = sys.argv[1], sys.argv[2]
count = failed = 0


def ok(good, what, why=""):
    global count, failed
    count += 1
    failed += not good
    print("%sok %d - %s" % ("" if good else "not ", count, what))
    if not good:
        for line in str(why).splitlines()[:40]:
            print("# " + line[:300])
    return good


def skip(what, why):
    global count
    count += 1
    print("ok %d - %s # SKIP %s" % (count, what, why))


def wait_for(what, seconds=300):
    end = time.time() + seconds
    while time.time() < end:
        if what():
            return True
        time.sleep(0.02)
    return False


class Job:
    """One job in a tree of its own."""

    def __init__(self, shell, command, params=None, trial=None, block=None,
                 files=None, host="algo-1", hosts=("algo-1",), path=None,
                 config=None):
        self.shell = shell
        self.top = tempfile.mkdtemp(prefix="job.", dir=".")
        self.base = os.path.join(os.path.realpath(self.top), "ml")
        self.out = os.path.join(self.top, "out")
        self.make_study(command, params or {"lr": 0.5}, trial, block)
        self.make_tree(files or {}, config or {
            "current_host": host, "hosts": list(hosts),
            "network_interface_name": "eth7",
            "current_instance_type": "ml.g5.xlarge"})
        env = json.loads(subprocess.check_output(
            [TOOL, "study.json", json.dumps(params or {"lr": 0.5}),
             "7", "2", "0"], cwd=self.top))["Environment"]
        self.env = dict(env, PATH=path or os.environ["PATH"],
                        SAGEMAKER_BASE_DIR=self.base)

    def make_study(self, command, params, trial, block):
        doc = {
            "study": "run",
            "objective": {"metric": "loss", "goal": "minimize"},
            "parameters": dict((k, {"type": "fixed", "value": v})
                               for k, v in params.items()),
            "trial": dict({"command": command, "grace": 30}, **(trial or {})),
            "backend": dict({
                "name": "sagemaker", "image": "i",
                "role": "arn:aws:iam::123456789012:role/Trial",
                "instance_type": "ml.c5.xlarge", "s3": "s3://bucket/x"},
                **(block or {})),
            "limits": {"trials": 1}}
        code = os.path.join(self.top, doc["backend"].get("code", "."))
        os.makedirs(code, exist_ok=True)
        with open(os.path.join(self.top, "study.json"), "w") as f:
            json.dump(doc, f)

    def make_tree(self, files, config):
        channel = os.path.join(self.base, "input/data/hpotune")
        os.makedirs(channel)
        os.makedirs(os.path.join(self.base, "input/config"))
        with open(os.path.join(self.base, "input/config/resourceconfig.json"),
                  "w") as f:
            json.dump(config, f, indent=1)
        shutil.copyfile(SCRIPT, os.path.join(channel, "run.sh"))
        if not files:
            return
        with tarfile.open(os.path.join(channel, "code.tar.gz"), "w:gz") as t:
            for name, (mode, text) in files.items():
                info = tarfile.TarInfo(name)
                info.mode, info.size = mode, len(text)
                t.addfile(info, io.BytesIO(text.encode()))

    def start(self, front=()):
        with open(self.out, "wb") as out:
            self.proc = subprocess.Popen(
                list(front) + self.shell +
                [os.path.join(self.base, "input/data/hpotune/run.sh")],
                env=self.env, stdin=subprocess.DEVNULL, stdout=out,
                stderr=subprocess.STDOUT, cwd="/", start_new_session=True)
        return self

    def output(self):
        with open(self.out, errors="surrogateescape") as f:
            return f.read()

    def says(self, text):
        return wait_for(lambda: text in self.output())

    def end(self, seconds=300):
        try:
            return self.proc.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(self.proc.pid, signal.SIGKILL)
            return None

    def run(self):
        return self.start().end()

    def read(self, path):
        try:
            with open(os.path.join(self.base, path), "rb") as f:
                return f.read().decode()
        except OSError:
            return None

    def failure(self):
        return (self.read("output/failure") or "").rstrip("\n")


def sh(text, *more):
    return ["sh", "-c", text, "sh"] + list(more)


def python(text):
    return ["python3", "-c", text.replace("{", "{{").replace("}", "}}")]


DUMP = python("""
import json, os, sys
json.dump([sys.argv[1:], dict(os.environ)],
          open(os.environ["HPOTUNE_OUTPUT_DIR"] + "/dump", "w"))
""")


def random_text(rng):
    kinds = ["'", '"', "\\", "$", "`", "\n", "\t", " ", ";", "&", "|", "*", "%",
             "$(id)", "${HOME}", "'\\''", "--", "=", "\r", "\u00e9", "\u4e2d",
             "\U0001f600", "a", "Z", "0", "#", "~", "!", "/opt/ml"]
    return "".join(rng.choice(kinds) for _ in range(rng.randrange(0, 60)))


def test_values(shell, name):
    rng = random.Random(7)
    for turn in range(6):
        params = dict(("p%d" % i, random_text(rng)) for i in range(12))
        env = dict(("V%d" % i, random_text(rng)) for i in range(6))
        # In a value a literal brace is written twice.
        job = Job(shell, DUMP + ["{params}", "plain"], params, {"env": dict(
            (k, v.replace("{", "{{").replace("}", "}}"))
            for k, v in env.items())})
        good = ok(job.run() == 0, "%s: texts %d: it runs" % (name, turn),
                  job.output())
        if not good:
            continue
        args, found = json.loads(job.read("output/data/dump"))
        moved = ["--%s=%s" % (k, v.replace("/opt/ml/", job.base + "/"))
                 for k, v in params.items()] + ["plain"]
        ok(args == moved, "%s: texts %d: arguments" % (name, turn),
           [(a, b) for a, b in zip(args, moved) if a != b])
        ok(all(found.get(k) == v for k, v in env.items()),
           "%s: texts %d: variables" % (name, turn), found)
        ok(json.loads(found["SM_HPS"]) == params,
           "%s: texts %d: SM_HPS" % (name, turn), found["SM_HPS"])
        with open(found["HPOTUNE_PARAMS"]) as f:
            ok(json.load(f) == params,
               "%s: texts %d: the file of parameters" % (name, turn))


def test_names(shell, name):
    job = Job(shell, DUMP + ["{checkpoint_dir}/x", "a/opt/ml/b:/opt/ml/c"],
              block={"inputs": {"train": "s3://bucket/t",
                                "val-1.x": "s3://bucket/v"}},
              trial={"env": {"SM_CHANNEL_TRAIN": "/here", "X": "1"}})
    if not ok(job.run() == 0, "%s: names: it runs" % name, job.output()):
        return
    args, env = json.loads(job.read("output/data/dump"))
    ok(args == [job.base + "/checkpoints/x",
                "a%s/b:%s/c" % (job.base, job.base)],
       "%s: paths in arguments move with the tree" % name, args)
    want = {
        "HPOTUNE_STUDY": "run", "HPOTUNE_TRIAL": "7", "HPOTUNE_ATTEMPT": "2",
        "HPOTUNE_ATTEMPT_UUID": "abcdef01-2345-4678-9abc-def012345678",
        "HPOTUNE_CHECKPOINT_DIR": job.base + "/checkpoints",
        "HPOTUNE_OUTPUT_DIR": job.base + "/output/data",
        "SM_MODEL_DIR": job.base + "/model",
        "SM_OUTPUT_DATA_DIR": job.base + "/output/data",
        "SM_INPUT_DIR": job.base + "/input",
        "SM_INPUT_CONFIG_DIR": job.base + "/input/config",
        "SM_CHANNELS": '["train","val-1.x"]',
        "SM_CHANNEL_TRAIN": job.base + "/input/data/train",
        "SM_CHANNEL_VAL_1_X": job.base + "/input/data/val-1.x",
        "SM_HP_LR": "0.5", "SM_HOSTS": '["algo-1"]', "SM_HOST_COUNT": "1",
        "SM_CURRENT_HOST": "algo-1", "SM_CURRENT_HOST_RANK": "0",
        "SM_NETWORK_INTERFACE_NAME": "eth7",
        "SM_CURRENT_INSTANCE_TYPE": "ml.g5.xlarge",
        "SM_MASTER_ADDR": "algo-1", "SM_MASTER_PORT": "7777",
        "MASTER_ADDR": "algo-1", "PYTHONUNBUFFERED": "1", "X": "1"}
    wrong = dict((k, env.get(k)) for k, v in want.items() if env.get(k) != v)
    ok(not wrong, "%s: SageMaker's names and ours" % name, wrong)
    ok(int(env["SM_NUM_CPUS"]) >= 1, "%s: there are processors" % name)
    ok(not [k for k in env if k.startswith("HPT_SPEC")],
       "%s: the pieces are gone" % name)
    ok(all(os.path.isdir(os.path.join(job.base, d)) for d in (
        "checkpoints", "model", "output/data", "code")),
       "%s: the folders are there" % name)


DUMP_PY = """import json, os, sys
json.dump([sys.argv[1:], dict(os.environ)],
          open(os.environ["HPOTUNE_OUTPUT_DIR"] + "/dump", "w"))
"""
# What AWS's toolkit says of the same tree.
TOOLKIT = """import json, sys
from sagemaker_training import environment
env = environment.Environment()
print("values " + json.dumps([env.to_cmd_args(), env.to_env_vars()]))
"""
PARAMS = {"lr": 1e-05, "b": 3, "nesterov": True, "opt": 'a "b" \\ c',
          "w": 0.5, "flat": False}
GROUPS = [
    {"instance_group_name": "a", "instance_type": "ml.p4d.24xlarge",
     "hosts": ["algo-1", "algo-2"]},
    {"instance_group_name": "b", "instance_type": "ml.c5.xlarge",
     "hosts": ["algo-3"]}]
CHANNEL = {"ContentType": "text/csv; label_size=0", "RecordWrapperType": "None",
           "S3DistributionType": "FullyReplicated",
           "TrainingInputMode": "File"}
# Ours differ on purpose: names that a shell can have, the folder of the code.
APART = {"SM_MODULE_DIR", "SM_CHANNEL_VAL-1"}


def toolkit_python():
    for python in (os.environ.get("HPOTUNE_TEST_TOOLKIT"), "python3"):
        if python and subprocess.call(
                [python, "-c", "import sagemaker_training.environment"],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                env=dict(os.environ, SAGEMAKER_BASE_DIR="/tmp")) == 0:
            return python
    return None


def told(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


def toolkit_job(shell, config, channels, launcher, path):
    job = Job(shell, ["python3", "train.py", "--model_dir={model_dir}",
                      "{params}"], PARAMS, {"arguments": "toolkit"},
              {"code": ".", "distribution": {"launcher": launcher},
               "inputs": dict((c, "s3://bucket/" + c) for c in channels)},
              files={"train.py": (0o644, DUMP_PY)}, config=config, path=path)
    config = os.path.join(job.base, "input/config/")
    with open(config + "inputdataconfig.json", "w") as f:
        json.dump(dict((c, CHANNEL) for c in ["hpotune"] + channels), f)
    with open(config + "hyperparameters.json", "w") as f:
        hps = dict(PARAMS, model_dir=job.base + "/model",
                   sagemaker_program="train.py",
                   sagemaker_container_log_level=20)
        if launcher != "none":
            hps["sagemaker_torch_distributed_enabled"] = True
        json.dump(dict((k, json.dumps(v)) for k, v in hps.items()), f)
    job.env["TRAINING_JOB_NAME"] = "job-1"
    return job


def test_toolkit(shell, name):
    """Variables and arguments as AWS's training toolkit makes them."""
    one = {"current_host": "algo-1", "hosts": ["algo-1"],
           "current_group_name": "homogeneousCluster",
           "current_instance_type": "ml.m5.large",
           "network_interface_name": "eth0", "instance_groups": [
               {"instance_group_name": "homogeneousCluster",
                "instance_type": "ml.m5.large", "hosts": ["algo-1"]}]}
    two = {"current_host": "algo-1", "current_group_name": "a",
           "current_instance_type": "ml.p4d.24xlarge",
           "hosts": ["algo-1", "algo-2", "algo-3"],
           "network_interface_name": "eth0", "instance_groups": GROUPS,
           "topology": [{"hostName": "algo-1", "capacityUnitId": "x"}]}
    path = make_tools({"torchrun": TORCHRUN}) + ":" + os.environ["PATH"]
    for what, config, channels, launcher in (
            ("one host", one, [], "none"),
            ("channels", one, ["val-1", "train"], "torchrun"),
            ("groups", two, ["train"], "none")):
        job = toolkit_job(shell, config, channels, launcher, path)
        if not ok(job.run() == 0, "%s: %s: it runs" % (name, what),
                  job.output()):
            continue
        args, env = json.loads(job.read("output/data/dump"))
        want = ["-b", "3", "--flat", "False", "--lr", "1e-05", "--nesterov",
                "True", "--opt", 'a "b" \\ c', "-w", "0.5"]
        ok(args == ["--model_dir=" + job.base + "/model"] + want and
           json.loads(env["SM_USER_ARGS"]) == args,
           "%s: %s: arguments in the toolkit's form" % (name, what), args)
        ok(told(env["SM_INPUT_DATA_CONFIG"]) ==
           dict((c, CHANNEL) for c in channels),
           "%s: %s: channels without ours" % (name, what),
           env["SM_INPUT_DATA_CONFIG"])
        training = told(env["SM_TRAINING_ENV"])
        ok(isinstance(training, dict) and
           training["hyperparameters"] == PARAMS and
           training["module_name"] == "train" and
           training["is_hetero"] is (what == "groups") and
           training["channel_input_dirs"] == dict(
               (c, "%s/input/data/%s" % (job.base, c)) for c in channels),
           "%s: %s: SM_TRAINING_ENV" % (name, what), training)
        toolkit_compare(name, what, job, args[1:], env)


def toolkit_compare(name, what, job, args, env):
    if not TOOLKIT_PYTHON:
        skip("%s: %s: beside AWS's training toolkit" % (name, what),
             "no python has sagemaker_training: HPOTUNE_TEST_TOOLKIT")
        return
    config = os.path.join(job.base, "input/config/inputdataconfig.json")
    with open(config) as f:
        channels = json.load(f)
    del channels["hpotune"]
    with open(config, "w") as f:
        json.dump(channels, f)
    out = subprocess.run(
        [TOOLKIT_PYTHON, "-c", TOOLKIT], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
        env=dict(os.environ, SAGEMAKER_BASE_DIR=job.base,
                 TRAINING_JOB_NAME="job-1"))
    line = [ln for ln in out.stdout.splitlines() if ln.startswith("values ")]
    if not ok(line, "%s: %s: the toolkit reads the tree" % (name, what),
              out.stderr):
        return
    their_args, theirs = json.loads(line[0][7:])
    i = their_args.index("--model_dir")
    ok(their_args[:i] + their_args[i + 2:] == args,
       "%s: %s: the toolkit's own arguments" % (name, what), their_args)
    wrong = []
    for key, value in theirs.items():
        want, got = told(value), told(env.get(key, "unset"))
        if key in ("SM_HPS", "SM_TRAINING_ENV"):
            hps = want.get("hyperparameters", want)
            del hps["model_dir"]
        if key in ("SM_FRAMEWORK_PARAMS", "SM_TRAINING_ENV"):
            part = want.get("additional_framework_parameters", want)
            part.clear()
        if key == "SM_TRAINING_ENV":
            want["module_dir"] = got.get("module_dir")
        if key in ("SM_USER_ARGS", "SM_HP_MODEL_DIR") or key in APART:
            continue
        if want != got:
            wrong.append("%s: %s, not %s" % (key, got, want))
    ok(not wrong and len(theirs) > 35,
       "%s: %s: every variable as the toolkit has it" % (name, what),
       "\n".join(wrong))


PIP = """#!/bin/sh
[ "$1 $2" = "-m pip" ] || exec "%s" "$@"
echo "pip: $* in $(pwd -P) from ${PIP_INDEX_URL-PyPI}"
[ ! -e slow ] || { echo installing; exec sleep 60; }
[ ! -e broken ] || exit 3
"""
BOTO3 = """class client:
    def __init__(self, service, region_name):
        self.name = service + "." + region_name
    def get_authorization_token(self, domain, domainOwner):
        return {"authorizationToken": "T" + domain + domainOwner}
    def get_repository_endpoint(self, domain, domainOwner, repository, format):
        return {"repositoryEndpoint":
                "https://%s/%s/%s/" % (self.name, format, repository)}
"""


def make_tools(tools):
    folder = os.path.realpath(tempfile.mkdtemp(dir="."))
    for tool, text in tools.items():
        with open(os.path.join(folder, tool), "w") as f:
            f.write(text)
        os.chmod(os.path.join(folder, tool), 0o755)
    return folder


def test_requirements(shell, name):
    tools = make_tools({"python3": PIP % sys.executable, "boto3.py": BOTO3})
    more = {"path": tools + ":" + os.environ["PATH"], "block": {"code": "."}}
    train = (0o755, "#!/bin/sh\necho ran\n")
    need = {"requirements.txt": (0o644, "x\n"), "train.py": train}
    pip = "pip: -m pip install -r requirements.txt in %s/code from "

    def run(command=("./train.py",), files=need, block=None):
        job = Job(shell, list(command), files=files, **dict(
            more, block=dict({"code": "."}, **(block or {}))))
        return job, job.run()
    job, got = run()
    out = job.output()
    ok(got == 0 and pip % job.base + "PyPI" in out and
       out.index("pip:") < out.index("\nran"),
       "%s: requirements.txt is installed before the program" % name, out)
    job, got = run(["python3", "-m", "this"])
    ok(got == 0 and pip % job.base in job.output(),
       "%s: for a module of Python, too" % name, job.output())
    for what, args in (
            ("without the file", {"files": {"train.py": train}}),
            ("for another program", {"command": ["sh", "-c", "echo ran"]}),
            ("when the study says so", {"block": {"requirements": False}})):
        job, got = run(**args)
        ok(got == 0 and "pip:" not in job.output() and
           "ran" in job.output(), "%s: nothing is installed %s" % (name, what),
           job.output())
    job, got = run(files=dict(need, broken=train))
    ok(got == 3 and job.failure() == "pip could not install "
       "requirements.txt: status 3" and "ran" not in job.output(),
       "%s: what cannot be installed ends the job" % name, job.output())
    job = Job(shell, ["./train.py"], files=dict(need, slow=train), **more)
    job.start()
    job.says("installing")
    job.proc.send_signal(signal.SIGTERM)
    ok(job.end() == 143 and job.failure() ==
       "the job was stopped before the trial began",
       "%s: a stop does not wait for pip" % name, job.output())
    job = Job(shell, ["./train.py"], files=need, **more)
    job.env.update(PYTHONPATH=tools, CA_REPOSITORY_ARN="arn:aws:codeartifact:"
                   "eu-west-1:12:repository/dom/main")
    ok(job.run() == 0 and pip % job.base + "https://aws:Tdom12@codeartifact."
       "eu-west-1/pypi/main/simple/" in job.output(),
       "%s: from CodeArtifact" % name, job.output())


# What AWS's toolkit sets for each type, launcher and number of hosts.
TOOLKIT_EFA = """import json, os, sys
from sagemaker_training import (SM_EFA_NCCL_INSTANCES, SM_EFA_RDMA_INSTANCES, mpi,
                                torch_distributed)
names = sys.argv[1].split()
mpi._modelparallel_environment_command = lambda kind: []

def torchrun(kind, hosts):
    torch_distributed.TorchDistributedRunner(
        "train.py", [], {}, 1, "algo-1", hosts, "algo-1", "eth0", kind)._setup()
    return {n: os.environ.pop(n) for n in names if n in os.environ}

def mpirun(kind, hosts):
    command = mpi.MasterRunner(
        "train.py", [], {}, 1, "algo-1", hosts, "", "eth0",
        instance_type=kind)._create_command()
    pairs = [a.split("=", 1) for a, b in zip(command[1:], command) if b == "-x"]
    return {p[0]: p[1] for p in pairs if p[0] in names}

for name in names:
    os.environ.pop(name, None)
for kind in sorted({*SM_EFA_NCCL_INSTANCES, *SM_EFA_RDMA_INSTANCES,
                    "ml.g5.xlarge", "ml.m5.large"}):
    for make in torchrun, mpirun:
        for hosts in ["algo-1"], ["algo-1", "algo-2"]:
            if hosts[1:] and (make is mpirun or kind[3:6] not in ("p5.", "g5.")):
                continue
            print("values " + json.dumps([
                kind, make.__name__, hosts, kind in SM_EFA_NCCL_INSTANCES,
                make(kind, hosts)]))
"""
EFA_NAMES = ["FI_PROVIDER", "FI_EFA_USE_DEVICE_RDMA", "RDMAV_FORK_SAFE",
             "NCCL_PROTO"]
# Starts one rank.
MPIRUN = """#!/bin/sh
[ "$1" != --version ] || exit 0
while [ "$1" != sh ]; do shift; done
exec "$@"
"""


def test_efa_toolkit(shell, name):
    """Variables of EFA as AWS's toolkit sets them."""
    if not TOOLKIT_PYTHON:
        skip("%s: EFA beside AWS's training toolkit" % name,
             "no python has sagemaker_training: HPOTUNE_TEST_TOOLKIT")
        return
    out = subprocess.run(
        [TOOLKIT_PYTHON, "-c", TOOLKIT_EFA, " ".join(EFA_NAMES)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=dict(os.environ, SAGEMAKER_BASE_DIR=os.getcwd() + "/none"))
    rows = [json.loads(ln[7:]) for ln in out.stdout.splitlines()
            if ln.startswith("values ")]
    ok(len(rows) >= 20, "%s: the toolkit says what it sets" % name, out.stderr)
    path = make_tools({"torchrun": TORCHRUN, "mpirun": MPIRUN}) + ":" + \
        os.environ["PATH"]
    wrong = []
    for kind, launcher, hosts, listed, want in rows:
        # Ours differ on purpose: NCCL chooses on one machine, and forks are
        # made safe with mpirun, too.
        if len(hosts) == 1 and not listed:
            want.pop("NCCL_PROTO", None)
        if "FI_EFA_USE_DEVICE_RDMA" in want:
            want["RDMAV_FORK_SAFE"] = "1"
        job = Job(shell, sh('echo "is $(env | grep -E "^(%s)=" | sort | tr "\\n" " ")"' %
                            "|".join(EFA_NAMES)),
                  block={"instance_count": len(hosts), "distribution": {
                      "launcher": launcher, "processes_per_host": 1}},
                  path=path, config={
                      "current_host": "algo-1", "hosts": hosts,
                      "current_instance_type": kind})
        for variable in EFA_NAMES:
            job.env.pop(variable, None)
        job.env["HPT_SYS"] = "/none"
        status = job.run()
        said = "is " + "".join("%s=%s " % p for p in sorted(want.items()))
        if status != 0 or said not in job.output():
            wrong.append("%s, %s, %s: not %s: %s" % (
                kind, launcher, hosts, said, job.output()[-300:]))
    ok(not wrong, "%s: EFA as the toolkit sets it on %d types and launchers" %
       (name, len(rows)), "\n".join(wrong))


def test_efa(shell, name):
    tools = make_tools({"torchrun": TORCHRUN})
    efa = make_tools({})
    os.makedirs(efa + "/bus/efa")
    os.makedirs(efa + "/class/infiniband/rdmap0/device")
    os.symlink("../../../../bus/efa",
               efa + "/class/infiniband/rdmap0/device/driver")
    for kind, launcher, root, trial, want in (
            ("ml.p4d.24xlarge", "torchrun", "/none", {},
             ["efa", "1", "1", "simple"]),
            ("ml.g5.48xlarge", "torchrun", "/none", {},
             ["efa", "", "", "simple"]),
            ("ml.p5en.48xlarge", "torchrun", efa, {}, ["efa", "", "", ""]),
            ("ml.g5.xlarge", "torchrun", "/none", {}, ["", "", "", ""]),
            ("ml.p4d.24xlarge", "none", efa, {}, ["", "", "", ""]),
            ("ml.p4d.24xlarge", "torchrun", "/none",
             {"env": {"FI_PROVIDER": "tcp", "NCCL_PROTO": "LL"}},
             ["tcp", "1", "1", "LL"])):
        block = {"distribution": {"launcher": launcher}}
        if launcher != "none":
            block["distribution"]["processes_per_host"] = 1
        job = Job(shell, sh('echo "is $FI_PROVIDER,$FI_EFA_USE_DEVICE_RDMA,'
                            '$RDMAV_FORK_SAFE,$NCCL_PROTO"'), trial=trial,
                  block=block, path=tools + ":" + os.environ["PATH"],
                  config={"current_host": "algo-1", "hosts": ["algo-1"],
                          "current_instance_type": kind})
        for variable in EFA_NAMES:
            job.env.pop(variable, None)
        job.env["HPT_SYS"] = root
        ok(job.run() == 0 and "is %s\n" % ",".join(want) in job.output(),
           "%s: EFA on %s with %s%s" % (name, kind, launcher, trial and
                                        ", as the study says"), job.output())


def test_statuses(shell, name):
    for text, status, why in (
            ("exit 0", 0, ""),
            ("exit 1", 1, "the trial exited with status 1"),
            ("exit 77", 77, "the trial exited with status 77"),
            ("kill -KILL $$", 137, "the trial was ended by signal 9"),
            ("kill -SEGV $$", 139, "the trial was ended by signal 11"),
            ("kill -TERM $$", 143, "the trial was ended by signal 15"),
            ("echo mine >${{HPOTUNE_OUTPUT_DIR%/*}}/failure; exit 5", 5,
             "mine")):
        job = Job(shell, sh(text))
        got = job.run()
        ok(got == status and job.failure() == why,
           "%s: %s: status %d" % (name, text, status),
           "%s %r %s" % (got, job.failure(), job.output()))
    for command, status, why in (
            (["no-such-program"], 127, "the image has no no-such-program"),
            (["./no/such"], 127, "there is no ./no/such in the code")):
        job = Job(shell, command)
        got = job.run()
        ok(got == status and why in job.failure(),
           "%s: %s is missed" % (name, command[0]),
           "%s %s" % (got, job.failure()))
    job = Job(shell, sh("true"))
    for key in list(job.env):
        if key.startswith("HPT_SPEC"):
            del job.env[key]
    ok(job.run() == 126 and "no HPT_SPEC_0" in job.failure(),
       "%s: without orders" % name, job.failure())


HANDLER = """trap 'echo saving; echo kept >$HPOTUNE_CHECKPOINT_DIR/c; exit %d' \
TERM; echo up; while :; do sleep 0.05; done"""


def test_term(shell, name):
    for status in (0, 9):
        job = Job(shell, sh(HANDLER % status)).start()
        job.says("up")
        job.proc.send_signal(signal.SIGTERM)
        got = job.end()
        ok(got == status and job.read("checkpoints/c") == "kept\n",
           "%s: SIGTERM reaches the trial, which ends with %d" %
           (name, status), "%s %s" % (got, job.output()))
    # The trial has ended before the shell, which is busy, looks at it again.
    job = Job(shell, sh(HANDLER % 9))
    run, looks = (job.base + "/input/data/hpotune/run.sh",
                  '	[ "$terms" -ne "$before" ] || break\n')
    with open(run) as f:
        text = f.read()
    ok(text.count(looks) == 1, "%s: the script looks at its trial" % name)
    with open(run, "w") as f:
        f.write(text.replace(looks, looks + "	sleep 0.5\n"))
    job.start()
    job.says("up")
    job.proc.send_signal(signal.SIGTERM)
    got = job.end()
    ok(got == 9, "%s: its status is that of the trial, not of the signal" %
       name, "%s %s" % (got, job.output()))
    job = Job(shell, sh("trap '' TERM; echo up; sleep 60 & wait; sleep 60"),
              trial={"grace": 1}).start()
    job.says("up")
    began = time.time()
    job.proc.send_signal(signal.SIGTERM)
    job.proc.send_signal(signal.SIGTERM)
    got = job.end()
    ok(got == 137 and 0.9 < time.time() - began < 10 and
       job.failure() == "the trial was ended by signal 9",
       "%s: who ignores it is killed after the grace" % name,
       "%s %s %s" % (got, time.time() - began, job.output()))
    job = Job(shell, sh("trap 'exit 4' TERM; (trap '' TERM; echo $$ up; "
                        "exec sleep 99) & while :; do sleep 0.05; done"))
    job.start()
    job.says("up")
    job.proc.send_signal(signal.SIGTERM)
    got = job.end()
    ok(got == 4, "%s: a child that stays behind does not hold the job" % name,
       got)
    # One signal at every moment of a short life: never a hang, never a
    # status that is neither the trial's nor that of a stopped one.
    rng = random.Random(3)
    seen = set()
    for _ in range(12):
        job = Job(shell, sh("trap 'exit 6' TERM; i=0; while [ $i -lt 20 ]; "
                            "do i=$((i + 1)); sleep 0.01; done; exit 5"))
        job.start()
        time.sleep(rng.random() * 0.5)
        job.proc.send_signal(signal.SIGTERM)
        seen.add(job.end(30))
    # A signal before our first line counts is the shell's own affair.
    ok(seen <= {5, 6, 143, -15}, "%s: a signal at any moment" % name, seen)


# A program in its own file, behind what people put before one.
PROGRAM = """import os, signal, sys, time
def term(*_):
    with open(os.environ["HPOTUNE_CHECKPOINT_DIR"] + "/heard", "a") as f:
        f.write("heard\\n")
    time.sleep(1.5)
    print("saved", flush=True)
    sys.exit(3)
signal.signal(signal.SIGTERM, term)
print("up", flush=True)
time.sleep(100)
"""


# Before it, with a handler that makes subprocess.call() kill it, or does nothing.
HANDLES = """import signal, subprocess, sys
def term(*_):
    if sys.argv[1] == "raises":
        raise KeyboardInterrupt
signal.signal(signal.SIGTERM, term)
subprocess.call(sys.argv[2:])
"""


def test_wrapped(shell, name):
    with open("program.py", "w") as f:
        f.write(PROGRAM)
    with open("handles.py", "w") as f:
        f.write(HANDLES)
    run = "%s %s" % (sys.executable, os.path.abspath("program.py"))
    wrappers = {
        "a shell": run + "; true",
        "two shells": "sh -c '%s; true'; true" % run,
        "a pipe": run + " | cat",
        "a reader that is slow":
            run + " | while read -r line; do sleep 0.4; echo $line; done",
        "a trap": "trap 'echo bye' TERM; %s; true" % run,
        "a trap that passes it on":
            "trap 'kill $p' TERM; %s & p=$!; wait $p; wait $p" % run,
        "one that ignores it": "trap '' TERM; %s; true" % run,
        "a handler that raises": "exec %s %s raises %s" % (
            sys.executable, os.path.abspath("handles.py"), run),
        "one that forgets it": "exec %s %s forgets %s" % (
            sys.executable, os.path.abspath("handles.py"), run),
        "timeout": "exec timeout 90 sh -c '%s; true'" % run,
    }
    for what, line in wrappers.items():
        job = Job(shell, sh(line))
        job.start()
        job.says("up")
        job.proc.send_signal(signal.SIGTERM)
        got = job.end()
        ok(job.read("checkpoints/heard") == "heard\n" and
           "\nsaved\n" in job.output(),
           "%s: behind %s the program hears a stop once, and has its grace" %
           (name, what), "%s %s %s" % (
               got, job.read("checkpoints/heard"), job.output()))


def test_metrics(shell, name):
    job = Job(shell, python("""
import os
f = open(os.environ["HPOTUNE_METRICS"], "a")
for i in range(3000):
    f.write('{"step": %d, "loss": 1e-3}\\n' % i)
f.write('{"step": 3000}')
f.close()
print("hpotune: loss=1")
"""))
    ok(job.run() == 0, "%s: metrics: it runs" % name, job.output())
    lines = [ln for ln in job.output().splitlines()
             if ln.startswith("hpotune-json: ")]
    ok(lines == ['hpotune-json: {"step": %d, "loss": 1e-3}' % i
                 for i in range(3000)] + ['hpotune-json: {"step": 3000}'],
       "%s: every line of the metrics file, in order, the last too" % name,
       "%d lines, %s" % (len(lines), lines[-2:]))
    ok("hpotune: loss=1\n" in job.output(), "%s: its own output" % name)
    job = Job(shell, sh("printf '{{\"step\":' >>$HPOTUNE_METRICS; sleep 1.3; "
                        "echo ' 1}}' >>$HPOTUNE_METRICS; read x <go; exit 0",
                        ), files={"x": (0o644, "")}, block={"code": "."})
    os.makedirs(job.base + "/code", exist_ok=True)
    os.mkfifo(job.base + "/code/go")
    job.start()
    ok(job.says('hpotune-json: {"step": 1}\n'),
       "%s: a line in two parts, while the trial lives" % name, job.output())
    with open(job.base + "/code/go", "w") as f:
        f.write("x\n")
    ok(job.end() == 0 and job.output().count("hpotune-json") == 1,
       "%s: and only once" % name, job.output())


def test_code(shell, name):
    files = {"train.sh": (0o755, "#!/bin/sh\npwd\necho ran $1\n"),
             "plain.sh": (0o644, "#!/bin/sh\necho plain $1\n"),
             "sub/x.sh": (0o755, "#!/bin/sh\npwd\ncat data\n"),
             "sub/data": (0o644, "of sub\n")}
    code = {"code": "src"}
    for command, want in ((["./train.sh", "{lr}"], "ran 0.5"),
                          (["src/train.sh", "{lr}"], "ran 0.5"),
                          (["./plain.sh", "a"], "plain a")):
        job = Job(shell, command, files=files, block=code)
        ok(job.run() == 0 and want in job.output().splitlines(),
           "%s: %s of the code" % (name, command[0]), job.output())
    job = Job(shell, ["a/b/train.sh"], files=files, block={"code": "a/b"})
    ok(job.run() == 0 and job.base + "/code" in job.output().splitlines(),
       "%s: a path of two folders above the code" % name, job.output())
    os.makedirs("sub", exist_ok=True)
    job = Job.__new__(Job)
    # The working folder below the code must be there when it is read.
    made = tempfile.mkdtemp

    def with_sub(**kw):
        top = made(**kw)
        os.makedirs(os.path.join(top, "sub"))
        return top
    tempfile.mkdtemp = with_sub
    job.__init__(shell, ["./x.sh"], files=files, block={"code": "."},
                 trial={"workdir": "sub"})
    tempfile.mkdtemp = made
    ok(job.run() == 0 and "of sub" in job.output(),
       "%s: a working folder below the code" % name, job.output())
    job = Job(shell, ["true"], block=code)
    ok(job.run() == 126 and "the code is not there" in job.failure(),
       "%s: code that did not come" % name, job.failure())
    tools = os.path.realpath(tempfile.mkdtemp(dir="."))
    for tool in ("sh", "mkdir", "cat", "rm", "sleep", "ln", "chmod", "getconf"):
        os.symlink(shutil.which(tool), os.path.join(tools, tool))
    if shell[0].endswith("busybox"):
        skip("%s: an image without tar" % name, "busybox has it in itself")
    else:
        shell = [shutil.which(shell[0])] + shell[1:]
        job = Job(shell, ["./train.sh"], files=files, block=code, path=tools)
        ok(job.run() == 126 and job.failure() ==
           "the image has no tar, which unpacks the code folder",
           "%s: an image without tar" % name,
           job.failure() + job.output())


TWO = ("algo-1", "algo-2")
REPORT = sh('echo "hpotune: step=1 loss=3"; echo plain; '
            'echo "{{}}" >>$HPOTUNE_METRICS; exit 0')


def test_hosts(shell, name):
    first = Job(shell, REPORT, hosts=TWO, block={"instance_count": 2})
    other = Job(shell, REPORT, host="algo-2", hosts=TWO,
                block={"instance_count": 2})
    ok(first.run() == 0 and other.run() == 0, "%s: two hosts" % name,
       first.output() + other.output())
    ok("hpotune: step=1 loss=3\n" in first.output() and
       "hpotune-json: {}\n" in first.output(),
       "%s: the first one reports" % name, first.output())
    ok("hpotune-rank-1: plain\n" in other.output(),
       "%s: the other one says who it is" % name, other.output())
    ok("hpotune: " not in other.output() and
       "hpotune-json" not in other.output() and
       "hpotune-rank-1: step=1 loss=3\n" in other.output(),
       "%s: and does not report" % name, other.output())
    config = {"current_host": "algo-3", "current_group_name": "b",
              "instance_groups": [
                  {"instance_group_name": "a", "hosts": ["algo-9"]},
                  {"instance_group_name": "b", "hosts": ["algo-8"]}],
              "hosts": ["algo-1", "algo-2", "algo-3"]}
    job = Job(shell, DUMP, config=config)
    job.run()
    env = json.loads(job.read("output/data/dump"))[1]
    ok(env["SM_HOSTS"] == '["algo-1","algo-2","algo-3"]' and
       env["SM_CURRENT_HOST_RANK"] == "2" and
       env["SM_CURRENT_INSTANCE_GROUP"] == "b" and
       env["NCCL_SOCKET_IFNAME"] == "eth0",
       "%s: hosts beside groups" % name, env)


# As torchrun starts its ranks, in as far as the script counts on it.
TORCHRUN = """#!/usr/bin/env python3
import os, signal, subprocess, sys
args = dict(a[2:].partition("=")[::2] for a in sys.argv[1:] if a[:2] == "--")
command = [a for a in sys.argv[1:]]
command = command[command.index("--no_python") + 1:]
print("torchrun", sorted(a for a in args.items() if a[1]), flush=True)
n = int(args["nproc_per_node"])
node = int(args.get("node_rank", 0))
ranks = [subprocess.Popen(command, env=dict(
    os.environ, RANK=str(node * n + i), LOCAL_RANK=str(i),
    WORLD_SIZE=str(n * int(args["nnodes"])))) for i in range(n)]
signal.signal(signal.SIGTERM, lambda *a: [p.terminate() for p in ranks])
sys.exit(max(p.wait() for p in ranks))
"""


def test_torchrun(shell, name):
    tools = os.path.realpath(tempfile.mkdtemp(dir="."))
    with open(tools + "/torchrun", "w") as f:
        f.write(TORCHRUN)
    os.chmod(tools + "/torchrun", 0o755)
    path = tools + ":" + os.environ["PATH"]
    block = {"distribution": {"launcher": "torchrun",
                              "processes_per_host": 3}}
    rank = sh('echo "hpotune: step=$RANK loss=$WORLD_SIZE"; '
              'echo "{{\\"r\\":$RANK}}" >>$HPOTUNE_METRICS; exit "$1"', "0")
    job = Job(shell, rank, block=block, path=path)
    ok(job.run() == 0 and
       re.findall("^hpotune: .*", job.output(), re.M) ==
       ["hpotune: step=0 loss=3"] and
       re.findall("^hpotune-json: .*", job.output(), re.M) ==
       ['hpotune-json: {"r":0}'] and
       "('nnodes', '1'), ('nproc_per_node', '3')]" in job.output(),
       "%s: torchrun: rank 0 of 3 reports" % name, job.output())
    ok(all("hpotune-rank-%d: step=%d loss=3\n" % (r, r) in job.output()
           for r in (1, 2)), "%s: torchrun: the others say who they are" %
       name, job.output())
    job = Job(shell, rank, block=dict(block, instance_count=2), path=path,
              host="algo-2", hosts=TWO)
    ok(job.run() == 0 and "hpotune: " not in job.output() and
       "[('master_addr', 'algo-1'), ('master_port', '7777'), ('nnodes', "
       "'2'), ('node_rank', '1'), ('nproc_per_node', '3')]" in job.output(),
       "%s: torchrun: the second of two hosts" % name, job.output())
    job = Job(shell, rank[:-1] + ["7"], block=block, path=path)
    ok(job.run() == 7, "%s: torchrun: its status" % name, job.output())
    test_neurons(shell, name, tools)
    job = Job(shell, sh(HANDLER % 0), block=block, path=path).start()
    wait_for(lambda: job.output().count("up") == 3)
    job.proc.send_signal(signal.SIGTERM)
    ok(job.end() == 0 and job.read("checkpoints/c") == "kept\n",
       "%s: torchrun: SIGTERM reaches every rank" % name, job.output())
    job = Job(shell, rank, block=block)
    if shutil.which("torchrun"):
        skip("%s: torchrun: it is missed" % name, "it is installed here")
    else:
        ok(job.run() == 127 and "has no torchrun" in job.failure(),
           "%s: torchrun: it is missed" % name, job.failure())


# As on two chips of Trainium.
NEURON_LS = """#!/bin/sh
[ "$1" = -j ] && cat <<'END'
[{"neuron_device": 0, "nc_count": 2, "connected_to": [1, 2]},
 {"neuron_device": 1, "nc_count": 2, "connected_to": null,
  "neuron_processes": []}]
END
"""


def test_neurons(shell, name, tools):
    """One process for each NeuronCore, by type or as they are counted."""
    with open(tools + "/neuron-ls", "w") as f:
        f.write(NEURON_LS)
    os.chmod(tools + "/neuron-ls", 0o755)
    for kind, cores, want in (("ml.trn1.2xlarge", 4, 2),
                              ("ml.trn9.48xlarge", 4, 4),
                              ("ml.trn2.48xlarge", 64, 64)):
        job = Job(shell, sh('[ "$RANK" != 0 ] || echo "$SM_NUM_NEURONS '
                            '$WORLD_SIZE"'), path=tools + ":" +
                  os.environ["PATH"], block={
                      "instance_type": kind,
                      "distribution": {"launcher": "torchrun"}},
                  config={"current_host": "algo-1", "hosts": ["algo-1"],
                          "current_instance_type": kind})
        ok(job.run() == 0 and "\n%d %d\n" % (cores, want) in job.output(),
           "%s: torchrun on %s: %d processes" % (name, kind, want),
           job.output())
    os.unlink(tools + "/neuron-ls")


def test_mpirun(shell, name):
    if not shutil.which("mpirun"):
        skip("%s: mpirun" % name, "it is not installed")
        return
    block = {"distribution": {"launcher": "mpirun", "processes_per_host": 3,
                              "custom_mpi_options": "-x MPI_SAID=yes"}}
    rank = sh('echo "hpotune: step=$OMPI_COMM_WORLD_RANK loss=1"; '
              'echo "{{\\"said\\":\\"$MPI_SAID\\"}}" >>$HPOTUNE_METRICS; '
              'exit "$1"', "0")
    job = Job(shell, rank, block=block)
    ok(job.run() == 0 and
       re.findall("^hpotune: .*", job.output(), re.M) ==
       ["hpotune: step=0 loss=1"] and
       re.findall("^hpotune-json: .*", job.output(), re.M) ==
       ['hpotune-json: {"said":"yes"}'] and
       "hpotune-rank-2: step=2 loss=1\n" in job.output(),
       "%s: mpirun: rank 0 of 3 reports" % name, job.output())
    job = Job(shell, rank[:-1] + ["7"], block=block)
    ok(job.run() == 7, "%s: mpirun: its status" % name, job.output())
    slow = HANDLER.replace("echo saving", "sleep 2; echo saving")
    job = Job(shell, sh(slow % 0), block=block).start()
    wait_for(lambda: job.output().count("up") == 3)
    job.proc.send_signal(signal.SIGTERM)
    job.end()
    ok(job.read("checkpoints/c") == "kept\n",
       "%s: mpirun: SIGTERM reaches the ranks, which have their grace" % name,
       job.output())


# "mpirun" as AWS's deep learning containers have it: a script that does not
# exec, before Open MPI, and before another one.
WRAPPER = """#!%s
"%s" --allow-run-as-root "$@"
"""
HYDRA = """#!/usr/bin/env python3
import os, signal, subprocess, sys
if "--version" in sys.argv:
    sys.exit("HYDRA build details:")
command = sys.argv[sys.argv.index("-hosts") + 2:]
ranks = [subprocess.Popen(command, env=dict(os.environ, PMI_RANK=str(i)))
         for i in range(int(sys.argv[sys.argv.index("-n") + 1]))]
signal.signal(signal.SIGTERM, lambda *a: [p.terminate() for p in ranks])
sys.exit(max(p.wait() for p in ranks))
"""


def test_mpirun_script(shell, name):
    """Stops where mpirun is a script in front of the real one."""
    slow = sh(HANDLER.replace("echo saving", "sleep 0.3; echo saving") % 0)
    block = {"distribution": {"launcher": "mpirun", "processes_per_host": 3}}
    tools = os.path.realpath(tempfile.mkdtemp(dir="."))
    real = tools + "/mpirun.real"
    with open(real, "w") as f:
        f.write(HYDRA)
    front = "/bin/bash" if os.access("/bin/bash", os.X_OK) else "/bin/sh"
    cases = [("another mpirun", front, real, "")]
    if shutil.which("mpirun"):
        cases.append(("Open MPI", front, shutil.which("mpirun"), ""))
        cases.append(("no setsid", "/bin/sh", shutil.which("mpirun"),
                      "! command -v setsid >/dev/null 2>&1"))
    else:
        skip("%s: a script in front of Open MPI" % name, "it is not installed")
    for what, front, program, cut in cases:
        with open(tools + "/mpirun", "w") as f:
            f.write(WRAPPER % (front, program))
        for tool in (tools + "/mpirun", real):
            os.chmod(tool, 0o755)
        job = Job(shell, slow, block=block,
                  path=tools + ":" + os.environ["PATH"])
        run = job.base + "/input/data/hpotune/run.sh"
        with open(run) as f:
            text = f.read()
        if cut:
            ok(cut in text, "%s: %s: the script looks for it" % (name, what))
            with open(run, "w") as f:
                f.write(text.replace(cut, "true"))
        job.start()
        wait_for(lambda: job.output().count("up") == 3)
        job.proc.send_signal(signal.SIGTERM)
        got = job.end()
        ok(got == 0 and job.output().count("saving") == 3 and
           job.read("checkpoints/c") == "kept\n",
           "%s: mpirun as a script (%s): the ranks hear SIGTERM, once, and "
           "have their grace" % (name, what), "%s %s" % (got, job.output()))


# "ssh" to a host that is on this machine, but has nothing of our environment.
SSH = """#!/bin/sh
while :; do
	case $1 in
	-o) shift 2 ;;
	-*) shift ;;
	*) break ;;
	esac
done
echo "ssh $1" >>"$SSH_LOG"
shift
# Another host has another /tmp: mpirun's two sides, and one that is still
# tidying up, trip over each other in one.
exec env -i PATH="$PATH" SSH_LOG="$SSH_LOG" \
    TMPDIR="$(mktemp -d "${SSH_LOG%/*}/t.XXXX")" sh -c "$*"
"""
# One that mpirun of another host comes to, soon and for a while.
SSHD = """#!/bin/sh
sleep 0.3
"${0%/*}/orted" 1.5
exec sleep 60
"""


def test_mpirun_hosts(shell, name):
    tools = os.path.realpath(tempfile.mkdtemp(dir="."))
    for tool, text in (("ssh", SSH), ("sshd", SSHD)):
        with open(os.path.join(tools, tool), "w") as f:
            f.write(text)
        os.chmod(os.path.join(tools, tool), 0o755)
    shutil.copyfile(shutil.which("sleep"), tools + "/orted")
    os.chmod(tools + "/orted", 0o755)
    block = {"instance_count": 2, "distribution": {
        "launcher": "mpirun", "processes_per_host": 2}}
    more = {"block": block, "path": tools + ":" + os.environ["PATH"]}
    job = Job(shell, ["true"], host="algo-2", hosts=TWO, **more)
    began = time.time()
    ok(job.run() == 0 and time.time() - began > 1.5,
       "%s: mpirun: the second host serves it and ends with it" % name,
       job.output())
    if not shutil.which("mpirun"):
        skip("%s: mpirun over two hosts" % name, "it is not installed")
        return
    more["config"] = {"current_host": "algo-1", "hosts": list(TWO),
                      "network_interface_name": "lo"}
    job = Job(shell, sh('echo "hpotune: step=$OMPI_COMM_WORLD_RANK '
                        'loss=$SM_HP_LR"'), **more)
    os.unlink(tools + "/orted")
    job.env["SSH_LOG"] = tools + "/log"
    ok(job.run() == 0 and
       sorted(re.findall("^hpotune.* loss.*", job.output(), re.M)) ==
       ["hpotune-rank-%d: step=%d loss=0.5" % (r, r) for r in (1, 2, 3)] +
       ["hpotune: step=0 loss=0.5"],
       "%s: mpirun: four ranks on two hosts, with the environment" % name,
       job.output())
    with open(tools + "/log") as f:
        ok("ssh algo-2\n" in f.read(), "%s: mpirun: over ssh" % name)
    job = Job(shell, sh(HANDLER % 0), **more)
    job.env["SSH_LOG"] = tools + "/log"
    job.start()
    wait_for(lambda: job.output().count("up") == 4)
    job.proc.send_signal(signal.SIGTERM)
    ok(job.end() == 0 and job.output().count("saving") == 4,
       "%s: mpirun: SIGTERM reaches the ranks of both" % name, job.output())


def children_of(pid):
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
            return [int(p) for p in f.read().split()]
    except OSError:
        return []


def test_first(shell, name):
    """As process 1, where only handled signals arrive."""
    front = ["unshare", "-pf", "--mount-proc"]
    if os.geteuid() != 0 or subprocess.call(
            front + ["true"], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL) != 0:
        skip("%s: as process 1" % name, "no namespaces here")
        return
    job = Job(shell, sh("echo I am $PPID under; " + HANDLER % 8)).start(front)
    job.says("up")
    ok("I am 1 under" in job.output(), "%s: it is process 1" % name,
       job.output())
    first = children_of(job.proc.pid)
    os.kill(first[0], signal.SIGTERM)
    got = job.end()
    ok(got == 8 and job.read("checkpoints/c") == "kept\n",
       "%s: process 1 hands SIGTERM on" % name, "%s %s" % (got, job.output()))
    job = Job(shell, sh("trap '' TERM; echo up; sleep 60"),
              trial={"grace": 0}).start(front)
    job.says("up")
    os.kill(children_of(job.proc.pid)[0], signal.SIGTERM)
    ok(job.end() == 137, "%s: process 1 kills who stays" % name, job.output())
    job = Job(shell, sh("(setsid sleep 98765 &) ; exit 3"))
    job.start(front)
    ok(job.end() == 3 and subprocess.call(
        ["sh", "-c", "grep -lsz '^98765$' /proc/[0-9]*/cmdline >/dev/null"])
       != 0, "%s: nothing outlives process 1" % name)


def shells():
    found = {}
    if shutil.which("dash"):
        found["dash"] = ["dash"]
    if shutil.which("busybox"):
        found["busybox"] = ["busybox", "sh"]
    if shutil.which("bash"):
        found["bash"] = ["bash", "--posix"]
    return found or {"sh": ["sh"]}


TOOLKIT_PYTHON = toolkit_python()
name, shell = next(iter(shells().items()))
if sys.argv[3:] == ["toolkit"]:
    test_toolkit(shell, name)
    test_efa_toolkit(shell, name)
    print("1..%d" % count)
    sys.exit(failed > 0)
for name, shell in shells().items():
    for test in (test_values, test_names, test_toolkit, test_requirements,
                 test_statuses, test_term, test_wrapped,
                 test_metrics, test_code, test_hosts, test_torchrun,
                 test_mpirun, test_mpirun_script, test_mpirun_hosts,
                 test_first):
        test(shell, name)
name, shell = next(iter(shells().items()))
test_efa(shell, name)
test_efa_toolkit(shell, name)
print("1..%d" % count)
sys.exit(failed > 0)
