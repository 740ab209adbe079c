"""Bodies of CreateTrainingJob for a table of studies, against the model.

Arguments: the program sm-request, the manual page.  Prints TAP.
"""

import json
import os
import re
import subprocess
import sys

import botocore.session
from botocore.validate import ParamValidator

TOOL, PAGE = sys.argv[1], sys.argv[2]
MODEL = botocore.session.get_session().get_service_model("sagemaker")
SHAPE = MODEL.operation_model("CreateTrainingJob").input_shape
OLD = tuple(int(n) for n in botocore.__version__.split(".")[:2]) < (1, 40)
count = failed = 0


def ok(good, what, why=""):
    global count, failed
    count += 1
    failed += not good
    print("%sok %d - %s" % ("" if good else "not ", count, what))
    if not good:
        for line in str(why).splitlines():
            print("# " + line)
    return good


def pattern_fits(pattern, text):
    # Unicode properties as Python knows them; . is one line as in Java.
    pattern = pattern.replace("\\p{L}\\p{Z}\\p{N}_", "\\w\\s")
    if pattern == ".*" or pattern == ".+":
        return not re.search("[\n\r\u0085\u2028\u2029]", text) and (
            text != "" or pattern == ".*")
    return re.fullmatch(pattern, text) is not None


def limits(shape, value, path):
    """What botocore leaves to the service: lengths, patterns, words."""
    meta = shape.metadata
    if shape.type_name == "structure":
        for key, item in value.items():
            yield from limits(shape.members[key], item, path + "." + key)
    elif shape.type_name == "list":
        if not meta.get("min", 0) <= len(value) <= meta.get("max", 1e9):
            yield "%s has %d elements" % (path, len(value))
        for i, item in enumerate(value):
            yield from limits(shape.member, item, "%s[%d]" % (path, i))
    elif shape.type_name == "map":
        if len(value) > meta.get("max", 1e9):
            yield "%s has %d entries" % (path, len(value))
        for key, item in value.items():
            yield from limits(shape.key, key, path + " key")
            yield from limits(shape.value, item, path + "." + key)
    elif shape.type_name == "string":
        if not meta.get("min", 0) <= len(value) <= meta.get("max", 1e9):
            yield "%s has %d characters: %s" % (path, len(value), value[:80])
        if "pattern" in meta and not pattern_fits(meta["pattern"], value):
            yield "%s does not match %s: %r" % (path, meta["pattern"], value)
        # The service has newer types than the model of an old package.
        if meta.get("enum") and value not in meta["enum"] and \
                not value.startswith("ml."):
            yield "%s is none of the words: %s" % (path, value)
    elif shape.type_name in ("integer", "long"):
        if not meta.get("min", -1e18) <= value <= meta.get("max", 1e18):
            yield "%s is %s" % (path, value)


def prune(shape, value):
    """Without the members that an old model does not have yet."""
    if shape.type_name == "structure":
        return dict((k, prune(shape.members[k], v))
                    for k, v in value.items() if k in shape.members)
    if shape.type_name == "list":
        return [prune(shape.member, v) for v in value]
    return value


def problems(body):
    if OLD:
        body = prune(SHAPE, body)
    report = ParamValidator().validate(body, SHAPE)
    if report.has_errors():
        return [report.generate_report()]
    return list(limits(SHAPE, body, "body"))


BASE = {
    "name": "sagemaker",
    "role": "arn:aws:iam::123456789012:role/Trial",
    "image": "123456789012.dkr.ecr.eu-west-1.amazonaws.com/train:1",
    "instance_type": "ml.g5.xlarge",
    "s3": "s3://bucket/hpotune/",
}
PY = ["python3", "-u", "train.py", "{params}", "--epochs=3"]


