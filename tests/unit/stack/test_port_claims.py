"""Blocks of ports: outside the kernel's ephemeral range, each with one holder."""

import fcntl
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from stack.errors import StackError
from stack.port_claims import HOST, SIZE, blocks, claim, ephemeral_ports, is_taken
from tests.conftest import ROOT

INSTANCES = 30
# Claims a block, prints its ports, and keeps it in a child until the parent's input ends.
HOLDER = """
import os, subprocess, sys
from pathlib import Path
from stack.port_claims import claim
claimed = claim(folder=Path(sys.argv[1]))
if "child" in sys.argv:
    subprocess.Popen(["sleep", "600"], pass_fds=[claimed.descriptor])
print(claimed.ports.start, claimed.ports.stop, flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def _sockets(socket_enabled: None) -> None:
    """Allow sockets: the check for a free port binds it on loopback."""


def _holder(folder: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder), *options],
        env={**os.environ, "PYTHONPATH": str(ROOT / "infra" / "local")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def _ports(holder: subprocess.Popen[str]) -> range:
    assert holder.stdout is not None
    return range(*map(int, holder.stdout.readline().split()))


@pytest.fixture
def holders() -> Iterator[list[subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []
    yield started
    for each in started:
        with suppress(ProcessLookupError):  # the test ended it, and it has no child
            os.killpg(each.pid, signal.SIGKILL)
        with suppress(BrokenPipeError):
            each.communicate()


@pytest.mark.parametrize(
    ("ephemeral", "first", "count"),
    [
        (range(32_768, 61_000), 20_000, 500),  # the default of Linux
        (range(20_000, 22_000), 22_016, 416),  # narrow, at the usual place of the blocks
        (range(25_000, 27_000), 20_000, 416),  # a block that overlaps it isn't used
        (range(15_000, 65_536), 1_024, 582),  # wide: only the ports below it remain
        (range(1_024, 50_000), 50_008, 647),
    ],
)
def test_blocks_are_outside_the_ephemeral_range(ephemeral: range, first: int, count: int) -> None:
    found = blocks(ephemeral)
    assert (found[0].start, len(found)) == (first, count)
    assert not any(port in ephemeral for block in found for port in block)


def test_a_range_that_leaves_no_port_is_an_error() -> None:
    with pytest.raises(StackError, match="ip_local_port_range"):
        blocks(range(1_024, 65_536))


def test_the_machine_has_blocks() -> None:
    assert not any(port in ephemeral_ports() for port in blocks(ephemeral_ports())[0])


@pytest.mark.heavy
def test_thirty_instances_at_once_share_no_port(
    tmp_path: Path, holders: list[subprocess.Popen[str]]
) -> None:
    holders += [_holder(tmp_path) for _ in range(INSTANCES)]
    ports = [port for holder in holders for port in _ports(holder)]
    assert len(ports) == len(set(ports)) == INSTANCES * SIZE


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_claim_ends_with_its_process(
    number: signal.Signals, tmp_path: Path, holders: list[subprocess.Popen[str]]
) -> None:
    holders.append(_holder(tmp_path))
    ports = _ports(holders[0])
    assert not _can_claim(tmp_path, ports)
    holders[0].send_signal(number)
    holders[0].wait(10)
    assert _can_claim(tmp_path, ports)


def test_a_child_that_inherits_a_claim_keeps_it(
    tmp_path: Path, holders: list[subprocess.Popen[str]]
) -> None:
    holders.append(_holder(tmp_path, "child"))
    ports = _ports(holders[0])
    holders[0].kill()
    holders[0].wait(10)
    assert not _can_claim(tmp_path, ports)


def test_a_block_with_a_taken_port_is_passed_over(tmp_path: Path) -> None:
    with claim(folder=tmp_path) as claimed:
        ports = claimed.ports
    with socket.socket() as listener:
        listener.bind((HOST, ports[3]))
        listener.listen()
        assert is_taken(ports[3])
        with claim(folder=tmp_path) as other:
            assert other.ports != ports
    assert not is_taken(ports[3])


def test_when_all_blocks_are_taken_it_says_so(tmp_path: Path) -> None:
    only = range(20_000 + SIZE, 65_536)  # leaves one of the preferred blocks
    with ExitStack() as held:
        assert held.enter_context(claim(only, tmp_path)).ports.start == 20_000
        with pytest.raises(StackError, match="all 1 blocks"):
            claim(only, tmp_path)


def _can_claim(folder: Path, ports: range) -> bool:
    with (folder / f"{ports.start}.lock").open("r+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True
