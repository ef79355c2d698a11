"""The choice of an instance's ports, and refused ports."""

import socket
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from stack import ports
from stack.errors import UsageError
from stack.port_claims import Claim, claim
from stack.ports import Ports


@pytest.fixture(autouse=True)
def _sockets(socket_enabled: None) -> None:
    """Allow sockets: the check for a free port binds it on loopback."""


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind((ports.HOST, 0))
        listener.listen()
        yield listener.getsockname()[1]


@pytest.fixture
def claimed(tmp_path: Path) -> Iterator[Claim]:
    with claim(folder=tmp_path) as made:
        yield made


@pytest.fixture
def free(claimed: Claim) -> Ports:
    return ports.choose({}, held=None, claim=claimed)


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, {}),
        ({"SPINNERET_GATEWAY_PORT": ""}, {}),
        ({"SPINNERET_GATEWAY_PORT": " 4600 "}, {"gateway": 4600}),
        (
            {"SPINNERET_OPENSEARCH_PORT": "1", "SPINNERET_EMBEDDER_PORT": "65535"},
            {"opensearch": 1, "embedder": 65535},
        ),
    ],
)
def test_the_environment_names_ports(environ: dict[str, str], expected: dict[str, int]) -> None:
    assert ports.requested(environ) == expected


@pytest.mark.parametrize("text", ["0", "65536", "-1", "http", "4566.0", "٤٥٦٦"])
def test_what_is_no_port_is_refused_by_its_variable(text: str) -> None:
    with pytest.raises(UsageError, match=f"SPINNERET_GATEWAY_PORT={text}"):
        ports.requested({"SPINNERET_GATEWAY_PORT": text})


def test_without_a_wish_the_ports_are_the_documented_ones() -> None:
    assert ports.choose({}, held=None, claim=None) == Ports(4566, 9209, 8085)


def test_claimed_ports_are_different_and_free(claimed: Claim, free: Ports) -> None:
    assert set(asdict(free).values()) == set(claimed.ports[: len(ports.VARIABLES)])
    ports.refuse_taken(free, ports.VARIABLES)


def test_a_named_port_wins_over_a_claimed_one(claimed: Claim) -> None:
    assert ports.choose({"embedder": 4711}, held=None, claim=claimed).embedder == 4711


def test_a_running_instance_keeps_its_ports(claimed: Claim) -> None:
    held = Ports(1, 2, 3)
    assert ports.choose({}, held=held, claim=claimed) == held
    assert ports.choose({"gateway": 1}, held=held, claim=None) == held


def test_another_port_for_a_running_instance_is_refused() -> None:
    with pytest.raises(UsageError, match="SPINNERET_GATEWAY_PORT=7"):
        ports.choose({"gateway": 7}, held=Ports(1, 2, 3), claim=None)


@pytest.mark.parametrize("name", ["gateway", "opensearch", "embedder"])
def test_a_taken_port_is_refused_by_number_part_and_variable(
    name: str, taken: int, free: Ports
) -> None:
    chosen = replace(free, **{name: taken})
    with pytest.raises(UsageError) as refusal:
        ports.refuse_taken(chosen, ports.VARIABLES)
    message = str(refusal.value)
    assert "\n" not in message
    assert all(part in message for part in (str(taken), name, ports.VARIABLES[name]))
    assert refusal.value.exit_code == 2


def test_only_the_ports_of_parts_to_start_are_looked_at(taken: int, free: Ports) -> None:
    ports.refuse_taken(replace(free, gateway=taken), ["opensearch", "embedder"])


def test_one_port_for_two_parts_is_refused(free: Ports) -> None:
    with pytest.raises(UsageError, match="both gateway and embedder"):
        ports.refuse_taken(replace(free, embedder=free.gateway), [])


def test_a_port_with_connections_that_linger_is_free(free: Ports) -> None:
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do
        listener.bind((ports.HOST, 0))
        listener.listen()
        port = listener.getsockname()[1]
        client = socket.create_connection((ports.HOST, port))
        served, _ = listener.accept()
        served.close()  # the side that closes first keeps its port in TIME_WAIT
        client.close()
    ports.refuse_taken(replace(free, gateway=port), ["gateway"])


def test_former_ports_return_except_named_ones(free: Ports) -> None:
    assert ports.choose({}, held=None, claim=None, former=free) == free
    named = ports.choose({"embedder": 8085}, held=None, claim=None, former=free)
    assert named == replace(free, embedder=8085)
