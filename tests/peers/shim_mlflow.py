"""A training that is written for MLflow."""

import argparse
import json
import os

import mlflow
from mlflow.tracking import MlflowClient

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float)
args = parser.parse_args()

mlflow.set_experiment("demo")
with mlflow.start_run(run_name="a") as run:
    mlflow.log_params(vars(args))
    mlflow.set_tag("kind", "test")
    for epoch in range(4):
        loss = (args.lr - 0.25) ** 2 + 1 / (epoch + 1)
        mlflow.log_metric("loss", loss, step=epoch)
        mlflow.log_metrics({"val/acc": 1 - loss, "other": epoch}, step=epoch)
    MlflowClient().log_metric(run.info.run_id, "final", 0.5, step=3)
    with mlflow.start_run(nested=True, run_name="b"):
        mlflow.log_text("a text", "notes.txt")
    assert mlflow.active_run().info.run_id == run.info.run_id
assert mlflow.active_run() is None

if "HISTORY" in os.environ:
    client = MlflowClient()
    found = {name: [[m.step, m.value] for m in
                    client.get_metric_history(run.info.run_id, name)]
             for name in ("loss", "val/acc", "other", "final")}
    with open(os.environ["HISTORY"], "w") as file:
        json.dump(found, file)
