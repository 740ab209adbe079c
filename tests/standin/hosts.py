"""The machines of a job: one process each, in its own tree.

Runs a command as process 1 with its own tree at /opt/ml, in namespaces where
the system allows them, without them elsewhere."""

import asyncio
import os
import shutil
import signal
import subprocess

LINE_MAX = 256 << 10

# $1 the tree, $2 scratch folder, $3 the file of host names, $4 this host's
# name, then folders of /tmp to keep, "--", and the command.
ROOM = r"""
set -e
tree=$1 scratch=$2 hosts=$3 name=$4
shift 4
mount -t tmpfs none "$scratch"
mkdir "$scratch/ml" "$scratch/tmp" "$scratch/opt"
mount --bind "$tree" "$scratch/ml"
if [ ! -d /opt/ml ]; then
	for one in /opt/* /opt/.[!.]*; do
		[ -e "$one" ] || continue
		if [ -d "$one" ]; then
			mkdir "$scratch/opt/${one##*/}"
			mount --rbind "$one" "$scratch/opt/${one##*/}"
		else
			: >"$scratch/opt/${one##*/}"
			mount --bind "$one" "$scratch/opt/${one##*/}"
		fi
	done
	mkdir "$scratch/opt/ml"
	mount --rbind "$scratch/opt" /opt
fi
mount --move "$scratch/ml" /opt/ml 2>/dev/null ||
    mount --bind "$tree" /opt/ml
chmod 1777 "$scratch/tmp"
while [ "$1" != -- ]; do
	mkdir -p "$scratch$1"
	mount --rbind "$1" "$scratch$1"
	shift
done
shift
mount --bind "$hosts" /etc/hosts 2>/dev/null || :
hostname "$name" 2>/dev/null || :
mount --rbind "$scratch/tmp" /tmp
cd /
exec "$@"
"""

UNSHARE = ["unshare", "--pid", "--fork", "--mount", "--uts", "--mount-proc",
           "--kill-child=KILL"]


def tied():
    """The words that make a process end with this one, if there are any."""
    return ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") \
        else []


def find_room(folder):
    """The words that open a room here, None when the system forbids it."""
    tree = os.path.join(folder, "room-test", "ml")
    scratch = os.path.join(folder, "room-test", "scratch")
    os.makedirs(tree, exist_ok=True)
    os.makedirs(scratch, exist_ok=True)
    found = None
    for words in (UNSHARE, UNSHARE + ["--map-root-user"]):
        try:
            done = subprocess.run(
                words + ["/bin/sh", "-c", ROOM, "sh", tree, scratch,
                         "/etc/hosts", "algo-1", "--", "/bin/sh", "-c",
                         "test $$ -eq 1 && : >/opt/ml/seen"],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, timeout=10, check=False)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0 and os.path.exists(
                os.path.join(tree, "seen")):
            found = words
            break
    shutil.rmtree(os.path.join(folder, "room-test"), ignore_errors=True)
    return found


def kept_places():
    """Folders of /tmp that a room shows all the same: where programs are."""
    places = set()
    for one in os.environ.get("PATH", "").split(":"):
        real = os.path.realpath(one)
        if real.startswith("/tmp/") and os.path.isdir(real):
            places.add(os.path.dirname(real)
                       if os.path.basename(real) == "bin" and
                       os.path.dirname(real) != "/tmp" else real)
    return sorted(places)


class Host:
    """One machine: its folder holds opt/ml; one process at a time."""

    def __init__(self, folder, name, room, keep=()):
        self.folder = folder
        self.name = name
        self.tree = os.path.join(folder, "opt", "ml")
        self.room = room
        self.keep = list(keep)
        self.process = None
        self.reader = None
        self.status = None

    async def start(self, argv, env, names, line):
        """Starts argv; line(text) is told every line it prints."""
        env = dict({"PATH": os.environ.get("PATH", "/usr/bin:/bin"),
                    "HOME": "/root", "HOSTNAME": self.name}, **env)
        words = tied()
        if self.room is None:
            env["SAGEMAKER_BASE_DIR"] = self.tree
            argv = [self.tree + word[len("/opt/ml"):]
                    if word.startswith("/opt/ml/") else word for word in argv]
        else:
            words += self.room + self.words(names)
        self.status = None
        self.process = await asyncio.create_subprocess_exec(
            *words, *argv, stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
            env=env, cwd="/" if self.room else self.tree,
            start_new_session=True, limit=LINE_MAX)
        self.reader = asyncio.ensure_future(self.read(line))

    def words(self, names):
        scratch = os.path.join(self.folder, "scratch")
        os.makedirs(scratch, exist_ok=True)
        hosts = os.path.join(self.folder, "hosts")
        with open(hosts, "w", encoding="ascii") as file:
            file.write("127.0.0.1 localhost\n" + "".join(
                "%s %s\n" % (address, name) for name, address in
                names.items()))
        return ["/bin/sh", "-c", ROOM, "sh", self.tree, scratch, hosts,
                self.name] + self.keep + ["--"]

    async def read(self, line):
        """Output as lines; one that is too long comes in pieces."""
        stream, rest = self.process.stdout, b""
        while True:
            data = await stream.read(64 << 10)
            if not data:
                break
            *whole, rest = (rest + data).split(b"\n")
            for one in whole:
                line(one.decode("utf-8", "replace"))
            while len(rest) > LINE_MAX:
                line(rest[:LINE_MAX].decode("utf-8", "replace"))
                rest = rest[LINE_MAX:]
        if rest:
            line(rest.decode("utf-8", "replace"))

    async def wait(self):
        """Waits for the end; the status is a shell's, 128 + N for signal N.

        Output that escaped children still hold open is waited for a moment.
        """
        status = await self.process.wait()
        await asyncio.wait([self.reader], timeout=1.0)
        self.reader.cancel()
        self.status = 128 - status if status < 0 else status
        return self.status

    def first(self):
        """The process id, out here, of what is process 1 in there."""
        pid = self.process.pid
        if self.room is None:
            return pid
        try:
            with open("/proc/%d/task/%d/children" % (pid, pid),
                      encoding="ascii") as file:
                children = file.read().split()
        except OSError:
            return None
        return int(children[0]) if children else None

    def terminate(self):
        """SIGTERM to process 1, as a container stop does."""
        pid = self.first()
        if pid is not None and self.alive():
            try:
                os.kill(pid, signal.SIGTERM)
            except ProcessLookupError:
                pass

    def kill(self):
        """Everything in there dies at once."""
        if not self.alive():
            return
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def alive(self):
        return self.process is not None and self.process.returncode is None
