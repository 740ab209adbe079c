"""hpotune in the place of TensorBoard's writers, for programs that do not change.

Scalars that are added are reports.  torch.utils.tensorboard imports this package
first, and its own writer after it, which is there already.
"""

import os as _os
import sys as _sys
import types as _types

import hpotune_shim as _shim

__version__ = "2.18.0"
__path__ = []


class SummaryWriter:
    def __init__(self, log_dir=None, *args, **kwargs):
        self.log_dir = str(log_dir or _os.environ.get("HPOTUNE_OUTPUT_DIR", ""))
        self.logdir = self.log_dir
        self.file_writer = _shim.Nothing()

    def add_scalar(self, tag, scalar_value=None, global_step=None, *args,
                   **kwargs):
        value = _shim.number(scalar_value)
        if value is None:
            raise ValueError(f"{tag}: a scalar is a number")
        _shim.report({tag: value}, global_step)

    def add_scalars(self, main_tag, tag_scalar_dict, global_step=None, *args,
                    **kwargs):
        _shim.report(_shim.numbers({main_tag: tag_scalar_dict}, "/"), global_step)

    def add_hparams(self, hparam_dict, metric_dict, *args, global_step=None,
                    **kwargs):
        _shim.report(_shim.numbers(metric_dict, "/"), global_step)

    def get_logdir(self):
        return self.log_dir

    def flush(self):
        pass

    close = flush

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def __getattr__(self, name):
        if name.startswith(("add_", "export_")):
            return _shim.nothing
        raise AttributeError(name)


class FileWriter(_shim.Nothing):
    pass


def _module(name, **content):
    module = _types.ModuleType(name)
    module.__path__ = []
    module.__dict__.update(content)
    _sys.modules[name] = module


for _name in "summary", "summary.writer", "compat", "compat.proto":
    _module("tensorboard." + _name)
_module("tensorboard.summary.writer.record_writer", RecordWriter=FileWriter)
_module("torch.utils.tensorboard.writer", SummaryWriter=SummaryWriter,
        FileWriter=FileWriter)
