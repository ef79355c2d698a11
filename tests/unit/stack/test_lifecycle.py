"""Parts start together; if one fails, all of them are ended."""

import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from stack.errors import ProbeError, StartError
from stack.instance import Instance, Record, machine_boot
from stack.lifecycle import end, start_missing
from stack.parts.part import Part, Site
from stack.ports import HOST, Ports
from stack.process import Spawn
from stack.progress import Progress
from stack.tools.store import Store
from stack.workspace import Workspace
from tests.waiting import waited

STAY = "import time; print('here', flush=True); time.sleep(60)"
FAIL = "print('the reason is this'); raise SystemExit(3)"

MakePart = Callable[..., Part]


@pytest.fixture(autouse=True)
def _sockets(socket_enabled: None) -> None:
    """Allow sockets: the check for a port in use binds it on loopback."""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    workspace = Workspace(tmp_path / "project", tmp_path / "local", {}, Progress())
    instance = Instance.named("dev", workspace)
    yield Site(instance, Ports(), Store(workspace))
    end(instance, instance.read(), ["one", "two"])


def works(url: str) -> None:
    """Pass, as the probe of a part that works."""


def does_not_work(url: str) -> None:
    raise ProbeError("out of order")


@pytest.fixture
def make(tmp_path: Path) -> MakePart:
    def make(
        name: str, code: str = STAY, probe: Callable[[str], None] = works, seconds: float = 30
    ) -> Part:
        spec = Spawn((sys.executable, "-c", code), {}, tmp_path)
        return Part(name, name.title(), "gateway", (), lambda _: spec, probe, seconds)

    return make


def _nothing() -> Record:
    return Record(machine_boot(), Ports(), {})


def _start(site: Site, *parts: Part) -> Record:
    return start_missing(parts, parts, site, _nothing())


def test_started_parts_run_and_are_on_record(site: Site, make: MakePart) -> None:
    record = _start(site, make("one"), make("two"))
    assert set(record.alive()) == {"one", "two"}
    assert site.instance.read() == record


def test_a_part_that_ends_is_reported_with_the_end_of_its_log(site: Site, make: MakePart) -> None:
    with pytest.raises(StartError) as error:
        _start(site, make("one", FAIL, does_not_work))
    assert "the reason is this" in str(error.value)
    assert error.value.exit_code == 1


def test_a_part_that_does_not_work_in_time_is_reported_with_the_reason(
    site: Site, make: MakePart
) -> None:
    with pytest.raises(StartError, match=r"Two does not work after 0 s: out of order"):
        _start(site, make("one"), make("two", probe=does_not_work, seconds=0.3))


def test_the_other_parts_are_not_waited_for_once_one_has_failed(site: Site, make: MakePart) -> None:
    begin = time.monotonic()
    with pytest.raises(StartError, match="Two"):
        _start(site, make("one", probe=does_not_work), make("two", FAIL, probe=does_not_work))
    assert time.monotonic() - begin < 15


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_when_a_start_is_broken_off_what_it_had_started_is_ended(
    site: Site, make: MakePart, error: type[BaseException]
) -> None:
    def broken(url: str) -> None:
        raise error

    with pytest.raises(error):
        _start(site, make("one"), make("two", probe=broken))
    record = site.instance.read()
    assert record is not None
    assert record.parts == {}
    assert site.instance.processes("one") == []
    assert site.instance.processes("two") == []


def test_a_part_that_ran_before_survives_the_failure_of_another(site: Site, make: MakePart) -> None:
    one, two = make("one"), make("two", FAIL, does_not_work)
    before = _start(site, one)
    with pytest.raises(StartError):
        start_missing([two], [one, two], site, before)
    assert site.instance.read() == before
    assert set(before.alive()) == {"one"}


def test_a_part_that_runs_is_not_probed_again(site: Site, make: MakePart) -> None:
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        listener.listen()
        port = listener.getsockname()[1]
        ports = replace(site.ports, gateway=port)
        held = replace(site, ports=ports)
        before = start_missing([make("one")], [make("one")], held, _nothing())
        asked = make("one", probe=does_not_work)
        assert start_missing([], [asked], held, before) == before


def test_ending_one_part_leaves_the_other(site: Site, make: MakePart) -> None:
    record = _start(site, make("one"), make("two"))
    assert end(site.instance, record, ["one"])
    assert set(record.alive()) == {"two"}


def test_a_part_is_found_and_ended_without_a_record(site: Site, make: MakePart) -> None:
    record = _start(site, make("one"))
    assert end(site.instance, None, ["one"])
    assert record.alive() == {}
    assert not end(site.instance, None, ["one"])


def test_the_former_log_is_kept_beside_the_new_one(site: Site, make: MakePart) -> None:
    log = site.instance.log("one")
    first = _start(site, make("one", "import time; print('first', flush=True); time.sleep(60)"))
    waited(lambda: "first" in log.read_text(), seconds=10)
    os.kill(first.parts["one"].process.pid, signal.SIGKILL)
    _start(site, make("one"))
    assert log.with_name("one.log.1").read_text() == "first\n"
