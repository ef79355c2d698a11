"""`@connections` of the WebSocket gateway, called with a function's boto3 client."""

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection

from tests.stack.gateway_process import CLIENT_SECONDS, GatewayProcess
from tests.stack.scripted_lambda import Reply, ScriptedLambda, answer

pytestmark = pytest.mark.stack

MESSAGE_MAX_BYTES = 128 * 1024
SEND_SECONDS = 1.0


@pytest.fixture(scope="module")
def management(gateway: GatewayProcess) -> Any:
    return gateway.management()


@contextmanager
def _connected(
    gateway: GatewayProcess, functions: ScriptedLambda, **options: Any
) -> Iterator[tuple[ClientConnection, str]]:
    """Provide a connected client and its connection id."""
    with gateway.client(**options) as client:
        yield client, functions.events("$connect")[-1]["requestContext"]["connectionId"]


@contextmanager
def _that_does_not_read(
    gateway: GatewayProcess, functions: ScriptedLambda
) -> Iterator[tuple[ClientConnection, str]]:
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.connect(("127.0.0.1", gateway.port))
    with _connected(gateway, functions, sock=sock, max_queue=1, close_timeout=0.1) as connected:
        yield connected


def _fill(management: Any, connection: str) -> list[bytes]:
    """Post messages until one is refused, and return those that were accepted."""
    sent: list[bytes] = []
    while True:
        message = f"{len(sent)} ".encode().ljust(MESSAGE_MAX_BYTES, b".")
        try:
            management.post_to_connection(ConnectionId=connection, Data=message)
        except management.exceptions.LimitExceededException:
            return sent
        sent.append(message)


def test_a_posted_message_reaches_the_client_as_text(
    gateway: GatewayProcess, functions: ScriptedLambda, management: Any
) -> None:
    with _connected(gateway, functions) as (client, connection):
        management.post_to_connection(ConnectionId=connection, Data="grüße".encode())
        assert client.recv(timeout=CLIENT_SECONDS) == "grüße"


def test_the_largest_message_can_be_posted_and_a_larger_one_is_refused(
    gateway: GatewayProcess, functions: ScriptedLambda, management: Any
) -> None:
    with _connected(gateway, functions) as (client, connection):
        largest = b"x" * MESSAGE_MAX_BYTES
        management.post_to_connection(ConnectionId=connection, Data=largest)
        assert client.recv(timeout=CLIENT_SECONDS) == largest.decode()
        with pytest.raises(management.exceptions.PayloadTooLargeException):
            management.post_to_connection(ConnectionId=connection, Data=largest + b"x")
        management.post_to_connection(ConnectionId=connection, Data=b"still open")
        assert client.recv(timeout=CLIENT_SECONDS) == "still open"


def test_a_payload_that_is_no_text_is_refused(
    gateway: GatewayProcess, functions: ScriptedLambda, management: Any
) -> None:
    with _connected(gateway, functions) as (_, connection):
        with pytest.raises(ClientError) as refused:
            management.post_to_connection(ConnectionId=connection, Data=b"\xff")
        assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400


@pytest.mark.parametrize("operation", ["post_to_connection", "get_connection", "delete_connection"])
def test_a_connection_that_has_ended_or_never_was_is_gone(
    gateway: GatewayProcess, functions: ScriptedLambda, management: Any, operation: str
) -> None:
    with _connected(gateway, functions) as (_, former):
        pass
    functions.wait_for("$disconnect")
    data = {"Data": b"hello"} if operation == "post_to_connection" else {}
    for connection in (former, "neverwasopened1="):
        with pytest.raises(management.exceptions.GoneException):
            getattr(management, operation)(ConnectionId=connection, **data)


def test_until_the_handshake_is_accepted_the_connection_is_gone(
    gateway: GatewayProcess, functions: ScriptedLambda, management: Any
) -> None:
    codes = []

    def post_to_itself(event: dict[str, Any]) -> Reply:
        connection = event["requestContext"]["connectionId"]
        try:
            management.post_to_connection(ConnectionId=connection, Data=b"too early")
        except ClientError as error:
            codes.append(error.response["Error"]["Code"])
        return answer(200)(event)

    functions.script("$connect", post_to_itself)
    with gateway.client():
        pass
    assert codes == ["GoneException"]


