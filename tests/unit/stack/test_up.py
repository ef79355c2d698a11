"""An instance restarts on other ports if another program takes one of its ports."""

import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from stack.errors import PortTaken, ProbeError
from stack.instance import Instance
from stack.lifecycle import end
from stack.parts.part import Part, Site, require_listener
from stack.port_claims import HOST, claim
from stack.ports import Ports
from stack.process import Spawn
from stack.progress import Progress
from stack.up import TRIES, bring_up
from stack.workspace import Workspace

pytestmark = pytest.mark.heavy  # the tests wait for ports and processes

SERVE = """
import socket, sys, time
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", int(sys.argv[1])))
listener.listen()
time.sleep(600)
"""


@pytest.fixture(autouse=True)
def _sockets(socket_enabled: None) -> None:
    """Allow sockets: the tests start servers on loopback."""


@pytest.fixture
def others() -> Iterator[ExitStack]:
    """Yield a stack that holds the listeners of other programs."""
    with ExitStack() as held:
        yield held


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "project", tmp_path / "local", {}, Progress())


@pytest.fixture
def instance(workspace: Workspace) -> Iterator[Instance]:
    made = Instance.named("test", workspace)
    yield made
    end(made, made.read(), ["server"])


@pytest.fixture
def server(others: ExitStack, tmp_path: Path) -> Callable[[int], Part]:
    """Return a function that makes a part whose port is taken at its first `taken` starts."""

    def make(taken: int) -> Part:
        starts: list[int] = []

        def spawn(site: Site) -> Spawn:
            port = site.ports.gateway
            starts.append(port)
            if len(starts) <= taken:
                other = others.enter_context(socket.socket())
                other.bind((HOST, port))
                other.listen()
            return Spawn((sys.executable, "-c", SERVE, str(port)), {}, tmp_path)

        def probe(url: str) -> None:
            # Connect only to the part's own server: the other program listens on the port, too.
            if len(starts) > taken:
                require_listener(url)
            else:
                raise ProbeError("not yet")

        return Part("server", "Server", "gateway", (), spawn, probe, 30)

    return make


def test_a_part_whose_port_is_taken_starts_on_another_and_says_so(
    server: Callable[[int], Part],
    instance: Instance,
    workspace: Workspace,
    capfd: pytest.CaptureFixture[str],
) -> None:
    bring_up(instance, [server(2)], workspace, free_ports=True)
    record = instance.read()
    assert record is not None
    assert set(record.alive()) == {"server"}
    said = capfd.readouterr()
    assert (said.out + said.err).count("trying other ports") == 2


def test_it_gives_up_after_three_starts(
    server: Callable[[int], Part],
    instance: Instance,
    workspace: Workspace,
    capfd: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(PortTaken, match="another program has taken port"):
        bring_up(instance, [server(TRIES + 1)], workspace, free_ports=True)
    said = capfd.readouterr()
    assert (said.out + said.err).count("trying other ports") == TRIES - 1


def test_a_named_port_is_not_exchanged(
    server: Callable[[int], Part], instance: Instance, workspace: Workspace
) -> None:
    with claim() as claimed:
        named = {"SPINNERET_GATEWAY_PORT": str(claimed.ports[0])}
        with pytest.raises(PortTaken, match=f"port {claimed.ports[0]}"):
            bring_up(instance, [server(1)], replace(workspace, environ=named), free_ports=True)


def test_a_restarted_instance_has_its_former_ports_unless_they_are_taken(
    server: Callable[[int], Part], instance: Instance, workspace: Workspace, others: ExitStack
) -> None:
    def ports_of_a_start(*, free_ports: bool) -> Ports:
        bring_up(instance, [part], workspace, free_ports=free_ports)
        record = instance.read()
        assert record is not None
        end(instance, record, ["server"])
        return record.ports

    part = server(0)
    preferred = others.enter_context(claim())  # the block that this process would otherwise get
    former = ports_of_a_start(free_ports=True)
    preferred.close()
    others.pop_all()
    assert ports_of_a_start(free_ports=True) == former
    assert ports_of_a_start(free_ports=False) == former
    with claim(first=former.gateway) as another:
        assert another.ports.start == former.gateway
        assert ports_of_a_start(free_ports=True) != former
