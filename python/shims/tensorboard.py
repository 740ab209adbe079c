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

    def _get_file_writer(self):
        return self.file_writer

    def __getattr__(self, name):
        if name.startswith(("add_", "export_")):
            return _shim.nothing
        raise AttributeError(name)


class FileWriter(_shim.Nothing):
    pass


def _find(module, name):
    """Libraries take what they write, but do not report, from inside."""
    return FileWriter if name == "RecordWriter" else None


def _refuses(module):
    """What reads events, and what shows them."""
    return module.partition(".")[0] in ("backend", "data", "notebook", "program")


_shim.Modules("tensorboard", ImportError, _find, _refuses).open()
_writer = _types.ModuleType("torch.utils.tensorboard.writer")
_writer.SummaryWriter, _writer.FileWriter = SummaryWriter, FileWriter
_sys.modules[_writer.__name__] = _writer
