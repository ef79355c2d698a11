"""A Podman of our own that answers Docker's API at `/var/run/docker.sock` for a while.

Its images, containers and settings are in a temporary folder, so the machine's own Podman isn't
changed. Limits are small and runc starts the containers: Podman's defaults exceed the hard limits
of many virtual machines, and crun needs a newer kernel interface.
"""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from containers.image import PYTHON, write_root
from stack.containers import SOCKETS, Engine
from stack.deployment.sam import IMAGE
from stack.errors import InstallError, UsageError

_SETTINGS: Final = """\
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1000:1000"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
"""
_STORAGE: Final = """\
[storage]
driver = "overlay"
graphroot = "{folder}/images"
runroot = "{folder}/run"
"""
_SECONDS: Final = 300.0
_START_SECONDS: Final = 60.0
_POLL_SECONDS: Final = 0.1
_STOP_SECONDS: Final = 10.0
_LINKS: Final = Path("/sys/class/net")


def require(socket: Path = SOCKETS[0]) -> None:
    """Raise UsageError, which names what is missing, unless Podman can be started here."""
    if os.geteuid() != 0:
        raise UsageError("Podman's containers need root: their network is a bridge")
    missing = [name for name in ("podman", "runc", "ip") if shutil.which(name) is None]
    if missing:
        raise UsageError(f"install {' and '.join(missing)}, such as by apt-get install podman runc")
    if os.path.lexists(socket):
        raise UsageError(f"{socket} exists: use that engine, or remove the file")


@contextmanager
def serving(packages: Path, socket: Path = SOCKETS[0]) -> Iterator[Engine]:
    """Yield an engine that has the substitute for AWS's image; end and remove all of it afterwards.

    `packages` is the folder that holds awslambdaric. Raises InstallError if Podman fails.
    """
    links = _links()
    with ExitStack() as undo:
        folder = Path(tempfile.mkdtemp(prefix="spinneret-podman-"))
        undo.callback(shutil.rmtree, folder)
        (folder / "containers.conf").write_text(_SETTINGS)
        (folder / "storage.conf").write_text(_STORAGE.format(folder=folder))
        environment = {
            **os.environ,
            "CONTAINERS_CONF": str(folder / "containers.conf"),
            "CONTAINERS_STORAGE_CONF": str(folder / "storage.conf"),
        }
        undo.callback(_remove_links, links)
        undo.callback(_unmount, folder)
        _add_image(folder, packages, environment)
        undo.callback(_remove_containers, environment)
        # A bridge exists while it has a container, and `sam_local` listens on it before SAM's run.
        waiting = ("-c", "import signal; signal.pause()")
        _podman(environment, "run", "--detach", IMAGE, PYTHON, *waiting)
        undo.enter_context(_service(folder / "podman.sock", environment))
        socket.symlink_to(folder / "podman.sock")
        undo.callback(socket.unlink)
        engine = Engine([socket])
        engine.require()
        yield engine


def _add_image(folder: Path, packages: Path, environment: Mapping[str, str]) -> None:
    root = folder / "root.tar"
    write_root(root, packages)
    changes = ("--change", "ENV PATH=/var/lang/bin:/bin", "--change", "WORKDIR /var/task")
    _podman(environment, "import", "--quiet", *changes, str(root), IMAGE)
    root.unlink()


@contextmanager
def _service(socket: Path, environment: Mapping[str, str]) -> Iterator[None]:
    """Run Podman's service until the block ends."""
    words = ("podman", "system", "service", "--time", "0", f"unix://{socket}")
    with subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL) as service:
        try:
            deadline = time.monotonic() + _START_SECONDS
            while not socket.exists():
                if service.poll() is not None or time.monotonic() > deadline:
                    raise InstallError("podman system service didn't start")
                time.sleep(_POLL_SECONDS)
            yield
        finally:
            service.terminate()
            try:
                service.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                service.kill()


def _podman(environment: Mapping[str, str], *words: str) -> str:
    done = subprocess.run(
        ("podman", *words),
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=_SECONDS,
    )
    if done.returncode != 0:
        raise InstallError(f"podman {words[0]} failed: {done.stderr.strip()}")
    return done.stdout


def _remove_containers(environment: Mapping[str, str]) -> None:
    """Remove all containers, which ends their processes, and all images, SAM's included."""
    _podman(environment, "rm", "--all", "--force", "--time", "0")
    _podman(environment, "rmi", "--all", "--force")


def _unmount(folder: Path) -> None:
    """Undo the mounts that Podman leaves below its folder, the innermost first."""
    mounts = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
    for each in sorted((name for name in mounts if name.startswith(f"{folder}/")), reverse=True):
        subprocess.run(("umount", each), check=True, timeout=_SECONDS)


def _links() -> set[str]:
    return {each.name for each in _LINKS.iterdir()}


def _remove_links(former: set[str]) -> None:
    """Remove the network bridges that weren't there before."""
    for name in sorted(_links() - former):
        if (_LINKS / name / "bridge").exists():
            subprocess.run(("ip", "link", "delete", name), check=True, timeout=_SECONDS)
