"""Write a wheel: the module, the programs, the libraries that they need.

    wheel.py VERSION FOLDER NAME=FILE...

FOLDER gets hpotune-VERSION-....whl, whose path is printed.  NAME is a path in
the wheel; DATA/ stands for the folder whose files are installed beside bin and
lib of an environment.  The same files give the same bytes: times are those of
SOURCE_DATE_EPOCH, or of 1980.

For another machine than this one: WHEEL_MACHINE is its name, WHEEL_LIBRARIES the
folder of the libraries that the wheel takes, and WHEEL_STRIP a program that takes away
debugging symbols, all in the environment.
"""

import base64
import hashlib
import os
import platform
import re
import subprocess
import sys
import time
import zipfile

LIBS = "libexec/hpotune/lib/"  # what the programs have as run path
# Of the C library, which the tag of the wheel asks for.
SYSTEM = re.compile(r"(ld-linux.*|linux-vdso|libc|libdl|libm|libpthread|librt)"
                    r"\.so")

METADATA = """\
Metadata-Version: 2.1
Name: hpotune
Version: {version}
Summary: Run, watch and query hyperparameter studies
Requires-Python: >=3.8
Description-Content-Type: text/plain

The program hpotune with its helpers and manual pages, and the Python module
hpotune, which needs no other package.  Jobs of SageMaker also need the system's
libcurl.so.4.
"""

WHEEL = """\
Wheel-Version: 1.0
Generator: hpotune {version}
Root-Is-Purelib: false
Tag: py3-none-{tag}
"""


def libraries(program):
    """The shared libraries that a program is linked with, by name."""
    found = {}
    if "WHEEL_LIBRARIES" in os.environ:
        listed = subprocess.run(["readelf", "-d", program], encoding="utf-8",
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
                                ).stdout
        for name in re.findall(r"\(NEEDED\).*\[(\S+)\]", listed):
            if not SYSTEM.match(name):
                found[name] = os.path.join(os.environ["WHEEL_LIBRARIES"], name)
        return found
    listed = subprocess.run(["ldd", program], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, encoding="utf-8").stdout
    for name, path in re.findall(r"(\S+) => (/\S+)", listed):
        if not SYSTEM.match(name):
            found[name] = os.path.realpath(path)
    return found


def stripped(data):
    """A program or library without its debugging symbols."""
    path = os.path.join(folder, ".strip")
    with open(path, "wb") as file:
        file.write(data)
    subprocess.run([os.environ.get("WHEEL_STRIP", "strip"), "--strip-unneeded", path],
                   check=True)
    with open(path, "rb") as file:
        data = file.read()
    os.unlink(path)
    return data


version, folder, *given = sys.argv[1:]
data_folder = f"hpotune-{version}.data/data/"
info = f"hpotune-{version}.dist-info/"
files = {}
glibc = 17  # of manylinux2014, which each pip has
for name, path in (one.split("=", 1) for one in given):
    with open(path, "rb") as file:
        files[name.replace("DATA/", data_folder)] = file.read()
    for library, path in libraries(path).items():
        with open(path, "rb") as file:
            files[data_folder + LIBS + library] = file.read()
for name, data in files.items():
    if data.startswith(b"\x7fELF"):
        files[name] = data = stripped(data)
        glibc = max([glibc, *map(int, re.findall(rb"\0GLIBC_2\.(\d+)", data))])
machine = os.environ.get("WHEEL_MACHINE", platform.machine())
tag = f"manylinux_2_{glibc}_{machine}"
files[info + "METADATA"] = METADATA.format(version=version).encode()
files[info + "WHEEL"] = WHEEL.format(version=version, tag=tag).encode()

record = ""
for name, data in sorted(files.items()):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
    record += f"{name},sha256={digest.decode().rstrip('=')},{len(data)}\n"
files[info + "RECORD"] = f"{record}{info}RECORD,,\n".encode()

when = time.gmtime(max(315532800, int(os.environ.get("SOURCE_DATE_EPOCH", 0))))
path = os.path.join(folder, f"hpotune-{version}-py3-none-{tag}.whl")
with zipfile.ZipFile(path + ".new", "w", zipfile.ZIP_DEFLATED) as whl:
    for name, data in sorted(files.items()):
        entry = zipfile.ZipInfo(name, when[:6])
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.create_system = 3
        program = data.startswith(b"\x7fELF") and LIBS not in name
        entry.external_attr = (0o100755 if program else 0o100644) << 16
        whl.writestr(entry, data)
os.replace(path + ".new", path)
print(path)
