"""hpotune in the place of tensorboardX."""

import hpotune_shim as _shim
from tensorboard import FileWriter, SummaryWriter

__version__ = "2.6.0"
__path__ = []
GlobalSummaryWriter = TorchVis = SummaryWriter

_shim.Modules("tensorboardX", ImportError, lambda module, name: None).open()
