"""A training that is written for TensorBoard's writers; WRITER has the module."""

import importlib
import os

module = importlib.import_module(os.environ.get("WRITER", "tensorboardX"))

with module.SummaryWriter(os.environ["HPOTUNE_OUTPUT_DIR"] + "/runs") as writer:
    for epoch in range(4):
        writer.add_scalar("val/acc", 1 - 1 / (epoch + 1), epoch)
        writer.add_scalar("loss", 1 / (epoch + 2), global_step=epoch)
        writer.add_text("note", "a text", epoch)
    writer.flush()
