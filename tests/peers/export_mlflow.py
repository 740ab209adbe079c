"""What an MLflow server has of an experiment: a line for each run."""

import json
import sys

from mlflow import MlflowClient

client = MlflowClient(sys.argv[1])
experiment = client.get_experiment_by_name(sys.argv[2])
for run in sorted(client.search_runs([experiment.experiment_id]),
                  key=lambda run: run.info.run_name):
    metrics = {name: [[m.step, m.value if m.value == m.value else "nan"]
                      for m in sorted(client.get_metric_history(
                          run.info.run_id, name), key=lambda m: m.step)]
               for name in run.data.metrics}
    print(run.info.run_name, run.info.status,
          run.info.end_time is not None, json.dumps(run.data.params, sort_keys=True),
          json.dumps(metrics, sort_keys=True))
