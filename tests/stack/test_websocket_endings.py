"""Ends of the WebSocket gateway's connections, and the events that their function gets."""

import signal
import socket
import struct
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from tests.stack.gateway_process import CLIENT_SECONDS, GatewayProcess, running_gateway
from tests.stack.scripted_lambda import Gate, ScriptedLambda, raising

pytestmark = pytest.mark.stack

MESSAGE_MAX_BYTES = 128 * 1024


def _closing(client: Any) -> tuple[int, str]:
    with pytest.raises(ConnectionClosed) as closed:
        client.recv(timeout=CLIENT_SECONDS)
    assert closed.value.rcvd is not None
    return closed.value.rcvd.code, closed.value.rcvd.reason


def test_the_largest_message_passes_and_a_larger_one_ends_the_connection(
    gateway: GatewayProcess, functions: ScriptedLambda
) -> None:
    with gateway.client() as client:
        client.send("x" * MESSAGE_MAX_BYTES)
        [event] = functions.wait_for("$default")
        assert len(event["body"]) == MESSAGE_MAX_BYTES
        client.send("x" * (MESSAGE_MAX_BYTES + 1))
        assert _closing(client)[0] == 1009
    [event] = functions.wait_for("$disconnect")
    assert event["requestContext"]["disconnectStatusCode"] == 1009


def test_a_binary_message_ends_the_connection(
    gateway: GatewayProcess, functions: ScriptedLambda
) -> None:
    with gateway.client() as client:
        client.send(b"\x00\x01")
        assert _closing(client)[0] == 1003
    [event] = functions.wait_for("$disconnect")
    assert event["requestContext"]["disconnectStatusCode"] == 1003
    assert functions.events("$default") == []


def _close_normally(client: Any) -> None:
    client.close(1000, "done")


def _close_without_status(client: Any) -> None:
    client.socket.sendall(b"\x88\x80\x00\x00\x00\x00")  # an empty, masked close frame


def _reset(client: Any) -> None:
    linger = struct.pack("ii", 1, 0)  # makes close() send a reset
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    client.socket.shutdown(socket.SHUT_RD)
    client.socket.close()


@pytest.mark.parametrize(
    ("leave", "code", "reason"),
    [
        (_close_normally, 1000, "done"),
        (_close_without_status, 1005, "Client-side close frame status not set"),
        (_reset, 1006, ""),
    ],
)
def test_the_end_is_one_disconnect_event_after_all_messages(
    gateway: GatewayProcess, functions: ScriptedLambda, leave: Any, code: int, reason: str
) -> None:
    gate = Gate()
    functions.script("$default", gate)
    with gateway.client() as client:
        client.send("one")
        client.send("two")
        client.ping().wait(CLIENT_SECONDS)  # the gateway has read both
        leave(client)
    with gateway.client():
        pass
    functions.wait_for("$disconnect")  # the other client's
    gate.open()
    functions.wait_for("$disconnect", 2)
    connection = functions.events("$connect")[0]["requestContext"]["connectionId"]
    contexts = [event["requestContext"] for event in functions.of(connection)]
    routes = [context["routeKey"] for context in contexts]
    assert routes == ["$connect", "$default", "$default", "$disconnect"]
    assert contexts[-1]["disconnectStatusCode"] == code
    assert contexts[-1]["disconnectReason"] == reason


def test_a_failing_disconnect_is_not_tried_again(
    gateway: GatewayProcess, functions: ScriptedLambda
) -> None:
    functions.script("$disconnect", raising)
    for _ in range(2):
        with gateway.client():
            pass
    events = functions.wait_for("$disconnect", 2)
    assert len({event["requestContext"]["connectionId"] for event in events}) == 2


def test_an_idle_connection_ends(functions: ScriptedLambda, tmp_path: Path) -> None:
    with (
        running_gateway(functions, tmp_path / "log", "--idle-seconds", "2.5") as gateway,
        gateway.client() as client,
    ):
        pace, begin = threading.Event(), time.monotonic()
        for _ in range(3):
            pace.wait(1.0)  # shorter than the idle time-out
            client.send("still here")
        assert _closing(client) == (1001, "Going away")
        assert time.monotonic() - begin >= 5.5
        [event] = functions.wait_for("$disconnect")
    assert event["requestContext"]["disconnectStatusCode"] == 1001


def test_a_busy_connection_ends_after_the_longest_duration(
    functions: ScriptedLambda, tmp_path: Path
) -> None:
    stop = threading.Event()
    with (
        running_gateway(functions, tmp_path / "log", "--connection-seconds", "0.6") as gateway,
        gateway.client() as client,
    ):

        def talk() -> None:
            while not stop.wait(0.05):
                try:
                    client.send("still here")
                except ConnectionClosed:
                    return

        talker = threading.Thread(target=talk)
        talker.start()
        assert _closing(client) == (1001, "Going away")
        stop.set()
        talker.join()


def test_it_stops_at_once_and_tells_clients(functions: ScriptedLambda, tmp_path: Path) -> None:
    with (
        running_gateway(functions, tmp_path / "log") as gateway,
        gateway.client() as client,
    ):
        begin = time.monotonic()
        gateway.process.send_signal(signal.SIGTERM)
        assert _closing(client)[0] == 1012
        gateway.process.wait(5)
        assert time.monotonic() - begin < 3
    functions.wait_for("$disconnect")
