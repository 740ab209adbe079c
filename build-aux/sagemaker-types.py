#!/usr/bin/env python3
"""The accelerators of SageMaker's training instances, as the rows of
trials/sagemaker/options/sm-instance-types.inc.

sagemaker-types.py [EC2.json] >trials/sagemaker/options/sm-instance-types.inc

The types are those of botocore's model of the service.  Their GPUs and
NeuronCores are those of EC2.json, which
    aws ec2 describe-instance-types >EC2.json
writes, and where it has none, or without it, those of the table that is there.
A type whose accelerators nobody says is named on standard error, and the exit
status is 1."""
import json
import os
import re
import sys

import botocore.session

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                     "../trials/sagemaker/options/sm-instance-types.inc")
PLAIN = re.compile(r"[cmrt][0-9]")  # families without accelerators


def ec2(path):
    """GPUs and NeuronCores by type.  A framework counts two physical cores of
    Trainium 2 as one."""
    found = {}
    for t in json.load(open(path))["InstanceTypes"]:
        name = t["InstanceType"]
        gpus = sum(g["Count"] for g in t.get("GpuInfo", {}).get("Gpus", []))
        cores = sum(n["Count"] * n["CoreInfo"]["Count"]
                    for n in t.get("NeuronInfo", {}).get("NeuronDevices", []))
        if name.startswith("trn2"):
            cores //= 2
        found[name] = gpus, cores
    return found


def table():
    rows = re.findall(r'\{ "([^"]+)", ([0-9]+), ([0-9]+) \}', open(TABLE).read())
    return {name: (int(gpus), int(cores)) for name, gpus, cores in rows}


def order(name):
    return [int(x) if x.isdigit() else x for x in re.split("([0-9]+)", name)]


known = table()
if len(sys.argv) > 1:
    known.update(ec2(sys.argv[1]))
model = botocore.session.get_session().get_service_model("sagemaker")
unknown = 0
for name in sorted((t[3:] for t in model.shape_for("TrainingInstanceType").enum),
                   key=order):
    if PLAIN.match(name):
        continue
    if name in known:
        print('{ "%s", %d, %d },' % (name, *known[name]))
    else:
        print("ml." + name, file=sys.stderr)
        unknown += 1
sys.exit(unknown > 0)
