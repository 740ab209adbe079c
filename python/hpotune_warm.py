"""The warm process of a study: it imports what trials import, once.

The server, or in a job of several trials hpotune-node, starts it and talks to it
on descriptor 3.  For each attempt it makes two processes: one becomes the
supervisor, hpotune-shim, a child of the server; its child waits for the attempt
there and then is the program, as if it had been started.  FOLDER/warm-fork.so makes
both at the price of one fork, if it can be loaded.  This process has one thread and no
GPU, or says why it cannot be used.

    python hpotune_warm.py SERVER FOLDER LIST script|module NAME CORES ROOM

FOLDER/LIST has the names of the modules, a line each; without it what the text of
the program imports is imported, and the first trial that succeeds writes the list.
"""

import os
import sys

_before = set(sys.modules)
import _signal
import _socket
import atexit
import ctypes
import gc
import io
import time

for _name in [n for n in sys.modules if n not in _before]:
    # A program may have modules of these names; ours are kept by this one.
    if _name.partition(".")[0] in ("ctypes", "struct"):
        del sys.modules[_name]

CONTROL = 3  # as the server has it
WARM_FD = 80  # as the supervisor has it
LOCK_FD = 100
MESSAGE_MAX = 65536
FDS_MAX = 4
CLONE_PARENT = 0x8000
CLOSE_RANGE = 436
CLONE = {"x86_64": 56, "aarch64": 220, "riscv64": 220}
PR_SET_PDEATHSIG = 1
F_GETFL = 3
FIONREAD = 0x541b
PROT_READ_WRITE, MAP_SHARED_ANONYMOUS = 3, 0x21
IN_CHANGES = 0xfce  # all but opened, read and closed after reading
LOOK_AGAIN = 1.0  # seconds
ONLY_AST = 0x400  # a flag of compile
# Libraries that have something of a process in /dev/shm until it ends.
REGISTERED = ("libomp", "libiomp")
TOOLS = ("LD_PRELOAD", "LD_AUDIT", "CUDA_INJECTION64_PATH", "LLVM_PROFILE_FILE",
         "GCOV_PREFIX", "CPUPROFILE", "HEAPPROFILE")
# Calls that change nothing on which an import could depend.
QUIET = {"getLogger", "TypeVar", "NewType", "namedtuple", "NamedTuple", "Path", "field",
         "dataclass", "staticmethod", "classmethod", "property", "setter", "wraps",
         "lru_cache", "cache", "cached_property", "abstractmethod", "overload",
         "contextmanager", "no_grad", "inference_mode", "dirname", "abspath", "basename",
         "realpath", "getcwd", "join", "resolve", "exists", "get", "getenv", "format",
         "split", "strip", "lower", "upper", "device", "is_available", "int", "bool", "float", "str", "len", "dict", "list", "tuple",
         "set", "frozenset", "range"}
MEMORY_DEVICES = 1  # their major number
MADV_HUGEPAGE, MADV_COLLAPSE = 14, 25
THP = "/sys/kernel/mm/transparent_hugepage"
GPUS = ("/dev/nvidia", "/dev/kfd", "/dev/dri/")
# Modules that act when they are imported, or read the trial's environment.
NEVER = {"__main__", "__mp_main__", "this", "antigravity", "idlelib",
         "turtle", "hpotune", "hpotune_optimize", "sagemaker_training"}
MARKS = (b"HPOTUNE_ATTEMPT_UUID", b"HPOTUNE_PARAMS")
# jemalloc, of pyarrow and of itself; what is said last counts.
ALLOCATORS = {b"JE_ARROW_MALLOC_CONF": b"background_thread:false",
              b"MALLOC_CONF": b"background_thread:false"}

libc = ctypes.PyDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p


class Unusable(Exception):
    """Why this process cannot be used; the text is a clause."""