def study(block, trial=None, params=None, name="table", metric="val_acc"):
    block = dict(BASE, **block)
    block = dict((k, v) for k, v in block.items() if v is not None)
    return {
        "study": name,
        "objective": {"metric": metric, "goal": "maximize"},
        "parameters": params or {
            "lr": {"type": "float", "min": 0, "max": 1},
            "opt": {"type": "choice", "values": ["sgd", "adam"]}},
        "trial": dict({"command": ["./train", "{params}"]}, **(trial or {})),
        "backend": block,
        "limits": {"trials": 1},
    }


def ask(doc, values, capacity=0, option=None):
    with open("study.json", "w") as f:
        json.dump(doc, f)
    return subprocess.run(
        [TOOL] + ([option] if option else []) +
        ["study.json", json.dumps(values), "42", "3", str(capacity)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def spec_words(body):
    """What a shell makes of the pieces: the arguments and the variables."""
    env = body["Environment"]
    text = "".join(env["HPT_SPEC_%d" % i]
                   for i in range(sum(k.startswith("HPT_SPEC_") for k in env)))
    script = text + (
        'for a; do printf "%s\\0" "$a"; done; printf "@env@\\0"; env -0')
    out = subprocess.run(["sh", "-c", script], stdout=subprocess.PIPE,
                         env={"PATH": os.environ["PATH"],
                              "HPT_BASE": "/opt/ml"}).stdout
    args, names = out.decode().split("@env@\0")
    return (args.split("\0")[:-1],
            dict(w.split("=", 1) for w in names.split("\0")[:-1]))


def fixed(**values):
    return dict((k, {"type": "fixed", "value": v}) for k, v in values.items())


ODD = ["", " ", "it's", '"quoted"', "a\nb\n", "$(touch pwned)", "`touch pwned`",
       "tab\there", "\\ \\n %s %d", "-n", "*", "~", "#x", "a;b&c|d<e>f", "!!",
       "\u00fc\u4e2d\U0001f600", "\r\n", "\u2028sep\u0085", "x" * 2400,
       "'" * 300, "\u4e2d" * 700, "${HOME}", "\x7f\x01", "=", "{}[]"]

TOOLKIT = {"code": "src", "instance_type": "ml.p4d.24xlarge"}
SCRIPT = {
    "lr": "0.5", "opt": '"adam"', "epochs": '"3"',
    "sagemaker_program": '"train.py"',
    "sagemaker_submit_directory":
        '"s3://bucket/base/code/0123456789abcdef/code.tar.gz"',
    "sagemaker_container_log_level": "20",
    "sagemaker_job_name": '"hpt-table-0a1b2c-00042-03-abcdef"',
    "sagemaker_region": '"eu-west-1"'}
P4D = '"ml.p4d.24xlarge"'
DDP = "sagemaker_distributed_dataparallel_enabled"
GROUPS = [{"name": "gpu", "instance_type": "ml.p4d.24xlarge", "count": 2},
          {"name": "cpu", "instance_type": "ml.c5.xlarge", "count": 1}]


def dist(launcher, **more):
    return {"distribution": dict({"launcher": launcher}, **more)}


def script(more):
    return {"HyperParameters": dict(SCRIPT, **more)}


LR = {"lr": 0.5, "opt": "adam"}
# what, study, parameters, members that the body must have.
TABLE = [
    ("the least", study({}), LR, {
        "TrainingJobName": "hpt-table-0a1b2c-00042-03-abcdef",
        "HyperParameters": {"lr": "0.5", "opt": "adam"},
        "EnableManagedSpotTraining": False,
        "StoppingCondition": {"MaxRuntimeInSeconds": 86400},
        "CheckpointConfig": {
            "S3Uri": "s3://bucket/hpotune/table-0a1b2c/ckpt/00042/",
            "LocalPath": "/opt/ml/checkpoints"}}),
    ("no parameters", study({}, params=fixed(a=1)), {}, {
        "HyperParameters": {}}),
    ("a bucket without prefix", study({"s3": "s3://bucket"}), LR, {
        "OutputDataConfig": {"S3OutputPath": "s3://bucket/table-0a1b2c/out",
                             "CompressionType": "NONE"}}),
    ("spot", study({"spot": True, "max_run": "2h", "max_wait": "4h"}), LR, {
        "EnableManagedSpotTraining": True,
        "StoppingCondition": {"MaxRuntimeInSeconds": 7200,
                              "MaxWaitTimeInSeconds": 14400}}),
    ("spot without checkpoints, forced",
     study({"spot": True, "checkpoints": False, "force_spot": True}), LR, {
         "CheckpointConfig": None}),
    ("a warm pool", study({"keep_alive": "10m", "instance_count": 2}), LR, {
        "ResourceConfig": {
            "InstanceType": "ml.g5.xlarge", "InstanceCount": 2,
            "VolumeSizeInGB": 30, "KeepAlivePeriodInSeconds": 600}}),
    ("a volume", study({"volume": "50.5GiB"}), LR, {}),
    ("groups", study({"groups": GROUPS, "instance_type": None}), LR, {
        "ResourceConfig": {"InstanceGroups": [
            {"InstanceGroupName": "gpu", "InstanceType": "ml.p4d.24xlarge",
             "InstanceCount": 2},
            {"InstanceGroupName": "cpu", "InstanceType": "ml.c5.xlarge",
             "InstanceCount": 1}], "VolumeSizeInGB": 30}}),
    ("groups and channels", study({
        "groups": GROUPS, "instance_type": None, "inputs": {
            "train": {"s3": "s3://bucket/t", "groups": ["gpu"]}}}), LR, {}),
    ("a network", study({"vpc": {"subnets": ["subnet-1", "subnet-2"],
                                 "security_groups": ["sg-1"]}}), LR, {
        "VpcConfig": {"SecurityGroupIds": ["sg-1"],
                      "Subnets": ["subnet-1", "subnet-2"]}}),
    ("tags", study({"tags": {"team": "r d", "\u00fcber": "\u4e2d",
                             "a:b/c=d+e-f@g": ""}}), LR, {}),
    ("46 tags", study({"tags": dict(("t%d" % i, "v") for i in range(46))}),
     LR, {}),
    ("19 channels", study({"inputs": dict(
        ("c%d" % i, "s3://bucket/c") for i in range(19))}), LR, {}),
    ("channels of every kind", study({
        "input_mode": "FastFile",
        "vpc": {"subnets": ["subnet-1"], "security_groups": ["sg-1"]},
        "inputs": {
            "a": "s3://bucket/a/",
            "b.x-y_z": {"s3": "s3://bucket/b", "distribution": "sharded",
                        "mode": "Pipe", "compression": "gzip",
                        "content_type": "text/csv", "shuffle_seed": 7,
                        "record_wrapper": "RecordIO"},
            "c": {"s3": "s3://bucket/m", "type": "manifest",
                  "compression": "none", "record_wrapper": "none"},
            "d": {"s3": "s3://bucket/am", "type": "augmented-manifest",
                  "attributes": ["x", "y"], "distribution": "replicated"},
            "e": {"file_system": {"id": "fs-0123456789", "type": "FSxLustre",
                                  "path": "/fsx"}},
            "f": {"file_system": {"id": "fs-0123456789", "type": "EFS",
                                  "path": "/", "access": "rw"}}}}), LR, {}),
    ("extra members", study({"extra": {
        "EnableNetworkIsolation": True,
        "EnableInterContainerTrafficEncryption": True,
        "RetryStrategy": {"MaximumRetryAttempts": 3},
        "OutputDataConfig": {"KmsKeyId": "k", "CompressionType": "GZIP"},
        "ResourceConfig": {"VolumeKmsKeyId": "k"},
        "StoppingCondition": {"MaxPendingTimeInSeconds": 7200},
        "AlgorithmSpecification": {"EnableSageMakerMetricsTimeSeries": True},
        "ProfilerConfig": {"DisableProfiler": True}}}), LR, {
            "OutputDataConfig": {
                "S3OutputPath": "s3://bucket/hpotune/table-0a1b2c/out",
                "KmsKeyId": "k", "CompressionType": "GZIP"},
            "EnableNetworkIsolation": True}),
    ("a long name of a study",
     study({}, name="a234567890-2345-890123456789012"), LR, {
         "TrainingJobName": "hpt-a234567890-2345-0a1b2c-00042-03-abcdef"}),
    ("torchrun", study(dist("torchrun", processes_per_host=8)), LR, {}),
    ("torchrun over GPUs", study(dict(
        dist("torchrun"), instance_type="ml.g5.12xlarge")), LR, {}),
    ("torchrun over GPUs nobody knows", study(dict(
        dist("torchrun"), instance_type="ml.p9.48xlarge")), LR, {}),
    ("mpirun", study(dict(dist("mpirun", custom_mpi_options="-x A -v"),
                          instance_count=4)), LR, {}),
    ("toolkit", study(dict(TOOLKIT, **dist("toolkit")), {"command": PY}), LR, {
        "HyperParameters": SCRIPT}),
    ("toolkit, arguments in its form", study(
        dict(TOOLKIT, **dist("toolkit")),
        {"command": PY + ["--model_dir={model_dir}"], "arguments": "toolkit"},
        params={"lr": {"type": "float", "min": 0, "max": 1},
                "opt": {"type": "choice", "values": ["sgd", "adam"]},
                "flag": {"type": "choice", "values": [True, False]},
                "b": {"type": "int", "min": 1, "max": 9}}),
     {"lr": 0.5, "opt": "adam", "flag": True, "b": 3}, {
         "HyperParameters": dict(
             SCRIPT, flag="true", b="3", model_dir='"/opt/ml/model"')}),
    ("toolkit, the program below the study",
     study(dict(TOOLKIT, **dist("toolkit")),
           {"command": ["./src/sub/train.py", "--opt={opt}"]}), LR, {}),
    ("smddp", study(dict(TOOLKIT, **dist("smddp", custom_mpi_options="-v")),
                    {"command": PY}), LR, script({
        DDP: "true", "sagemaker_instance_type": P4D,
        "sagemaker_distributed_dataparallel_custom_mpi_options": '"-v"'})),
    ("smddp with torch", study(dict(
        TOOLKIT, instance_type="ml.p5.48xlarge",
        **dist("smddp", torch_distributed=True)), {"command": PY}), LR, script({
            DDP: "true", "sagemaker_instance_type": '"ml.p5.48xlarge"',
            "sagemaker_distributed_dataparallel_custom_mpi_options": '""',
            "sagemaker_torch_distributed_enabled": "true"})),
    ("modelparallel 2", study(dict(TOOLKIT, **dist(
        "modelparallel", parameters={"tensor_parallel_degree": 4})),
        {"command": PY}), LR, script({
            "mp_parameters": '{"tensor_parallel_degree":4}',
            "sagemaker_torch_distributed_enabled": "true",
            "sagemaker_instance_type": P4D, DDP: "false"})),
    ("modelparallel 1", study(dict(TOOLKIT, **dist(
        "modelparallel", version=1, processes_per_host=8,
        parameters={"partitions": 2, "ddp": True})), {"command": PY}), LR,
     script({"mp_parameters": '{"partitions":2,"ddp":true}',
             "sagemaker_mpi_enabled": "true",
             "sagemaker_mpi_num_of_processes_per_host": "8",
             "sagemaker_mpi_custom_mpi_options": '""', DDP: "false",
             "sagemaker_instance_type": P4D})),
    ("parameter-server", study(dict(
        dist("parameter-server"), code="src", instance_count=3),
        {"command": PY}), LR,
     script({"sagemaker_parameter_server_enabled": "true"})),
    ("mpi", study(dict(TOOLKIT, **dist("mpi", processes_per_host=4)),
                  {"command": PY}), LR, script({
        "sagemaker_mpi_enabled": "true",
        "sagemaker_mpi_num_of_processes_per_host": "4",
        "sagemaker_mpi_custom_mpi_options": '""'})),
    ("mpi in a group", study(dict(
        dist("mpi", group="gpu"), code="src", groups=GROUPS,
        instance_type=None), {"command": PY}), LR, script({
            "sagemaker_mpi_enabled": "true",
            "sagemaker_mpi_custom_mpi_options": '""',
            "sagemaker_distribution_instance_groups": '["gpu"]'})),
    ("smddp in a group", study(dict(
        dist("smddp", group="gpu"), code="src", instance_type=None,
        groups=GROUPS), {"command": PY, "batch": {"global": 512}}), LR,
     script({
         DDP: "true", "sagemaker_instance_type": P4D,
         "sagemaker_distributed_dataparallel_custom_mpi_options": '""',
         "sagemaker_distribution_instance_groups": '["gpu"]'})),
    ("pytorch-ddp", study(dict(TOOLKIT, **dist("pytorch-ddp")),
                          {"command": PY}), LR,
     script({"sagemaker_pytorch_ddp_enabled": "true",
             "sagemaker_instance_type": P4D})),
    ("multi-worker-mirrored", study(dict(
        dist("multi-worker-mirrored"), code="src", instance_count=3),
        {"command": PY}), LR,
     script({"sagemaker_multi_worker_mirrored_strategy_enabled": "true"})),
    ("torch-distributed", study(dict(TOOLKIT, **dist("torch-distributed")),
                                {"command": PY}), LR, script({
        "sagemaker_torch_distributed_enabled": "true",
        "sagemaker_instance_type": P4D})),
    ("torch-distributed on Trainium", study(dict(
        dist("torch-distributed"), code="src",
        instance_type="ml.trn1.32xlarge"), {"command": PY}), LR, script({
            "sagemaker_torch_distributed_enabled": "true",
            "sagemaker_instance_type": '"ml.trn1.32xlarge"'})),
    ("torch-distributed with processes", study(dict(
        dist("torch-distributed", processes_per_host=16), code="src",
        instance_type="ml.trn1.32xlarge"), {"command": PY}), LR, script({
            "sagemaker_torch_distributed_enabled": "true",
            "sagemaker_mpi_num_of_processes_per_host": "16",
            "sagemaker_instance_type": '"ml.trn1.32xlarge"'})),
    ("toolkit with variables", study(
        dict(TOOLKIT, **dist("toolkit")),
        {"command": PY, "env": {"A": "1", "HF_HOME": "x" * 512}}), LR, {}),
    ("an algorithm of AWS's", study({
        "container": "algorithm", "checkpoints": True, "spot": True,
        "image": "1.dkr.ecr.eu-west-1.amazonaws.com/xgboost:1"},
        {"command": ["train"]}, metric="validation:auc"), LR, {
            "HyperParameters": {
                "lr": "0.5", "opt": "adam",
                "_tuning_objective_metric": "validation:auc"},
            "AlgorithmSpecification": {
                "TrainingImage":
                    "1.dkr.ecr.eu-west-1.amazonaws.com/xgboost:1",
                "TrainingInputMode": "File"},
            "InputDataConfig": None, "Environment": None,
            "OutputDataConfig": {
                "S3OutputPath": "s3://bucket/hpotune/table-0a1b2c/out/"
                "abcdef01-2345-4678-9abc-def012345678"}}),
    ("patterns", study({}, {"metrics": [
        {"name": "val_acc", "regex": "acc=([0-9.]+)"},
        {"name": "val:loss", "regex": "loss=(.*)"},
        {"name": "big", "regex": "x" * 501}], "step_regex": "ep ([0-9]+)"}),
     LR, {}),
    ("50 patterns", study({}, {"metrics": [
        {"name": "m%d" % i, "regex": "m%d=(.*)" % i} for i in range(50)]}),
     LR, {}),
    ("the longest name of a metric", study({}, metric="m." * 32), LR, {}),
    ("90 parameters", study({}, params=dict(
        ("p%d" % i, {"type": "float", "min": 0, "max": 1})
        for i in range(90))),
     dict(("p%d" % i, i / 90) for i in range(90)), {}),
    ("names of all kinds", study({}, params=dict(
        (n, {"type": "float", "min": 0, "max": 1})
        for n in ["learning-rate", "a.b", "UPPER", "x" * 60])),
     {"learning-rate": 0.1, "a.b": 1, "UPPER": 0, "x" * 60: 1e-300}, {}),
    ("variables of the trial", study({}, {"env": dict(
        ("V%d" % i, v) for i, v in enumerate(ODD[:18]))}), LR, {}),
    ("no checkpoints", study({"checkpoints": False}), LR, {
        "CheckpointConfig": None}),
]
for text in ODD:
    TABLE.append(("value %s" % ascii(text[:20]),
                  study({}, params=fixed(odd=text)), {"odd": text}, {}))


def same(want, body):
    return all((key not in body) if value is None else body.get(key) == value
               for key, value in want.items())


def check_spec(what, doc, values, body):
    args, env = spec_words(body)
    params = ["--%s=%s" % (k, v if isinstance(v, str) else json.dumps(v))
              for k, v in values.items()]
    command = doc["trial"]["command"]
    want = []
    for word in command:
        want += params if word == "{params}" else [word]
    # Numbers are written shortly in arguments, too: compare the texts only.
    texts = [w for w in want if not re.search("=[-0-9.e]+$", w)]
    ok(all(t in args for t in texts) and len(args) == len(want),
       "%s: the arguments come whole" % what, (args, want))
    for name, value in doc["trial"].get("env", {}).items():
        ok(env.get(name) == value, "%s: %s comes whole" % (what, name),
           (env.get(name), value))
    ok(json.loads(env.get("SM_HPS", "null")) == values,
       "%s: SM_HPS" % what, env.get("SM_HPS"))


def check_bodies():
    for what, doc, values, want in TABLE:
        got = ask(doc, values)
        if not ok(got.returncode == 0, "%s: made" % what, got.stderr.decode()):
            continue
        body = json.loads(got.stdout)
        found = problems(body)
        ok(not found, "%s: as the model wants it" % what, "\n".join(found))
        ok(same(want, body), "%s: says what it should" % what,
           json.dumps(body, indent=1))
        if "ContainerEntrypoint" in body["AlgorithmSpecification"]:
            check_spec(what, doc, values, body)
    ok(not os.path.exists("pwned"), "no value was run")


def check_plans():
    doc = study({"instance_type": ["ml.g5.xlarge", "ml.g4dn.xlarge"],
                 "spot": True, "on_demand_after": 2})
    for capacity, kind, spot in ((0, "ml.g5.xlarge", True),
                                 (1, "ml.g4dn.xlarge", True),
                                 (2, "ml.g4dn.xlarge", False)):
        body = json.loads(ask(doc, LR, capacity).stdout)
        ok(body["ResourceConfig"]["InstanceType"] == kind and
           body["EnableManagedSpotTraining"] is spot and
           ("MaxWaitTimeInSeconds" in body["StoppingCondition"]) is spot,
           "after %d failures: %s, spot %s" % (capacity, kind, spot))
        ok(not problems(body), "which the model allows")


def check_limits():
    many = dict(("p%d" % i, {"type": "fixed", "value": 1}) for i in range(101))
    long = {"long": "x" * 2501}
    tool = dict(TOOLKIT, **dist("toolkit"))
    rows = [
        ("101 parameters", study({}, params=many),
         dict.fromkeys(many, 1), "at most 100 hyperparameters"),
        ("a value of 2501", study({}, params=fixed(**long)), long,
         "at most 2500 characters, and long has 2501"),
        ("too much text", study({}, {"env": dict(
            ("V%d" % i, "x" * 1000) for i in range(45))}), LR,
         "and a training job takes 40960"),
        ("a variable of the toolkit's job", study(
            tool, {"command": PY, "env": {"A": "x" * 513}}), LR,
         "variables of at most 512 bytes, and A has more"),
        ("100 variables of the toolkit's job", study(
            tool, {"command": PY, "env": dict(
                ("V%d" % i, "") for i in range(100))}), LR,
         "at most 100 variables"),
        ("an argument twice", study(
            tool, {"command": ["train.py", "{params}", "--lr=1"]}), LR,
         "--lr is given twice"),
        ("96 parameters and the toolkit's own", study(
            tool, {"command": PY}, params=dict(list(many.items())[:96])),
         dict.fromkeys(list(many)[:96], 1), "at most 100 hyperparameters"),
    ]
    for what, doc, values, want in rows:
        got = ask(doc, values)
        ok(got.returncode == 1 and want in got.stderr.decode(),
           "%s is refused: %s" % (what, want), got.stderr.decode())


def check_regexes():
    doc = study({}, metric="val.acc-1")
    body = json.loads(ask(doc, LR).stdout)
    objective, step = [re.compile(d["Regex"]) for d in
                       body["AlgorithmSpecification"]["MetricDefinitions"]]
    for line, value, at in (
            ("hpotune: step=3 val.acc-1=0.9123 loss=0.24", "0.9123", "3"),
            ("hpotune: val.acc-1=1e-4, step=12", "1e-4", "12"),
            ("hpotune: val.acc-1=-2.5E+07", "-2.5E+07", None),
            ("hpotune: val.acc-1=nan step=1", "nan", "1"),
            ("hpotune: val.acc-1=-inf", "-inf", None),
            ('hpotune-json: {"step": 4, "val.acc-1": 0.5}', "0.5", "4"),
            ('hpotune-json: {"val.acc-1":Infinity,"step":5}', "Infinity", "5"),
            ("[1,0]<stdout>:hpotune: step=1 val.acc-1=.5", ".5", "1"),
            ("hpotune: step=1 valxacc-1=0.5", None, "1"),
            ("hpotune: step=1 xval.acc-1=0.5", None, "1"),
            ("hpotune-rank-1: step=1 val.acc-1=0.5", None, None),
            ("epoch 3 val.acc-1=0.5", None, None)):
        found = objective.search(line)
        ok((found and found.group(1)) == value, "objective of %s" % line,
           found)
        found = step.search(line)
        ok((found and found.group(1)) == at, "step of %s" % line, found)
    doc = study({}, {"metrics": [{"name": "val_acc", "regex": "a=(.*)"}],
                     "step_regex": "e=(.*)"})
    body = json.loads(ask(doc, LR).stdout)
    ok([(d["Name"], d["Regex"]) for d in
        body["AlgorithmSpecification"]["MetricDefinitions"]] ==
       [("hpotune:objective", "a=(.*)"), ("hpotune:step", "e=(.*)")],
       "a study's own patterns for both")


def check_manual():
    with open(PAGE) as f:
        page = f.read().replace("\\&", "")
    table = subprocess.run([TOOL, "--table"], stdout=subprocess.PIPE)
    for line in table.stdout.decode().splitlines():
        words = line.split()
        missing = [w for w in [words[0]] + words[3:] if w not in page]
        ok(not missing, "the manual has %s" % words[0], missing)


def check_bare():
    """Where nothing of the block is written, the error has a place."""
    for backend in ("sagemaker", {"name": "sagemaker"}):
        with open("study.json", "w") as f:
            json.dump(dict(study({}), backend=backend), f)
        got = subprocess.run([os.environ["HPOTUNE"], "check", "study.json"],
                             stderr=subprocess.PIPE).stderr.decode()
        ok(re.match("hpotune: study.json:1:[0-9]+: backend.*also needs "
                    '"role": ', got), "a bare %s is refused where it stands" %
           json.dumps(backend), got)


os.makedirs("src")
check_bare()
check_bodies()
check_plans()
check_limits()
check_regexes()
check_manual()
print("1..%d" % count)
sys.exit(failed > 0)
