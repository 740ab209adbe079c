"""What TensorBoard's server says of a folder: a line for each fact."""

import json
import sys
import time
import urllib.request

from tensorboard import program

board = program.TensorBoard()
board.configure(argv=[None, "--logdir", sys.argv[1], "--port", "0",
                      "--load_fast", "false"])
url = board.launch()


def ask(path, request=None):
    data = None if request is None else json.dumps(request).encode()
    with urllib.request.urlopen(urllib.request.Request(
            url + "data/plugin/" + path, data,
            {"Content-Type": "application/json"})) as answer:
        return json.loads(answer.read())


# It reads the folder in the background; the last trial comes last.
for _ in range(600):
    tags = ask("scalars/tags")
    if sys.argv[2] in tags:
        break
    time.sleep(0.1)
experiment = ask("hparams/experiment", {})
print("name", experiment["name"])
for info in sorted(experiment["hparamInfos"], key=lambda i: i["name"]):
    print("hparam", info["name"], info["type"],
          json.dumps(info.get("domainInterval", info.get("domainDiscrete"))))
for info in experiment["metricInfos"]:
    print("metric", info["name"]["tag"], info.get("description", ""))
groups = ask("hparams/session_groups", {
    "startIndex": 0, "sliceSize": 100, "colParams": [
        {"metric": info["name"]} for info in experiment["metricInfos"]],
    "allowedStatuses": ["STATUS_UNKNOWN", "STATUS_SUCCESS", "STATUS_FAILURE",
                        "STATUS_RUNNING"]})
for group in sorted(groups["sessionGroups"], key=lambda g: g["name"]):
    print(group["name"], group["sessions"][0]["status"],
          json.dumps(group["hparams"], sort_keys=True),
          json.dumps({m["name"]["tag"]: [round(m["value"], 6), m.get("trainingStep", 0)]
                      for m in group["metricValues"]}, sort_keys=True))
for run in sorted(tags):
    for tag in sorted(tags[run]):
        if not tag.startswith("_hparams_"):
            print(run, tag, [report[1:] for report in
                             ask(f"scalars/scalars?run={run}&tag={tag}")])