class Warm:
    """What is known before the first trial."""

    def __init__(self, argv):
        self.server = int(argv[1])
        self.folder, listed, self.kind, self.name, cores = argv[2:7]
        self.listed = self.folder + "/" + listed
        self.given = listed == "listed"  # by the user
        self.files_first()
        self.control = _socket.socket(fileno=CONTROL)
        os.set_inheritable(CONTROL, False)
        self.learning = False
        self.imported = False
        self.variables = {}  # set for imports, with their values before
        self.put = {}  # and then
        self.paths, self.stamps = b"", b"%r" % (None,)  # of modules' files
        self.events, self.looked = -1, None  # of inotify
        self.cores_before = os.sched_getaffinity(0)
        self.bind(cores)
        self.cores = len(os.sched_getaffinity(0))
        self.ending = None  # the exit code of a program that has ended
        self.kept = []  # functions that are called then
        self.areas = {}
        self.arguments = (0, 0)
        self.folder_first()
        self.path = list(sys.path)
        self.moving = moving_entries()
        self.own_entries = {self.own}
        self.at_start = set(sys.modules)
        self.remember()

    def remember(self):
        """
        What is imported.  A trial does not walk through all modules: each object
        that it looks at is written, and each page that is written is copied.
        """
        self.loaded = {name: id(module)
                       for name, module in sys.modules.items()}
        self.stems = {name for name in sys.modules
                      if name not in self.at_start and "." not in name}

    def bind(self, cores):
        """As the supervisor binds a trial: libraries count what they get."""
        want = set()
        for part in cores.split(","):
            first, _, last = part.partition("-")
            if first:
                want.update(range(int(first), int(last or first) + 1))
        if want & self.cores_before:
            os.sched_setaffinity(0, want & self.cores_before)

    def folder_first(self):
        """The folder that python puts before all others."""
        self.own = None
        if self.kind == "module":
            import runpy
        if getattr(sys.flags, "safe_path", sys.flags.isolated):
            return
        self.own = first_folder(self.kind, self.name)
        sys.path[0] = self.own

    def files_first(self):
        """What is printed by an import is in no trial's log."""
        null = os.open("/dev/null", os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        log = os.open(self.folder + "/log",
                      os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND,
                      0o600)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.close(log)

    def say(self, letter, text=""):
        self.control.send(letter + os.fsencode(text))

    def names(self):
        """The modules to import; None: to be learnt."""
        try:
            with open(self.listed, encoding="utf-8") as file:
                return file.read().split()
        except OSError:
            return None


def first_folder(kind, name):
    if kind == "module":
        return os.getcwd()
    return os.path.dirname(os.path.realpath(name))


def moving_entries():
    """The entries of sys.path that PYTHONPATH has by the working folder."""
    if sys.flags.ignore_environment:
        return {}
    words = os.environ.get("PYTHONPATH", "")
    return {os.path.abspath(word): word for word in words.split(":")
            if words and not word.startswith("/")}


# The places of the first arguments and of the first environment.

def areas_find(warm):
    """Where other programs read what a process is: ours, to be written over."""
    with open("/proc/self/environ", "rb") as file:
        words = file.read()
    with open("/proc/self/cmdline", "rb") as file:
        line = file.read()
    environ = ctypes.POINTER(ctypes.c_void_p).in_dll(libc, "environ")
    i = 0
    while environ[i]:
        text = ctypes.string_at(environ[i])
        name = text.partition(b"=")[0]
        if name in MARKS:
            warm.areas[name] = (environ[i], len(text))
        i += 1
    mark = b"\0" + MARKS[0] + b"="
    at = (b"\0" + words).find(mark)
    if len(warm.areas) != len(MARKS) or at < 0:
        raise Unusable("the environment of the process is not where it was")
    start = warm.areas[MARKS[0]][0] - at - len(line)
    if ctypes.string_at(start, len(line)) != line:
        raise Unusable("the arguments of the process are not where they were")
    warm.arguments = (start, len(line))
    warm.line = line
    for name in MARKS:
        os.environb.pop(name, None)


def area_fill(place, text):
    start, size = place
    text = text[:size]
    ctypes.memmove(start, text + bytes(size - len(text)), size)


# The imports.

def stamp(path):
    try:
        st = os.stat(path)
    except OSError:
        return None
    return (st.st_mtime_ns, st.st_size, st.st_ino)


def stamps(paths):
    return b"\n".join(b"%r" % (stamp(path),) for path in paths.split(b"\0"))


def watch(warm):
    """
    Be told of changes in the folders of the files.  Those by other machines and those of
    folders above are not told: a look is old after LOOK_AGAIN seconds in any case.
    """
    page = libc.mmap(None, ctypes.c_size_t(8), PROT_READ_WRITE, MAP_SHARED_ANONYMOUS,
                     -1, ctypes.c_long(0))
    if page in (None, ctypes.c_void_p(-1).value):
        return
    warm.looked = ctypes.c_double.from_address(page)  # by any process, monotonic
    if warm.events != -1:
        os.close(warm.events)
    warm.events = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    folders = {path.rpartition(b"/")[0] for path in warm.paths.split(b"\0")}
    for folder in folders if warm.events != -1 else ():
        if libc.inotify_add_watch(warm.events, folder, IN_CHANGES) == -1:
            os.close(warm.events)
            warm.events = -1
            break
    warm.looked.value = time.monotonic()


def unchanged(warm):
    """Whether nothing was told, and the last look is not old."""
    waiting = ctypes.c_int(1)
    return warm.events != -1 and \
        time.monotonic() < warm.looked.value + LOOK_AGAIN and \
        libc.ioctl(warm.events, FIONREAD, ctypes.byref(waiting)) == 0 and \
        waiting.value == 0


def changed(warm):
    """
    A file of what was imported that is not as it was; None: none.  The paths are one
    text, of which a trial makes its own: see remember.
    """
    if unchanged(warm):
        return None
    began = time.monotonic()
    if stamps(warm.paths) == warm.stamps:
        if warm.events != -1:
            warm.looked.value = began
            try:
                os.read(warm.events, MESSAGE_MAX)
            except BlockingIOError:
                pass
        return None
    now = stamps(warm.paths).split(b"\n")
    for path, old, new in zip(warm.paths.split(b"\0"),
                              warm.stamps.split(b"\n"), now):
        if old != new:
            return os.fsdecode(path)
    return None


def threads():
    """The names of our other threads; one that ends may be seen a while."""
    for _ in range(100):
        other = [t for t in os.listdir("/proc/self/task")
                 if int(t) != os.getpid()]
        if not other:
            return []
        time.sleep(0.01)
    names = set()
    for thread in other:
        try:
            with open(f"/proc/self/task/{thread}/comm") as file:
                names.add(file.read().strip())
        except OSError:
            pass
    return sorted(names)


def devices():
    found = set()
    for fd in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink("/proc/self/fd/" + fd)
        except OSError:
            continue
        if target.startswith(GPUS):
            found.add(target)
    return sorted(found)


def settle():
    """
    Libraries such as OpenBLAS end their threads before a fork and start them
    when they are needed.
    """
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    names = threads()
    if names:
        raise Unusable("the modules start threads (%s)" % ", ".join(names))
    names = devices()
    if names:
        raise Unusable("the modules open a GPU (%s)" % names[0])


def threadless():
    """
    While modules are imported: no thread of allocators, of which a fork has none
    either.  The environment as it was.
    """
    before = {}
    for name, word in ALLOCATORS.items():
        old = os.environb.get(name)
        os.environb[name] = b",".join(filter(None, [old, word]))
        before[name] = old, os.environb[name]
    return before


def pages_gather():
    """
    Large pages for the memory of the modules: a fork copies one entry for each
    instead of 512.
    """
    try:
        with open(THP + "/enabled") as file:
            if "[never]" in file.read():
                return
        with open(THP + "/hpage_pmd_size") as file:
            size = int(file.read())
        with open("/proc/self/maps") as file:
            lines = file.read().splitlines()
    except (OSError, ValueError):
        return
    for line in lines:
        place, flags, _, _, inode = line.split(None, 5)[:5]
        first, _, last = place.partition("-")
        first = -(-int(first, 16) // size) * size
        last = int(last, 16) // size * size
        if flags == "rw-p" and inode == "0" and first < last and \
                not line.endswith("[stack]"):
            room = ctypes.c_void_p(first), ctypes.c_size_t(last - first)
            if libc.madvise(*room, MADV_HUGEPAGE) == 0:
                libc.madvise(*room, MADV_COLLAPSE)


def variable_put(warm, name, value, default):
    """As the program does; a trial begins without it."""
    if default and name in os.environ:
        return
    warm.variables.setdefault(name, os.environ.get(name))
    os.environ[name] = warm.put[name] = value


def load(warm, imports):
    """
    imports: of each module its name, and the names that are taken from it; between them
    variables that are set.
    """
    warm.say(b"i")
    before = threadless()
    began, cpu = time.perf_counter(), time.process_time()
    failed = []
    argv, sys.argv = sys.argv, [warm.name]
    for name, taken, *default in imports:
        try:
            if default:
                variable_put(warm, name, taken, *default)
            else:
                __import__(name, None, None, taken)
        except BaseException as e:
            failed.append(f"{name}: {e!r}")
    sys.argv = argv
    took, cpu = time.perf_counter() - began, time.process_time() - cpu
    for name, (old, ours) in before.items():
        if os.environb.get(name) != ours:
            continue  # a module has set it for what it starts
        if old is None:
            del os.environb[name]
        else:
            os.environb[name] = old
    for text in failed:
        print("not imported:", text, file=sys.stderr)
    for name, value, *_ in (words for words in imports if len(words) == 3):
        if name in warm.variables and os.environ.get(name) != value:
            raise Unusable("%s, which the program sets, is changed by a module" % name)
    files = {getattr(module, "__file__", None)
             for module in list(sys.modules.values())} | {sys.executable}
    warm.paths = b"\0".join(os.fsencode(path) for path in files
                            if isinstance(path, str))
    watch(warm)
    warm.stamps = stamps(warm.paths)
    settle()
    warm.imported = True
    end_short(warm)
    warm.remember()
    gc.collect()
    if hasattr(gc, "freeze"):
        gc.freeze()
    pages_gather()
    warm.say(b"l" if warm.learning else b"r",
             "%d %.6f %.6f" % (sum(len(words) == 2 for words in imports) -
                               len(failed), took, cpu))


def load_more(warm):
    """What a trial has imported in addition."""
    names = warm.names()
    if not warm.learning or names is None:
        return
    warm.learning = False
    names = [name for name in names if name not in sys.modules]
    if names:
        load(warm, [(name, ()) for name in names])
    else:
        warm.say(b"r")


# What a program imports as it begins, by its text: the imports that come before anything
# on which an import could depend.

def kind_of(node):
    return type(node).__name__


def own_file(warm, name):
    """The file of a module of the program; None: there is none."""
    for folder in warm.own_entries:
        for end in "/__init__.py", ".py":
            path = "%s/%s%s" % (folder, name.replace(".", "/"), end)
            if folder is not None and os.path.isfile(path):
                return path
    return None


def own_names(warm, name, taken):
    """Of a module, those above it and what is taken from it, those of the program."""
    names = name.split(".")
    names = [".".join(names[:n]) for n in range(1, len(names) + 1)] + \
        ["%s.%s" % (name, word) for word in taken]
    return [inner for inner in names if own_file(warm, inner)]


def is_outside(warm, name):
    """Whether a module is there, and not of the program."""
    try:
        spec = sys.modules["_frozen_importlib"]._find_spec(name, None)
    except Exception:
        return False
    if spec is None:
        return False
    places = [spec.origin] if spec.has_location else \
        list(spec.submodule_search_locations or ())
    return not any(is_own(warm, path) for path in places)


def is_quiet(node):
    """
    Whether an expression is to change nothing: names, numbers, texts, lists of them, and
    calls that are known.
    """
    kind = kind_of(node)
    if kind in ("List", "Tuple", "Set"):
        return all(map(is_quiet, node.elts))
    if kind == "Dict":
        return all(map(is_quiet, filter(None, [*node.keys, *node.values])))
    if kind == "UnaryOp":
        return is_quiet(node.operand)
    if kind == "BinOp":
        return is_quiet(node.left) and is_quiet(node.right)
    if kind in ("Attribute", "Index", "FormattedValue"):
        return is_quiet(node.value)
    if kind == "Compare":
        return is_quiet(node.left) and all(map(is_quiet, node.comparators))
    if kind in ("BoolOp", "JoinedStr"):
        return all(map(is_quiet, node.values))
    if kind == "IfExp":
        return all(map(is_quiet, (node.test, node.body, node.orelse)))
    if kind == "Subscript":
        return is_quiet(node.value) and is_quiet(node.slice)
    if kind == "Call":
        return getattr(node.func, "attr", getattr(node.func, "id", None)) in QUIET \
            and all(map(is_quiet, [node.func, *node.args,
                                   *(word.value for word in node.keywords)]))
    return kind in ("Constant", "Num", "Str", "Bytes", "NameConstant", "Name",
                    "Ellipsis")


def is_quiet_above(node):
    """A decorator."""
    return getattr(node, "attr", getattr(node, "id", None)) in QUIET or \
        kind_of(node) == "Call" and is_quiet(node)


def defines(node):
    """Whether a statement only gives a name to something that does nothing yet."""
    kind = kind_of(node)
    if kind == "Expr":
        return is_quiet(node.value)
    if kind in ("Assign", "AnnAssign"):
        targets = node.targets if kind == "Assign" else [node.target]
        return all(kind_of(target) == "Name" for target in targets) and \
            (node.value is None or is_quiet(node.value))
    if kind in ("FunctionDef", "AsyncFunctionDef"):
        given = node.args
        return all(map(is_quiet_above, node.decorator_list)) and all(
            map(is_quiet, filter(None, [*given.defaults, *given.kw_defaults])))
    if kind == "ClassDef":
        return all(map(is_quiet_above, node.decorator_list)) and \
            not node.keywords and all(map(is_quiet, node.bases)) and \
            all(map(defines, node.body))
    return kind == "Pass"


def imports_or_defines(node):
    """The same, or an import, which may depend on something that does nothing."""
    if kind_of(node) == "If":
        return is_quiet(node.test) and \
            all(map(imports_or_defines, [*node.body, *node.orelse]))
    return kind_of(node).startswith("Import") or defines(node)


def compares_name(node):
    """Whether it is `if __name__ == "__main__":`."""
    test = node.test
    return kind_of(test) == "Compare" and len(test.ops) == 1 and \
        kind_of(test.ops[0]) == "Eq" and not node.orelse and \
        getattr(test.left, "id", None) == "__name__" and \
        text_of(test.comparators[0]) == "__main__"


def imports_below(node):
    """The imports that are part of a statement, but for those of functions."""
    if kind_of(node).startswith("Import"):
        return [node]
    if kind_of(node) in ("FunctionDef", "AsyncFunctionDef"):
        return []
    parts = [part for name in node._fields for value in [getattr(node, name, None)]
             for part in (value if isinstance(value, list) else [value])
             if hasattr(part, "_fields")]
    return [found for part in parts for found in imports_below(part)]


def statements(body, is_main):
    """
    In their order the imports, branches that may be taken, what sets variables to texts,
    and what may do anything else; not what only defines something.
    """
    for node in body:
        kind = kind_of(node)
        if kind == "Try" and not node.orelse and not node.finalbody and \
                all(kind_of(part).startswith("Import") for part in node.body) and \
                all(imports_or_defines(part) for handler in node.handlers
                    for part in handler.body):
            yield from node.body  # one that is not there is passed over
            yield from node.handlers
        elif kind == "If" and compares_name(node):
            if is_main:
                yield from statements(node.body, is_main)
        elif not defines(node) and not is_default_of_trial(node):
            yield node


def text_of(node):
    """A text that is written there; None: another expression."""
    if kind_of(node) == "Index":  # before Python 3.9
        node = node.value
    value = getattr(node, "value", None) if kind_of(node) == "Constant" else \
        getattr(node, "s", None)
    return value if isinstance(value, str) else None


def is_environ(node):
    return kind_of(node) == "Attribute" and node.attr == "environ" and \
        getattr(node.value, "id", None) == "os"


def put_by(node):
    """
    os.environ["NAME"] = "VALUE", or with setdefault: name, value, and whether it may
    be set before; None: another statement.
    """
    if kind_of(node) == "Assign" and len(node.targets) == 1 and \
            kind_of(node.targets[0]) == "Subscript" and \
            is_environ(node.targets[0].value):
        found = text_of(node.targets[0].slice), text_of(node.value), False
    elif kind_of(node) == "Expr" and kind_of(node.value) == "Call" and \
            kind_of(node.value.func) == "Attribute" and \
            node.value.func.attr == "setdefault" and \
            is_environ(node.value.func.value) and \
            len(node.value.args) == 2 and not node.value.keywords:
        found = (*map(text_of, node.value.args), True)
    else:
        return None
    return None if None in found else found


def variable_set(node):
    """As put_by, but for what a trial has from its supervisor."""
    found = put_by(node)
    return None if found is None or trial_variable(os.fsencode(found[0])) else found


def is_default_of_trial(node):
    """Whether it sets what each trial has already, for a program that runs alone."""
    found = put_by(node)
    return found is not None and found[2] and found[0].startswith("HPOTUNE_")


def words_of(node, package):
    """A statement: modules, and the names that are taken from each."""
    if kind_of(node) == "Import":
        return [(alias.name, []) for alias in node.names]
    name = node.module or ""
    if node.level:
        above = package.split(".") if package else []
        above = above[:len(above) - node.level + 1]
        name = ".".join([*above, name] if name else above)
    return [(name, [alias.name for alias in node.names])]


class Forecast:
    """What a program imports as it begins."""

    def __init__(self):
        self.seen = set()  # the files of the program
        # Modules and names, and variables that are set before, in their order.
        self.found = []
        self.stop = None  # FILE:LINE of the first that may do anything
        self.skipped = False  # something is imported behind it

    def follow(self, warm, path, package, is_main=False):
        """Add what a file of the program imports, and those it imports."""
        if path in self.seen:
            return
        self.seen.add(path)
        with open(path, "rb") as file:
            tree = compile(file.read(), path, "exec", ONLY_AST, True)
        for node in statements(tree.body, is_main):
            if kind_of(node).startswith("Import"):
                for name, taken in words_of(node, package):
                    self.follow_import(warm, name, taken)
            elif variable_set(node) and self.stop is None:
                self.found.append(variable_set(node))
            elif not variable_set(node) and not self.passes(warm, node, package):
                self.stop = self.stop or "%s:%d" % (path, node.lineno)
                self.skipped = self.skipped or bool(imports_below(node))

    def passes(self, warm, node, package):
        """Whether a branch has no more than imports of others, if it is taken."""
        return (kind_of(node) == "ExceptHandler" or imports_or_defines(node)) and \
            not any(own_names(warm, name, taken) for part in imports_below(node)
                    for name, taken in words_of(part, package))

    def follow_import(self, warm, name, taken):
        first = name.partition(".")[0]
        own = own_names(warm, name, taken)
        for inner in own:
            file = own_file(warm, inner)
            self.follow(warm, file, inner if file.endswith("/__init__.py")
                        else inner.rpartition(".")[0])
        if own or not name or first in NEVER or first == "__future__" or \
                not is_outside(warm, first):
            return
        if self.stop is None:
            self.found.append((name, taken))
        elif name not in sys.modules and (name, taken) not in self.found:
            self.skipped = True


def forecast(warm):
    """
    The modules outside of the folder of the program that it imports before it does
    anything else, so that the first trial need not do so, and the variables that it
    sets before, as put_by has them.  Returns that list, and where it does
    something else before it imports more, FILE:LINE, or None.
    """
    told, own = Forecast(), warm.own_entries
    warm.own_entries = own | set(warm.moving)
    try:
        if warm.kind == "module":
            path = own_file(warm, warm.name + ".__main__") or \
                own_file(warm, warm.name)
            package = warm.name.rpartition(".")[0]
            if path is not None and package:
                told.follow_import(warm, package, [])
        else:
            path, package = warm.name, ""
        if path is not None:
            told.follow(warm, path, package, True)
    except Exception:
        warm.learning = False
        return [], None  # what python says of it is for the log of a trial
    finally:
        warm.own_entries = own
    warm.learning = warm.learning and not told.skipped
    return told.found, told.stop if told.skipped else None


# What a trial has imported.

def is_own(warm, path):
    """Whether a file is of the program, not of the system or a package."""
    path = os.path.abspath(path)
    best = None
    for entry in warm.path:
        if path.startswith(entry.rstrip("/") + "/") and \
                (best is None or len(entry) > len(best)):
            best = entry
    return best is None or best in warm.own_entries


def learnt(warm):
    names = []
    for name, module in list(sys.modules.items()):
        spec = getattr(module, "__spec__", None)
        path = getattr(module, "__file__", None)
        if name in warm.at_start or name.partition(".")[0] in NEVER or \
                spec is None or getattr(spec, "name", None) != name or \
                not all(map(str.isidentifier, name.split("."))):
            continue
        if spec.origin != "built-in" and \
                (not isinstance(path, str) or is_own(warm, path)):
            continue
        names.append(name)
    return names


def surroundings(warm):
    """What a program may change before it imports, but for variables of its text."""
    logging = sys.modules.get("logging")
    root = getattr(logging, "root", None)
    variables = {name: value for name, value in os.environ.items()
                 if warm.put.get(name) != value}
    return (variables, list(sys.path), list(sys.meta_path), os.getcwd(),
            getattr(root, "level", None), list(getattr(root, "handlers", ())))


def learn(warm):
    if surroundings(warm) != warm.began_with:
        return  # the modules may be others, or in another state, for that
    part = "%s.%d" % (warm.listed, os.getpid())
    try:
        names = learnt(warm)
        with open(part, "w", encoding="utf-8") as file:
            file.write("".join(n + "\n" for n in names))
        os.rename(part, warm.listed)
    except Exception:
        pass


# Messages: two numbers, and so many words each, each with its NUL.

def receive(sock):
    data, control, _, _ = sock.recvmsg(
        MESSAGE_MAX, _socket.CMSG_SPACE(4 * FDS_MAX))
    fds = []
    for level, kind, part in control:
        if level == _socket.SOL_SOCKET and kind == _socket.SCM_RIGHTS:
            fds += [int.from_bytes(part[i:i + 4], sys.byteorder)
                    for i in range(0, len(part), 4)]
    return data, fds


def words(data):
    n = int.from_bytes(data[:4], sys.byteorder)
    m = int.from_bytes(data[4:8], sys.byteorder)
    found = data[8:].split(b"\0")
    return found[:n], found[n:n + m]


# The processes of an attempt.

def die_with(parent):
    """The kernel ends us with our parent, unless it has ended already."""
    libc.prctl(PR_SET_PDEATHSIG, int(_signal.SIGKILL), 0, 0, 0)
    return os.getppid() == parent


def fds_close(keep):
    for fd in os.listdir("/proc/self/fd"):
        if int(fd) not in keep:
            try:
                os.close(int(fd))
            except OSError:
                pass


def supervisor(warm, path, argv, env, fds):
    """
    In a child of the server: never returns here, but in the trial.  fds: its
    socket, and perhaps its folder and its output.
    """
    server, *rest = fds
    os.setsid()
    os.sched_setaffinity(0, warm.cores_before)
    ours, theirs = _socket.socketpair(
        _socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        ours.close()
        for fd in fds:
            os.close(fd)
        warm.control.close()
        return theirs, parent
    null = os.open("/dev/null", os.O_RDWR)
    output = null
    if rest:
        os.fchdir(rest[0])
        output = rest[1]
    os.dup2(output, 202)
    os.dup2(server, 200)
    os.dup2(ours.fileno(), 201)
    os.dup2(null, 0)
    os.dup2(202, 1)
    os.dup2(202, 2)
    os.dup2(200, 3)
    os.dup2(201, WARM_FD)
    fds_close({0, 1, 2, 3, WARM_FD})
    for signo in range(1, _signal.NSIG):
        try:
            if _signal.getsignal(signo) == _signal.SIG_IGN:
                _signal.signal(signo, _signal.SIG_DFL)
        except (OSError, ValueError):
            pass
    os.execve(path, [*argv, b"warm=%d" % pid],
              dict(w.partition(b"=")[::2] for w in env))


class Fork(ctypes.Structure):
    """struct warm_fork of trials/warm/warm-fork.h."""
    _fields_ = [("path", ctypes.c_char_p), ("argv", ctypes.c_void_p),
                ("env", ctypes.c_void_p), ("number", ctypes.c_void_p),
                ("cores", ctypes.c_void_p), ("cores_size", ctypes.c_size_t),
                *((name, ctypes.c_int) for name in (
                    "server", "trial", "trial_as", "folder", "output"))]


def fork_function(warm):
    """warm_fork; None: the file system, the interpreter or Linux has it not."""
    last = ctypes.c_uint(0xffffffff)
    try:
        function = ctypes.PyDLL(warm.folder + "/warm-fork.so",
                                use_errno=True).warm_fork
        ctypes.pythonapi.PyOS_BeforeFork  # as os.fork does
    except (OSError, AttributeError):
        return None
    if os.uname().machine not in CLONE:
        return None
    closes = libc.syscall(ctypes.c_long(CLOSE_RANGE), last, last, 0) == 0
    return function if closes else None


def make_at_once(warm, path, argv, env, fds):
    """As make, by warm_fork; the process id, or the place of the trial."""
    ours, theirs = _socket.socketpair(
        _socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    last = ctypes.create_string_buffer(b"warm=", 24)
    argv = (ctypes.c_char_p * (len(argv) + 2))(
        *argv, ctypes.cast(last, ctypes.c_char_p))
    env = (ctypes.c_char_p * (len(env) + 1))(*env)
    cores = sum(1 << core for core in warm.cores_before)
    cores = cores.to_bytes(8 * (max(warm.cores_before) // 64 + 1), sys.byteorder)
    if sys.byteorder == "big":
        cores = b"".join(cores[i - 8:i] for i in range(len(cores), 0, -8))
    folder, output = fds[1:] or (-1, -1)
    fork = Fork(path, ctypes.addressof(argv), ctypes.addressof(env),
                ctypes.addressof(last) + 5,
                ctypes.cast(cores, ctypes.c_void_p), len(cores),
                fds[0], ours.fileno(), WARM_FD, folder, output)
    ctypes.pythonapi.PyOS_BeforeFork()
    pid = warm.fork(ctypes.byref(fork))
    if pid != 0:
        ctypes.pythonapi.PyOS_AfterFork_Parent()
        ours.close()
        theirs.close()
        return pid, None
    ctypes.pythonapi.PyOS_AfterFork_Child()
    ours.close()
    for fd in fds:
        os.close(fd)
    warm.control.close()
    return 0, (theirs, os.getppid())


def make(warm, data, fds):
    """A supervisor for the server; the socket of the trial in its child."""
    (path, *argv), env = words(data)
    if warm.fork is not None:
        pid, place = make_at_once(warm, path, argv, env, fds)
    else:
        pid, place = make_in_turn(warm, path, argv, env, fds)
    if pid == 0:
        return place
    if pid == -1:
        # It may pass: another process is tried.
        sys.exit("no process can be made: " + os.strerror(ctypes.get_errno()))
    for fd in fds:
        os.close(fd)
    warm.say(b"p", str(pid))
    return None


def make_in_turn(warm, path, argv, env, fds):
    """As make, by two forks; the process id, or the place of the trial."""
    number = CLONE.get(os.uname().machine)
    if number is None:
        raise Unusable("not on this kind of processor")
    pid = libc.syscall(ctypes.c_long(number),
                       ctypes.c_long(CLONE_PARENT | int(_signal.SIGCHLD)),
                       0, 0, 0, 0)
    if pid == 0:
        try:
            return 0, supervisor(warm, path, argv, env, fds)
        except BaseException:
            os._exit(127)
    return pid, None


# The trial.

def trial_variable(name):
    return name.startswith((b"HPOTUNE_", b"SM_")) or \
        name == b"CUDA_VISIBLE_DEVICES"


def environment(warm, env):
    """The rest is as it was when the modules were imported."""
    new = dict(w.partition(b"=")[::2] for w in env)
    # The supervisor of a worktree removes what leads git to another repository.
    for name in [n for n in os.environb
                 if trial_variable(n) or n.startswith(b"GIT_")]:
        if name not in new:
            del os.environb[name]
    for name, value in warm.variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    for name, value in new.items():
        if trial_variable(name):
            os.environb[name] = value
    for name in MARKS:
        if name in new:
            area_fill(warm.areas[name], name + b"=" + new[name])


def randomness():
    """The module random does it by itself."""
    numpy = sys.modules.get("numpy.random")
    if numpy is not None:
        numpy.seed()
    process = sys.modules.get("multiprocessing.process")
    if process is not None:
        process.current_process().authkey = os.urandom(32)


def refuse(sock, letter, text):
    try:
        sock.send(letter + os.fsencode(text[:200]))
    except OSError:
        pass
    os._exit(0)


def folders_move(warm):
    """
    A trial may have its program in a folder of its own, such as a worktree: take
    modules from there.  Why that cannot be; None: it can.
    """
    own = warm.own and first_folder(warm.kind, warm.name)
    moved = {old: os.path.abspath(word) for old, word in warm.moving.items()}
    if own != warm.own:
        moved[warm.own] = own
    moved = {old: new for old, new in moved.items() if old != new}
    if not moved:
        return None
    warm.own_entries = {warm.own, *warm.moving}
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None)
        if name not in warm.at_start and isinstance(path, str) and \
                is_own(warm, path):
            return "each trial has its own files, and %s is one of them" % path
    # The first entry may be that of PYTHONPATH, too.
    for path in sys.path, warm.path:
        path[:] = [moved.get(entry, entry) for entry in path]
        if own is not None:
            path[0] = own
    warm.own = own
    warm.own_entries = {own, *moved.values()}
    return None


def shadowed(warm):
    """
    A file of the program before a module that is imported, as the program would
    not have it; None: none.
    """
    for folder in warm.own_entries:
        try:
            names = os.listdir(folder) if folder is not None else []
        except OSError:
            continue
        for name in names:
            stem, _, suffix = name.partition(".")
            if stem not in warm.stems:
                continue
            path = folder + "/" + name
            if not suffix:
                path += "/__init__.py"
                if not os.path.exists(path):
                    continue
            elif not suffix.endswith(("py", "pyc", "so")):
                continue
            if getattr(sys.modules[stem], "__file__", None) != path:
                return "the program has its own " + path[len(folder) + 1:]
    return None


def check(warm, sock, workdir):
    path = changed(warm)
    if path is not None:
        refuse(sock, b"o", path + " has changed")
    if len(os.sched_getaffinity(0)) != warm.cores:
        refuse(sock, b"n", "a trial has another number of cores")
    try:
        os.chdir(workdir)
        if warm.kind == "script":
            with open(warm.name, "rb"):
                pass
    except OSError as e:
        refuse(sock, b"n", str(e))
    why = folders_move(warm) or shadowed(warm)
    if why is not None:
        refuse(sock, b"n", why)


def become(warm, sock, parent):
    """Wait for the attempt, and be its program up to the first instruction."""
    if not die_with(parent):
        os._exit(0)
    os.setpgid(0, 0)
    data, fds = receive(sock)
    if not data or len(fds) != 2:
        os._exit(0)
    (workdir, skip, *argv), env = words(data)
    try:
        check(warm, sock, workdir)
        if warm.events != -1:
            os.close(warm.events)
        log, lock = fds
        os.dup2(log, 1)
        os.dup2(log, 2)
        if libc.fcntl(lock, 0, LOCK_FD) == -1:
            raise OSError(ctypes.get_errno(), "no descriptor")
        for fd in fds:
            os.close(fd)
        environment(warm, env)
        # The interpreter may have been started by a script of its name.
        argv[0] = warm.line.partition(b"\0")[0]
        area_fill(warm.arguments, b"".join(w + b"\0" for w in argv))
        randomness()
        sys.argv = [os.fsdecode(w) for w in argv[int(skip):]]
        if hasattr(sys, "orig_argv"):
            sys.orig_argv = [os.fsdecode(w) for w in argv]
        for folder in warm.own_entries:
            sys.path_importer_cache.pop(folder, None)
    except Exception as e:
        refuse(sock, b"n", repr(e))
    sock.send(b"g")
    sock.close()


def main_module():
    module = type(sys)("__main__")
    module.__builtins__ = sys.modules["builtins"]
    if sys.version_info < (3, 14):
        module.__annotations__ = {}
    module.__loader__ = sys.modules["_frozen_importlib"].BuiltinImporter
    sys.modules["__main__"] = module
    return module


def full_name(name):
    """As python writes it into __file__ and tracebacks."""
    if name.startswith("/") or sys.version_info < (3, 9):
        return name
    return os.getcwd() + "/" + (name[2:] if name[:2] == "./" else name)


def code_of(name, module):
    path = full_name(name)
    loader = sys.modules["_frozen_importlib_external"].SourceFileLoader
    module.__loader__ = loader("__main__", path)
    module.__file__ = path
    module.__cached__ = None
    with open(path, "rb") as file:
        source = file.read()
    return compile(source, path, "exec", 0, True)


def program(warm, module):
    if warm.kind == "module":
        sys.argv[0] = "-m"
        from runpy import _run_module_as_main
        return lambda: _run_module_as_main(warm.name)
    return lambda: exec(code_of(warm.name, module), module.__dict__)


def show(error, skip):
    """As python does, without our own frames."""
    traceback = error.__traceback__
    for _ in range(skip):
        traceback = traceback and traceback.tb_next
    error.__traceback__ = traceback
    sys.last_type, sys.last_value = type(error), error
    sys.last_traceback = traceback
    if sys.version_info >= (3, 12):
        sys.last_exc = error
    try:
        sys.excepthook(type(error), error, traceback)
    except BaseException:
        sys.__excepthook__(*sys.exc_info())
        sys.__excepthook__(type(error), error, traceback)


def own_frames(error):
    n, traceback = 0, error.__traceback__
    while traceback and traceback.tb_frame.f_globals is globals():
        n, traceback = n + 1, traceback.tb_next
    return n


def exit_code(value):
    """What python makes of the value of SystemExit."""
    if value is None:
        return 0
    if isinstance(value, int):
        return value & 0xff
    try:
        print(value, file=sys.stderr)
    except Exception:
        pass
    return 1


def outcome(warm):
    """Run the program: its exit code, and whether it succeeded."""
    try:
        program(warm, main_module())()
    except SystemExit as e:
        return exit_code(e.code), e.code is None or e.code == 0
    except KeyboardInterrupt as e:
        show(e, own_frames(e))
        sys.excepthook = lambda *_: None
        raise
    except BaseException as e:
        show(e, own_frames(e))
        return 1, False
    return 0, True


def flush(file):
    try:
        if file is not None and not file.closed:
            file.flush()
    except Exception:
        return False
    return True


def files_flush():
    """Before a cycle ends in which the layers of a file have any order."""
    for kind in io.TextIOWrapper, io.BufferedWriter, io.BufferedRandom:
        for thing in gc.get_objects():
            if type(thing) is kind:
                flush(thing)


def later(warm):
    """The names of the modules that the program has imported, in their order."""
    found = []
    for name in reversed(tuple(sys.modules)
                         if sys.version_info < (3, 8) else sys.modules):
        if warm.loaded.get(name) == id(sys.modules[name]):
            break
        found.append(name)
    return found[::-1]


def objects_end(warm):
    """
    The objects of the program end, as python ends them; those of the imported
    modules end with the process, without being touched.
    """
    for name in ("last_type", "last_value", "last_traceback", "last_exc"):
        if hasattr(sys, name):
            setattr(sys, name, None)
    for name in later(warm):
        path = getattr(sys.modules[name], "__file__", None)
        if isinstance(path, str) and is_own(warm, path):
            del sys.modules[name]
    path = None
    sys.modules.pop("__main__", None)
    files_flush()
    gc.collect()
    files_flush()


# The end of the libraries that were imported before the trial.

def mapped(*names):
    """The files of libraries, by how their names begin, that are in memory."""
    with open("/proc/self/maps", errors="surrogateescape") as file:
        paths = {line.split(None, 5)[5].rstrip("\n") for line in file
                 if ".so" in line}
    return sorted(path for path in paths
                  if path.rpartition("/")[2].startswith(names))


def flushers():
    """
    What writes the output that libraries hold: streams of C, of C++, and units of
    Fortran, of which a process may have several copies.
    """
    found = [lambda: libc.fflush(None)]
    for path in mapped("libstdc++", "libgfortran"):
        try:
            library = ctypes.PyDLL(path, mode=os.RTLD_NOLOAD)
            if "gfortran" in path:
                found.append(lambda f=library._gfortran_flush_i4: f(None))
            for name in () if "gfortran" in path else ("_ZSt4cout", "_ZSt4clog"):
                stream = ctypes.c_char.in_dll(library, name)
                found.append(lambda f=library._ZNSo5flushEv,
                             s=stream: f(ctypes.byref(s)))
        except (OSError, AttributeError, ValueError):
            pass
    return found


def held(fd):
    """
    Whether a library may still have to do with a descriptor: not with a folder, a
    file that is read, /dev/null and the like, or what has no name.
    """
    st = os.fstat(fd)
    kind = st.st_mode & 0o170000
    if kind == 0o100000:
        return libc.fcntl(fd, F_GETFL) & os.O_ACCMODE != os.O_RDONLY
    return not (kind in (0, 0o040000) or
                kind == 0o020000 and os.major(st.st_rdev) == MEMORY_DEVICES)


def holds():
    try:
        fds = os.listdir("/proc/self/fd")
    except OSError:
        return True
    for fd in map(int, fds):
        try:
            if fd not in (1, 2, LOCK_FD) and held(fd):
                return True
        except OSError:
            pass  # that of the list
    return False


class Library(ctypes.Structure):
    """The beginning of struct dl_phdr_info."""
    _fields_ = [("addr", ctypes.c_void_p), ("name", ctypes.c_char_p),
                ("headers", ctypes.c_void_p), ("n", ctypes.c_uint16),
                ("adds", ctypes.c_ulonglong)]


def counter():
    """A function: how many libraries were loaded so far, those that left included."""
    def count(library, size, found):
        found[0] = library[0].adds if size >= ctypes.sizeof(Library) else 0
        return 1

    function = ctypes.CFUNCTYPE(
        ctypes.c_int, ctypes.POINTER(Library), ctypes.c_size_t,
        ctypes.POINTER(ctypes.c_ulonglong))(count)

    def loaded():
        found = ctypes.c_ulonglong(0)
        libc.dl_iterate_phdr(function, ctypes.byref(found))
        return found.value
    return loaded


def end_short(warm):
    """
    The functions that libraries have registered for the end of a process free what
    the kernel frees at once, and copy each page for it.  Those of the modules that
    were imported before the trial are left out, unless the trial has something open
    that they might have to finish, or has loaded libraries of its own.
    """
    def at_end(_):
        if warm.ending is None or loaded() != before or holds():
            return
        for flush in flush_all:
            flush()
        os._exit(warm.ending)

    # Tools that write at the end what they have measured.
    if any(name in os.environ for name in TOOLS) or mapped(*REGISTERED):
        return
    try:
        flush_all = flushers()
        loaded = counter()
        before = loaded()
        function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(at_end)
        if libc.__cxa_atexit(function, None, None) == 0:
            warm.kept.append(function)
    except Exception:
        pass  # all of them are called


def finish(warm, code):
    """As python ends, in its order."""
    threading = sys.modules.get("threading")
    if threading is not None:
        threading._shutdown()
    atexit._run_exitfuncs()
    if not flush(sys.stdout):
        code = 120
    for file in (sys.stderr, sys.__stdout__, sys.__stderr__):
        flush(file)
    objects_end(warm)
    warm.ending = code
    libc.exit(code)


def run(warm):
    me = os.getpid()
    warm.began_with = surroundings(warm) if warm.learning else None
    code, succeeded = outcome(warm)
    if succeeded and warm.learning and os.getpid() == me:
        learn(warm)
    if not warm.imported:
        raise SystemExit(code)
    finish(warm, code)


def serve(warm):
    """Answer the server; returns in a trial."""
    while True:
        data, fds = receive(warm.control)
        if not data:
            os._exit(0)
        if data[:1] == b"l":
            load_more(warm)
            continue
        place = make(warm, data[8:], fds)
        if place is not None:
            become(warm, *place)
            return


def begin(warm):
    if not die_with(warm.server):
        raise Unusable("the interpreter is started by another program")
    areas_find(warm)
    warm.fork = fork_function(warm)
    names, warm.learning = warm.names(), True
    imports, stop = [], None
    if not warm.given:
        imports, stop = forecast(warm)
    if names is not None and (warm.given or warm.learning):
        imports += [(name, ()) for name in names]
    warm.learning = warm.learning and names is None
    if stop is not None:
        warm.say(b"n", "warm starts: %s may change what is imported after it, which "
                 "each trial imports by itself unless trial.warm lists it" % stop)
    if any(len(words) == 2 for words in imports):
        load(warm, imports)
    else:
        warm.say(b"l" if warm.learning else b"r")


def main():
    warm = Warm(sys.argv)
    try:
        begin(warm)
        serve(warm)
    except Unusable as e:
        warm.say(b"x", str(e))
        os._exit(0)
    return warm


run(main())
