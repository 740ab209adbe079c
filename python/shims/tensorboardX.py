"""hpotune in the place of tensorboardX."""

from tensorboard import FileWriter, SummaryWriter

__version__ = "2.6.0"
GlobalSummaryWriter = TorchVis = SummaryWriter
