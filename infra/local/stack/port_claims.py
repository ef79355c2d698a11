"""Blocks of free ports, each claimed for one holder among all processes of the machine.

A port below the kernel's ephemeral range can't be taken by an outgoing connection between the
moment it is chosen and the moment a server binds it (ip(7), ip_local_port_range). A block is
claimed by a lock on a file, which the holder's processes inherit: the kernel ends the claim with
the last of them.
"""

import errno
import fcntl
import os
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from stack.errors import StackError

HOST: Final = "127.0.0.1"
SIZE: Final = 24
"""Ports in a block."""
_PREFERRED: Final = range(20_000, 32_000)
_UNPRIVILEGED: Final = range(1_024, 65_536)
_EPHEMERAL: Final = Path("/proc/sys/net/ipv4/ip_local_port_range")
# One folder for all clones and users of the machine, regardless of their TMPDIR.
_FOLDER: Final = Path("/tmp/spinneret-ports")  # noqa: S108 - holds locks only, opened without links


@dataclass(frozen=True)
class Claim:
    """A claimed block.

    `descriptor` holds the lock; processes inherit it only if it is passed on.
    """

    ports: range
    descriptor: int

    def close(self) -> None:
        """End the claim, unless another process has inherited it."""
        os.close(self.descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def ephemeral_ports() -> range:
    """Return the ports that the kernel gives to outgoing connections."""
    first, last = map(int, _EPHEMERAL.read_text().split())
    return range(first, last + 1)


def blocks(ephemeral: range) -> list[range]:
    """Return the blocks outside `ephemeral`: in 20000 to 32000, else all unprivileged ones.

    Raises StackError if there are none.
    """
    for span in (_PREFERRED, _UNPRIVILEGED):
        starts = range(span.start, span.stop - SIZE + 1, SIZE)
        found = [range(start, start + SIZE) for start in starts]
        free = [
            each for each in found if each.stop <= ephemeral.start or each.start >= ephemeral.stop
        ]
        if free:
            return free
    raise StackError(
        f"the kernel's ephemeral ports {ephemeral.start}-{ephemeral.stop - 1} leave no free ports: "
        f"narrow {_EPHEMERAL}"
    )


def is_start(port: int | None) -> bool:
    """Return whether a block begins with the port."""
    return any(each.start == port for each in blocks(ephemeral_ports()))


def claim(
    ephemeral: range | None = None, folder: Path = _FOLDER, *, first: int | None = None
) -> Claim:
    """Claim a block whose ports can all be bound, if possible the one that begins with `first`.

    Raises StackError if every block is taken.
    """
    free = blocks(ephemeral_ports() if ephemeral is None else ephemeral)
    # Processes that start together begin with different blocks, and a used block rests.
    middle = os.getpid() % len(free)
    former = [ports for ports in free if ports.start == first]
    for ports in former + free[middle:] + free[:middle]:
        descriptor = _lock(folder, ports.start)
        if descriptor is None:
            continue
        if any(bind_error(port) for port in ports):
            os.close(descriptor)
            continue
        return Claim(ports, descriptor)
    raise StackError(f"all {len(free)} blocks of ports are taken; their locks are in {folder}")


def _lock(folder: Path, start: int) -> int | None:
    """Lock a block's file; return its descriptor, or None if another process has the lock."""
    if not folder.is_dir():
        folder.mkdir(exist_ok=True)
        folder.chmod(0o1777)
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(folder / f"{start}.lock", flags, 0o666)
    except PermissionError:
        return None  # another user's, created with a stricter umask
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def bind_error(port: int) -> OSError | None:
    """Return why a server can't bind a loopback port; None if it can."""
    with socket.socket() as listener:
        # Like servers: lingering connections of a stopped server do not count.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
        except OSError as error:
            return error
    return None


def is_taken(port: int) -> bool:
    """Return whether another program has bound the port."""
    error = bind_error(port)
    return error is not None and error.errno == errno.EADDRINUSE
