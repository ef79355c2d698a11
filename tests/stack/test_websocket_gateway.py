"""Handshakes and messages of the WebSocket gateway, seen by clients and their function."""

import json
import re
import time
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus

from stack.process import ProcessId, proportional_bytes
from tests.stack.gateway_process import (
    CLIENT_SECONDS,
    START_SECONDS,
    GatewayProcess,
    running_gateway,
    started,
)
from tests.stack.scripted_lambda import (
    Behaviour,
    Gate,
    ScriptedLambda,
    answer,
    plain,
    raising,
    throttled,
)

pytestmark = pytest.mark.stack

AWS_ID = re.compile(r"[\w-]{15}=")


def _refusal(gateway: GatewayProcess, path: str = "/local") -> int:
    with pytest.raises(InvalidStatus) as refused, gateway.client(path):
        pass
    return refused.value.response.status_code


def test_a_busy_port_is_reported_in_words(
    gateway: GatewayProcess, functions: ScriptedLambda, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    with log.open("wb") as output:
        process = started(functions, gateway.port, output)
        assert process.wait(START_SECONDS) == 1
    why = f"can't listen on 127.0.0.1:{gateway.port}: another program uses this port"
    assert log.read_text() == f"the WebSocket gateway {why}\n"


def test_the_connect_event_is_api_gateways(
    gateway: GatewayProcess, functions: ScriptedLambda
) -> None:
    before = time.time() * 1000
    with gateway.client("/local?ticket=a%20b&job=1&job=2", user_agent_header="probe/1"):
        pass
    [event] = functions.events("$connect")
    assert event.keys() == {
        "headers",
        "multiValueHeaders",
        "queryStringParameters",
        "multiValueQueryStringParameters",
        "requestContext",
        "isBase64Encoded",
    }
    assert event["queryStringParameters"] == {"ticket": "a b", "job": "2"}
    assert event["multiValueQueryStringParameters"] == {"ticket": ["a b"], "job": ["1", "2"]}
    assert event["headers"]["Sec-WebSocket-Version"] == "13"
    assert event["multiValueHeaders"]["User-Agent"] == ["probe/1"]
    context = event["requestContext"]
    assert before <= context["connectedAt"] <= context["requestTimeEpoch"] <= time.time() * 1000
    assert AWS_ID.fullmatch(context["connectionId"])
    assert context["identity"] == {"userAgent": "probe/1", "sourceIp": "127.0.0.1"}
    assert context["domainName"] == f"127.0.0.1:{gateway.port}"
    assert context["stage"] == "local"


@pytest.mark.parametrize("status", [200, 201, 299])
def test_a_2xx_answer_opens_the_connection(
    gateway: GatewayProcess, functions: ScriptedLambda, status: int
) -> None:
    functions.script("$connect", answer(status))
    with gateway.client() as client:
        client.send("hello")
        functions.wait_for("$default")


@pytest.mark.parametrize(
    ("behaviour", "status"),
    [
        (answer(401), 401),
        (answer(404), 404),
        (answer(503), 503),
        (raising, 502),
        (plain(None), 502),
        (plain({"statusCode": "ok"}), 502),
        (throttled, 500),
    ],
    ids=["unauthorized", "not found", "failure", "raised", "nothing", "malformed", "throttled"],
)
def test_any_other_answer_refuses_the_handshake(
    gateway: GatewayProcess, functions: ScriptedLambda, behaviour: Behaviour, status: int
) -> None:
    functions.script("$connect", behaviour)
    assert _refusal(gateway) == status
    assert functions.events("$disconnect") == []


def test_a_refusal_names_the_connection_and_the_request(
    gateway: GatewayProcess, functions: ScriptedLambda
) -> None:
    functions.script("$connect", answer(403))
    with pytest.raises(InvalidStatus) as refused, gateway.client():
        pass
    body = json.loads(refused.value.response.body or b"")
    [event] = functions.events("$connect")
    assert body["message"] == "Forbidden"
    assert body["connectionId"] == event["requestContext"]["connectionId"]
    assert AWS_ID.fullmatch(body["requestId"])


def test_a_refusal_is_one_line_of_the_log(
    gateway: GatewayProcess, functions: ScriptedLambda
) -> None:
    before = gateway.log.read_text()
    functions.script("$connect", answer(403))
    _refusal(gateway)
    functions.script("$connect", answer(200))
    with gateway.client() as client:
        client.ping().wait(CLIENT_SECONDS)
        lines = gateway.log.read_text().removeprefix(before).splitlines()
    assert [line.split()[-1] for line in lines] == ["403", "opened"]


def test_an_unknown_stage_is_refused_without_the_function(
    gateway: GatewayProcess, functions: ScriptedLambda
) -> None:
    assert _refusal(gateway, "/production") == 403
    assert functions.invocations == []


def test_the_function_chooses_the_subprotocol(
    gateway: GatewayProcess, functions: ScriptedLambda
) -> None:
    functions.script("$connect", answer(200, **{"sec-websocket-protocol": "v2"}))
    with gateway.client(subprotocols=["v1", "v2"]) as client:
        assert client.subprotocol == "v2"


def test_messages_arrive_as_default_events_in_their_order(
    gateway: GatewayProcess, functions: ScriptedLambda
) -> None:
    texts = [f"message {number} ü" for number in range(40)]
    with gateway.client() as client:
        for text in texts:
            client.send(text)
        events = functions.wait_for("$default", len(texts))
    assert [event["body"] for event in events] == texts
    assert all(event["isBase64Encoded"] is False for event in events)
    assert len({event["requestContext"]["messageId"] for event in events}) == len(texts)
    assert len({event["requestContext"]["connectionId"] for event in events}) == 1


def test_a_message_waits_for_the_one_before_but_for_no_other_connection(
    gateway: GatewayProcess, functions: ScriptedLambda
) -> None:
    gate = Gate()
    functions.script("$default", gate)
    with gateway.client() as slow, gateway.client() as other:
        slow.send("one")
        slow.send("two")
        functions.wait_for("$default")
        slow.ping().wait(CLIENT_SECONDS)  # the gateway has read both
        other.send("other")
        functions.wait_for("$default", 2)
        gate.open()
        events = functions.wait_for("$default", 3)
    assert [event["body"] for event in events] == ["one", "other", "two"]


@pytest.mark.parametrize("status", [200, 400, 500])
def test_the_status_of_an_answer_to_a_message_means_nothing(
    gateway: GatewayProcess, functions: ScriptedLambda, status: int
) -> None:
    functions.script("$default", answer(status))
    with gateway.client() as client:
        client.send("one")
        client.send("two")
        functions.wait_for("$default", 2)
        client.ping().wait(CLIENT_SECONDS)
        with pytest.raises(TimeoutError):
            client.recv(timeout=0)


def test_the_client_is_told_when_the_function_fails(
    gateway: GatewayProcess, functions: ScriptedLambda
) -> None:
    functions.script("$default", raising)
    with gateway.client() as client:
        client.send("hello")
        told = json.loads(client.recv(timeout=CLIENT_SECONDS))
    context = functions.events("$default")[0]["requestContext"]
    assert told == {
        "message": "Internal server error",
        "connectionId": context["connectionId"],
        "requestId": context["requestId"],
    }


def test_a_stack_that_was_made_again_is_found(
    gateway: GatewayProcess, functions: ScriptedLambda
) -> None:
    with gateway.client() as client:
        client.send("to the former function")
        functions.wait_for("$default")
        functions.deploy("live-2")
        client.send("to the new one")
        functions.wait_for("$default", 2)
    assert [name for name, _ in functions.invocations][:3] == ["live-1", "live-1", "live-2"]


def test_without_a_deployed_function_a_client_is_refused_until_there_is_one(
    gateway: GatewayProcess, functions: ScriptedLambda
) -> None:
    functions.deploy(None)
    assert _refusal(gateway) == 500
    functions.deploy("live-3")
    with gateway.client():
        pass


def test_without_a_stack_a_client_is_refused(functions: ScriptedLambda, tmp_path: Path) -> None:
    with running_gateway(functions, tmp_path / "log", stack="unknown") as gateway:
        assert _refusal(gateway) == 500


def test_no_credential_or_error_message_is_logged(
    gateway: GatewayProcess, functions: ScriptedLambda
) -> None:
    functions.script("$default", raising)
    with gateway.client("/local?ticket=credential") as client:
        client.send("hello")
        client.recv(timeout=CLIENT_SECONDS)
    functions.wait_for("$disconnect")
    log = gateway.log.read_text()
    connection = functions.events("$connect")[0]["requestContext"]["connectionId"]
    assert f"{connection} opened" in log
    assert "KeyError" in log
    assert "credential" not in log
    assert "a secret" not in log


def test_it_is_small(gateway: GatewayProcess, functions: ScriptedLambda) -> None:
    with gateway.client() as client:
        client.send("x" * 100_000)
        functions.wait_for("$default")
        assert proportional_bytes(ProcessId(gateway.process.pid, 0)) < 60e6
