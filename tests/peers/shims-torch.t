#!/bin/sh
# Libraries of PyTorch that log to wandb by themselves.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3 python3
. "$TOP_SRCDIR/tests/peers/shims.sh"

compared wandb_transformers eval/loss transformers accelerate torch
compared wandb_transformers_alone eval/loss transformers accelerate torch
compared wandb_lightning val_loss lightning torch
compared wandb_lightning_begun val_loss lightning torch
compared wandb_accelerate loss accelerate torch
compared wandb_skorch valid_loss skorch torch
compared wandb_ignite validation/nll pytorch-ignite torch
# With fastcore 2 its callback fails (findings/fastai-wandb-callback.sh).
compared wandb_fastai valid_loss fastai 'fastcore<2' torch
compared wandb_ultralytics val/box_loss ultralytics torch

done_testing
