#!/bin/sh
# Libraries that log to MLflow by themselves.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3 python3
. "$TOP_SRCDIR/tests/peers/shims.sh"

compared mlflow_transformers eval_loss transformers accelerate torch
compared mlflow_lightning val_loss lightning torch
compared mlflow_accelerate loss accelerate torch
compared mlflow_skorch valid_loss skorch torch
compared mlflow_ignite validation_nll pytorch-ignite torch
compared mlflow_keras val_loss keras tensorflow-cpu
compared mlflow_keras_autolog val_loss keras tensorflow-cpu
compared mlflow_xgboost_autolog eval-logloss xgboost pandas
compared mlflow_lightgbm_autolog training-auc lightgbm pandas scikit-learn

done_testing
