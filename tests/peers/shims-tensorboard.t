#!/bin/sh
# Libraries that write scalars for TensorBoard by themselves.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3 python3
. "$TOP_SRCDIR/tests/peers/shims.sh"

compared tensorboard_transformers eval/loss transformers accelerate torch
compared tensorboard_lightning val_loss lightning torch
compared tensorboard_accelerate loss accelerate torch
compared tensorboard_skorch Loss/valid_loss skorch torch
compared tensorboard_ignite validation/nll pytorch-ignite torch
compared tensorboard_sb3 rollout/ep_rew_mean stable-baselines3 torch

done_testing
