"""A substitute for AWS's image of Python 3.12: this machine's Python with `awslambdaric`.

It has the paths that AWS documents (`/var/lang`, `/var/runtime`, `/var/task`, `/opt`) and what SAM
needs to add its emulator of the Lambda service: a shell, `mv` and `chmod`.
"""

import io
import re
import subprocess
import sys
import sysconfig
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from stack.errors import InstallError

PYTHON: Final = "/var/lang/bin/python3.12"
# Libraries that compiled packages (manylinux wheels, PEP 599) may expect of every system.
_OF_PACKAGES: Final = (
    *("libgcc_s.so.1", "libstdc++.so.6", "libm.so.6", "libdl.so.2", "librt.so.1", "libc.so.6"),
    *("libnsl.so.1", "libutil.so.1", "libpthread.so.0", "libresolv.so.2"),
)
_COMMANDS: Final = ("/bin/sh", "/bin/mv", "/bin/chmod")
_EMPTY: Final = ("var/task", "opt", "etc", "proc", "sys", "dev")
_LEFT_OUT: Final = re.compile(
    r"test|idlelib|turtledemo|ensurepip|site-packages|config-.*|_tkinter\..*"
)
# SAM's emulator starts it, as it starts the one of AWS's image.
_BOOTSTRAP: Final = f"""\
#!/bin/sh
export PYTHONPATH=/var/task:/opt/python:/opt/python/lib/python3.12/site-packages:/var/runtime
exec {PYTHON} -m awslambdaric "$_HANDLER"
"""


def write_root(target: Path, packages: Path) -> None:
    """Write the image's root as a tar file; `packages` is the folder that holds awslambdaric."""
    standard = Path(sysconfig.get_path("stdlib"))
    python = Path(sys.executable).resolve()
    compiled = [each for each in standard.glob("lib-dynload/*.so") if _is_kept(str(each))]
    with tarfile.open(target, "w", dereference=True) as root:
        for name in (*_libraries([python, *map(Path, _COMMANDS), *compiled]), *_COMMANDS):
            root.add(name)
        root.add(python, PYTHON)
        root.add(standard, "/var/lang/lib/python3.12", filter=_filtered)
        root.add(packages, "/var/runtime")
        root.addfile(*_file("var/runtime/bootstrap", _BOOTSTRAP))
        for name in _EMPTY:
            root.addfile(_folder(name, 0o755))
        root.addfile(_folder("tmp", 0o1777))


def _filtered(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return member if _is_kept(member.name) else None


def _is_kept(path: str) -> bool:
    return not any(_LEFT_OUT.fullmatch(part) for part in Path(path).parts)


def _libraries(files: Iterable[Path]) -> list[str]:
    """Return the shared libraries of these files and of compiled packages."""
    loaded = _output("ldd", *map(str, files))
    found = set(re.findall(r"(?:=> |^\s)(/\S+) \(0x", loaded, re.MULTILINE))
    known = _output("/sbin/ldconfig", "--print-cache")
    for name in _OF_PACKAGES:
        found |= set(re.findall(rf"{re.escape(name)} .*x86-64.* => (\S+)", known)[:1])
    return sorted(found)


def _output(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    if done.returncode != 0:
        raise InstallError(f"{words[0]} failed: {done.stderr.strip()}")
    return done.stdout


def _file(name: str, text: str) -> tuple[tarfile.TarInfo, io.BytesIO]:
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(text.encode()), 0o755
    return member, io.BytesIO(text.encode())


def _folder(name: str, mode: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.mode = tarfile.DIRTYPE, mode
    return member
