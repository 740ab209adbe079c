"""Small versions of the containers of two of AWS's built-in algorithms, for
--image-command.

The hyperparameters select the algorithm.  Input: hyperparameters.json and CSV
with the label first; output as of AWS's containers: XGBoost from the source of
its container, linear learner from its logs.  Both learn two classes, by
boosted stumps and by logistic regression."""

import csv
import json
import math
import os
import signal
import sys
import time

BASE = os.environ.get("SAGEMAKER_BASE_DIR", "/opt/ml")
# Of XGBoost's container: any other hyperparameter is an error there.
XGBOOST = set("""num_round csv_weights early_stopping_rounds booster verbosity
nthread eta gamma max_depth min_child_weight max_delta_step subsample
colsample_bytree colsample_bylevel colsample_bynode lambda alpha tree_method
sketch_eps scale_pos_weight updater dsplit refresh_leaf process_type
grow_policy max_leaves max_bin predictor monotone_constraints
interaction_constraints sample_type normalize_type rate_drop one_drop skip_drop
lambda_bias tweedie_variance_power objective num_class base_score _kfold
_num_cv_round _tuning_objective_metric eval_metric seed num_parallel_tree
save_model_on_termination aft_loss_distribution aft_loss_distribution_scale
deterministic_histogram sampling_method prob_buffer_row
use_dask_gpu_training""".split())
LINEAR = set("""predictor_type feature_dim epochs learning_rate use_bias l1 wd
mini_batch_size num_models loss optimizer _tuning_objective_metric
positive_example_weight_mult normalize_data normalize_label""".split())


def fail(text):
    os.makedirs(BASE + "/output", exist_ok=True)
    with open(BASE + "/output/failure", "w") as file:
        file.write(text)
    sys.exit(text)


def read(channel):
    rows = []
    folder = "%s/input/data/%s" % (BASE, channel)
    if not os.path.isdir(folder):
        return rows
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), newline="") as file:
            for row in csv.reader(file):
                rows.append((float(row[0]), [float(x) for x in row[1:]]))
    return rows


def chance(score):
    return 1 / (1 + math.exp(-max(-30, min(30, score))))


def losses(scores, rows):
    loss = wrong = 0
    for score, (label, _) in zip(scores, rows):
        p = min(1 - 1e-15, max(1e-15, chance(score)))
        loss -= math.log(p if label > 0 else 1 - p)
        wrong += (score > 0) != (label > 0)
    return loss / len(rows), wrong / len(rows)


def stump(rows, slopes):
    best = None
    for k in range(len(rows[0][1])):
        values = sorted(set(x[k] for _, x in rows))
        for cut in values[::max(1, len(values) // 8)]:
            left = [g for g, (_, x) in zip(slopes, rows) if x[k] < cut]
            right = [g for g, (_, x) in zip(slopes, rows) if x[k] >= cut]
            gain = sum(sum(s) ** 2 / (len(s) / 4 + 1)
                       for s in (left, right) if s)
            if best is None or gain > best[0]:
                best = (gain, k, cut, [
                    -sum(s) / (len(s) / 4 + 1) if s else 0
                    for s in (left, right)])
    return best[1:]


def xgboost(asked, train, validation):
    print("INFO objective: %s" % asked.get("objective"))
    eta = float(asked.get("eta", 0.3))
    scores = [[0.0] * len(train), [0.0] * len(validation)]
    for i in range(int(asked["num_round"])):
        slopes = [chance(s) - y for s, (y, _) in zip(scores[0], train)]
        k, cut, leaves = stump(train, slopes)
        said = ["[%d]" % i]
        for name, sums, rows in (("train", scores[0], train),
                                 ("validation", scores[1], validation)):
            for j, (_, x) in enumerate(rows):
                sums[j] += eta * leaves[x[k] >= cut]
            if rows:
                loss, wrong = losses(sums, rows)
                said += ["%s-error:%.5f" % (name, wrong),
                         "%s-logloss:%.5f" % (name, loss)]
        print("\t".join(said), flush=True)
        wait()


def linear(asked, train, validation):
    rate = float(asked.get("learning_rate", 0.1))
    bias = asked.get("use_bias", "true") == "true"
    weights = [0.0] * (len(train[0][1]) + 1)

    def score(x):
        return sum(w * v for w, v in zip(weights, x + [1.0 if bias else 0.0]))

    def say(set_, rows, epoch):
        loss, _ = losses([score(x) for _, x in rows], rows)
        print("[%s INFO 139932632377152] #quality_metric: host=algo-1, %s%s "
              "binary_classification_cross_entropy_objective <loss>=%r" %
              (time.strftime("%m/%d/%Y %H:%M:%S"),
               "" if epoch is None else "epoch=%d, " % epoch, set_, loss),
              flush=True)
    for epoch in range(int(asked.get("epochs", 15))):
        for label, x in train:
            slope = chance(score(x)) - (label > 0)
            for k, v in enumerate(x + [1.0 if bias else 0.0]):
                weights[k] -= rate * slope * v
        say("train", train, epoch)
        say("validation", validation, epoch)
        wait()
    say("validation", validation, None)


def wait():
    time.sleep(float(os.environ.get("ALGORITHM_PAUSE", 0.02)))


def main():
    with open(BASE + "/input/config/hyperparameters.json") as file:
        asked = json.load(file)
    known = XGBOOST if "num_round" in asked else LINEAR
    odd = sorted(set(asked) - known)
    if odd:
        fail("ClientError: Extraneous hyperparameter found: %s" % odd[0])
    if [k for k in os.environ if k.startswith("HPOTUNE_")]:
        fail("AlgorithmError: there are variables that AWS does not let in")
    # The containers end with 0 and leave a model of what they have.
    signal.signal(signal.SIGTERM, lambda *args: os._exit(0))
    train, validation = read("train"), read("validation")
    if not train:
        fail("ClientError: No data in training channel")
    (xgboost if known is XGBOOST else linear)(asked, train, validation)
    with open(BASE + "/model/model", "w") as file:
        file.write("model\n")


main()
