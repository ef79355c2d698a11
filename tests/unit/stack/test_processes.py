"""The stack names, finds and ends its own processes, and no others."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stack import process
from stack.process import ProcessId, Spawn
from tests.waiting import waited

SLEEP = "import time; time.sleep(60)"
# Ignores SIGTERM; creates the file `ready` once it does.
STUBBORN = (
    "import signal, pathlib, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    "pathlib.Path('ready').touch(); time.sleep(60)"
)
# Starts a process in its own session, as LocalStack does, and keeps running.
PARENT = (
    "import subprocess, sys, time, pathlib;"
    f"child = subprocess.Popen([sys.executable, '-c', {SLEEP!r}], start_new_session=True);"
    "pathlib.Path('child').write_text(str(child.pid)); time.sleep(60)"
)

# Its first thread ends while another one runs, as in a killed JVM for a moment.
LEADERLESS = (
    "import ctypes, threading, time; threading.Thread(target=time.sleep, args=(60,)).start();"
    "ctypes.CDLL(None).pthread_exit(None)"
)

Start = Callable[..., ProcessId]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    started: list[ProcessId] = []

    def start(code: str, owner: str = "owner", **environ: str) -> ProcessId:
        spec = Spawn((sys.executable, "-c", code), environ, tmp_path)
        identity = process.spawn(spec, log=tmp_path / "log", owner=owner)
        assert identity is not None
        started.append(identity)
        return identity

    yield start
    for identity in started:
        process.send(identity, signal.SIGKILL)
    assert process.wait_until_gone(started, 10) == []


def test_a_reused_pid_is_another_process(start: Start) -> None:
    running = start(SLEEP)
    former = ProcessId(running.pid, running.started - 1)
    assert process.is_alive(running)
    assert not process.is_alive(former)


def test_a_reused_pid_is_never_signalled(start: Start) -> None:
    running = start(SLEEP)
    former = ProcessId(running.pid, running.started - 1)
    assert not process.send(former, signal.SIGKILL)
    assert process.stop([former], list, grace=0) == []
    assert process.is_alive(running)


def test_a_process_is_alive_until_its_last_thread_ends(start: Start) -> None:
    running = start(LEADERLESS)
    state = Path(f"/proc/{running.pid}/stat")
    waited(lambda: state.read_text().rpartition(")")[2].split()[0] == "Z", seconds=10)
    assert process.is_alive(running)
    process.send(running, signal.SIGKILL)
    assert process.wait_until_gone([running], 10) == []


def test_a_zombie_is_not_alive() -> None:
    with subprocess.Popen([sys.executable, "-c", "pass"]) as child:
        waited(lambda: process.identify(child.pid) is None, seconds=10)
        assert Path(f"/proc/{child.pid}").exists()  # its parent hasn't waited for it yet


def test_the_start_time_is_the_one_of_the_clock(start: Start) -> None:
    assert abs(process.started_at(start(SLEEP)) - time.time()) < 5


def test_a_part_gets_nothing_of_the_callers_environment(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OF_THE_CALLER", "1")
    shown = "import os; print('OF_THE_CALLER' in os.environ, os.environ['OWN'], flush=True);"
    start(shown + SLEEP, OWN="2")
    waited((tmp_path / "log").read_text, seconds=10)
    assert (tmp_path / "log").read_text() == "False 2\n"


def test_a_part_is_out_of_reach_of_the_terminals_signals(start: Start) -> None:
    running = start(SLEEP)
    assert os.getsid(running.pid) == running.pid


def test_only_processes_with_the_very_mark_are_owned(start: Start, tmp_path: Path) -> None:
    mine = start(SLEEP, owner=f"{tmp_path}:part")
    start(SLEEP, owner=f"{tmp_path}:part2")
    start(SLEEP, owner=f"{tmp_path}-b:part")
    waited(lambda: process.owned(f"{tmp_path}:part", [tmp_path]) == [mine], seconds=10)


@pytest.mark.heavy
def test_a_process_is_found_from_its_start_on(tmp_path: Path) -> None:
    spec = Spawn(("/bin/sleep", "60"), {}, tmp_path)
    for number in range(100):  # the kernel shows a new program's environment with a short delay
        owner = f"{tmp_path}:{number}"
        started = process.spawn(spec, log=tmp_path / "log", owner=owner)
        found = process.owned(owner, [tmp_path])
        for each in found:
            process.send(each, signal.SIGKILL)
        assert found == [started]


def test_functions_are_owned_by_where_their_code_is(start: Start, tmp_path: Path) -> None:
    function = start(SLEEP, owner="", LAMBDA_TASK_ROOT=f"{tmp_path}/code/1")
    start(SLEEP, owner="", LAMBDA_TASK_ROOT=f"{tmp_path}-other/code/1")
    waited(lambda: process.owned(f"{tmp_path}:part", [tmp_path]) == [function], seconds=10)


def test_stop_ends_children_in_other_sessions_too(start: Start, tmp_path: Path) -> None:
    parent = start(PARENT, owner=f"{tmp_path}:part")
    waited(
        lambda: (tmp_path / "child").exists() and (tmp_path / "child").read_text(),
        seconds=10,
    )
    child = process.identify(int((tmp_path / "child").read_text()))
    assert child is not None
    rest = process.stop(
        [parent], lambda: process.owned(f"{tmp_path}:part", [tmp_path / "data"]), grace=10
    )
    assert rest == []
    assert not process.is_alive(parent)
    assert not process.is_alive(child)


def test_stop_kills_what_does_not_end_in_time(start: Start, tmp_path: Path) -> None:
    stubborn = start(STUBBORN, owner=f"{tmp_path}:part")
    waited((tmp_path / "ready").exists, seconds=10)
    begin = time.monotonic()
    assert (
        process.stop([stubborn], lambda: process.owned(f"{tmp_path}:part", [tmp_path]), grace=0.2)
        == []
    )
    assert not process.is_alive(stubborn)
    assert time.monotonic() - begin < 5


def test_a_share_of_shared_pages_counts_as_memory_and_an_ended_process_has_none() -> None:
    own = ProcessId(os.getpid(), 0)
    assert 1e6 < process.proportional_bytes(own) < 2e9
    assert process.proportional_bytes(ProcessId(2**22 + 1, 0)) == 0
