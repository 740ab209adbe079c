#!/bin/sh
# Callbacks of wandb.integration, and TensorBoard's writers, which wandb takes.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3 python3
. "$TOP_SRCDIR/tests/peers/shims.sh"

compared wandb_sb3 rollout/ep_rew_mean stable-baselines3 torch tensorboard
compared wandb_writer_torch loss torch tensorboard
compared wandb_writer_x loss tensorboardX numpy
compared wandb_writers train/loss torch tensorboard
compared wandb_writers_patched train/loss torch tensorboard
compared wandb_xgboost eval-logloss xgboost
compared wandb_lightgbm fit_binary_logloss lightgbm
compared wandb_catboost validation-Logloss catboost
compared wandb_keras epoch/val_loss keras tensorflow-cpu
compared wandb_keras_batch batch/loss keras tensorflow-cpu

done_testing