def test_a_function_can_answer_while_it_handles_a_message(
    gateway: GatewayProcess, functions: ScriptedLambda, management: Any
) -> None:
    def echo(event: dict[str, Any]) -> Reply:
        connection = event["requestContext"]["connectionId"]
        management.post_to_connection(ConnectionId=connection, Data=event["body"].encode())
        return answer(200)(event)

    functions.script("$default", echo)
    with gateway.client() as client:
        for text in ("one", "two"):
            client.send(text)
            assert client.recv(timeout=CLIENT_SECONDS) == text


def test_get_tells_who_is_connected_since_when_and_when_last_active(
    gateway: GatewayProcess, functions: ScriptedLambda, management: Any
) -> None:
    options = {"user_agent_header": "probe/1"}
    with _connected(gateway, functions, **options) as (client, connection):
        first = management.get_connection(ConnectionId=connection)
        client.send("hello")
        functions.wait_for("$default")
        second = management.get_connection(ConnectionId=connection)
        management.post_to_connection(ConnectionId=connection, Data=b"hello")
        third = management.get_connection(ConnectionId=connection)
    assert first["Identity"] == {"SourceIp": "127.0.0.1", "UserAgent": "probe/1"}
    connected_at = functions.events("$connect")[0]["requestContext"]["connectedAt"]
    since = datetime.fromtimestamp(connected_at / 1000, UTC)
    assert abs(first["ConnectedAt"] - since) < timedelta(milliseconds=1)
    assert second["ConnectedAt"] == first["ConnectedAt"] <= first["LastActiveAt"]
    assert first["LastActiveAt"] < second["LastActiveAt"] < third["LastActiveAt"]
    assert third["LastActiveAt"] <= datetime.now(UTC)


def test_delete_closes_the_connection(
    gateway: GatewayProcess, functions: ScriptedLambda, management: Any
) -> None:
    with _connected(gateway, functions) as (client, connection):
        management.delete_connection(ConnectionId=connection)
        with pytest.raises(management.exceptions.GoneException):
            management.get_connection(ConnectionId=connection)
        with pytest.raises(ConnectionClosed) as closed:
            client.recv(timeout=CLIENT_SECONDS)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1000
    [event] = functions.wait_for("$disconnect")
    assert event["requestContext"]["connectionId"] == connection
    assert event["requestContext"]["disconnectStatusCode"] == 1000


def test_a_client_that_does_not_read_costs_the_others_nothing(
    gateway: GatewayProcess, functions: ScriptedLambda, management: Any
) -> None:
    with (
        _that_does_not_read(gateway, functions) as (_, stuck),
        _connected(gateway, functions) as (reader, other),
        ThreadPoolExecutor(4) as pool,
    ):
        _fill(management, stuck)
        begin = time.monotonic()
        refusals = [pool.submit(_fill, management, stuck) for _ in range(4)]
        for number in range(20):
            management.post_to_connection(ConnectionId=other, Data=str(number).encode())
            assert reader.recv(timeout=CLIENT_SECONDS) == str(number)
        assert time.monotonic() - begin < SEND_SECONDS
        assert [refusal.result() for refusal in refusals] == [[]] * 4
        # One after the other they would take four times as long.
        assert SEND_SECONDS <= time.monotonic() - begin < 4 * SEND_SECONDS


def test_a_client_that_reads_again_gets_whole_messages_and_new_ones(
    gateway: GatewayProcess, functions: ScriptedLambda, management: Any
) -> None:
    with _that_does_not_read(gateway, functions) as (client, connection):
        sent = _fill(management, connection)
        received = [client.recv(timeout=CLIENT_SECONDS) for _ in sent]
        assert received == [message.decode() for message in sent]
        management.post_to_connection(ConnectionId=connection, Data=b"again")
        assert client.recv(timeout=CLIENT_SECONDS) == "again"


def test_a_client_that_does_not_read_can_be_deleted(
    gateway: GatewayProcess, functions: ScriptedLambda, management: Any
) -> None:
    with _that_does_not_read(gateway, functions) as (_, connection):
        _fill(management, connection)
        management.delete_connection(ConnectionId=connection)
        functions.wait_for("$disconnect")


def test_another_stage_is_forbidden(gateway: GatewayProcess) -> None:
    management = gateway.management("production")
    with pytest.raises(management.exceptions.ForbiddenException):
        management.get_connection(ConnectionId="neverwasopened1=")


def test_health_is_an_empty_200(gateway: GatewayProcess) -> None:
    answer = httpx.get(f"{gateway.url}/healthz", trust_env=False)
    assert (answer.status_code, answer.content) == (200, b"")
