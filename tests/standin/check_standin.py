"""The tests of the stand-in: all of them, or those that are named."""

import importlib
import sys

sys.dont_write_bytecode = True
import rig  # noqa: E402


def main(names):
    for name in names or ("life", "faults", "moto"):
        try:
            importlib.import_module("check_" + name).run()
        except Exception as error:
            import traceback
            traceback.print_exc()
            rig.ok(False, "check_%s ran to its end" % name, error)
    print("1..%d" % rig.count)
    return 1 if rig.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
