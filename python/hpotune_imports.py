"""What the imports of a program take, for hpotune try.

    python hpotune_imports.py script|module NAME [LIST]

Prints a line: how many modules, seconds, seconds of a processor, and why a
process that has imported them cannot be forked.  LIST has their names, a line
each; without it they are those that the program, and the modules in its folder,
import outside of functions.
"""

import sys

_before = set(sys.modules)
import ast
import os
import time


def own_folder(kind, name):
    if kind == "module":
        return os.getcwd()
    return os.path.dirname(os.path.realpath(name))


def file_of(own, name):
    """The source of a module in the program's folder, or None."""
    path = os.path.join(own, *name.split("."))
    for path in path + ".py", os.path.join(path, "__init__.py"):
        if os.path.isfile(path):
            return path
    return None


def is_own(own, name):
    first = os.path.join(own, name.partition(".")[0])
    return os.path.isfile(first + ".py") or os.path.isdir(first)


def is_main(test):
    return any(getattr(n, "id", None) == "__name__" for n in ast.walk(test))


def imports(body):
    """The modules that statements import when they run."""
    for node in body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name
        elif isinstance(node, ast.ImportFrom):
            if node.module and not node.level:
                yield node.module
                for alias in node.names:
                    yield node.module + "." + alias.name
        elif isinstance(node, (ast.Try, ast.With, ast.ClassDef)) or \
                isinstance(node, ast.If) and is_main(node.test):
            for name in imports(node.body):
                yield name


def collect(own, path, names, seen):
    if path in seen:
        return
    seen.add(path)
    with open(path, "rb") as file:
        tree = ast.parse(file.read(), path)
    for name in imports(tree.body):
        if not is_own(own, name):
            if name not in names:
                names.append(name)
        else:
            inner = file_of(own, name)
            if inner is not None:
                collect(own, inner, names, seen)


def names_of(kind, name, own):
    path = name
    if kind == "module":
        path = file_of(own, name) or file_of(own, name + ".__main__")
        if path is None:
            return [name]
    names = []
    collect(own, path, names, set())
    return names


def load(names):
    """As they are imported: a name that is no module is a name in one."""
    before = len(sys.modules)
    began, cpu = time.perf_counter(), time.process_time()
    for name in names:
        try:
            __import__(name)
        except BaseException:
            pass
    took, cpu = time.perf_counter() - began, time.process_time() - cpu
    return len(sys.modules) - before, took, cpu


def threads():
    """Libraries of linear algebra end theirs before a fork."""
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    for _ in range(100):
        n = len(os.listdir("/proc/self/task")) - 1
        if n == 0:
            return ""
        time.sleep(0.01)
    return "the modules start %d threads" % n


def main():
    out = os.dup(1)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    kind, name = sys.argv[1:3]
    own = own_folder(kind, name)
    sys.path[0] = own
    if len(sys.argv) > 3:
        with open(sys.argv[3]) as file:
            names = file.read().split()
    else:
        names = names_of(kind, name, own)
    for module in [m for m in sys.modules if m not in _before]:
        if module not in ("os", "time", "posix"):
            del sys.modules[module]
    sys.argv = [name]
    n, took, cpu = load(names)
    os.write(out, ("%d %.6f %.6f %s\n" % (n, took, cpu, threads())).encode())
    os._exit(0)


main()
