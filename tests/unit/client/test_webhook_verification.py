"""`verify_webhook` accepts only messages that the service signed."""

# covers L-01
import base64
import socket
from datetime import UTC, datetime, timedelta

import pytest

from spinneret.events.webhooks.signing import new_secret, sign
from spinneret_client import WebhookInvalid, verify_webhook
from spinneret_client.cli.output import Output
from spinneret_client.cli.tools import Tools
from spinneret_client.cli.webhooks import Receiver

NOW = datetime(2026, 11, 23, tzinfo=UTC)
SECRET = new_secret(lambda count: b"s" * count)
OTHER = new_secret(lambda count: b"o" * count)
BODY = b'{"type": "crawl.completed", "text": "\xc3\xbc"}'


def _verify(
    *, secrets: str | list[str] = SECRET, body: bytes = BODY, late: float = 0, **changes: str | None
) -> str:
    headers: dict[str, str] = sign(BODY, id="msg_1", timestamp=NOW, secrets=[SECRET, OTHER])
    for name, value in changes.items():
        headers[name.replace("_", "-")] = value or ""
        if value is None:
            del headers[name.replace("_", "-")]
    at = (NOW + timedelta(seconds=late)).timestamp()
    webhook = verify_webhook(
        {k.title(): v for k, v in headers.items()}, body, secrets, now=lambda: at
    )
    assert webhook.data["type"] == "crawl.completed"
    return webhook.id


@pytest.mark.parametrize(
    "secrets", [SECRET, OTHER, [OTHER], ["whsec_" + base64.b64encode(b"x" * 32).decode(), SECRET]]
)
def test_either_secret_of_a_rotation_verifies(secrets: str | list[str]) -> None:
    assert _verify(secrets=secrets, late=299) == "msg_1"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"body": BODY + b" "}, "no_matching_signature"),
        ({"secrets": new_secret(lambda count: b"x" * count)}, "no_matching_signature"),
        ({"secrets": "whsec_!"}, "malformed_secret"),
        ({"late": 301}, "too_old"),
        ({"late": -301}, "too_new"),
        ({"webhook_signature": None}, "missing_header"),
        ({"webhook_signature": "v1,"}, "no_matching_signature"),
        ({"webhook_timestamp": "soon"}, "malformed_header"),
        ({"webhook_timestamp": "9" * 400}, "malformed_header"),
        ({"webhook_timestamp": "9" * 5000}, "malformed_header"),
        ({"webhook_id": "msg_2"}, "no_matching_signature"),
        ({"webhook_id": "msg_\udcff"}, "no_matching_signature"),
        ({"webhook_signature": "v1,\udcff"}, "no_matching_signature"),
    ],
)
def test_anything_else_is_refused_with_its_reason(changes: dict[str, object], reason: str) -> None:
    with pytest.raises(WebhookInvalid) as caught:
        _verify(**changes)  # type: ignore[arg-type]
    assert caught.value.reason == reason


@pytest.mark.usefixtures("socket_enabled")
@pytest.mark.parametrize("length", ["-1", "many", "9" * 5000])
def test_the_command_refuses_a_delivery_whose_length_is_no_number(
    length: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with Receiver(("127.0.0.1", 0), Tools(Output()), SECRET) as server:
        address = ("127.0.0.1", server.server_port)
        with socket.create_connection(address, timeout=5) as sender:
            sender.sendall(f"POST / HTTP/1.0\r\nContent-Length: {length}\r\n\r\n".encode())
            server.handle_request()
            assert b" 413 " in sender.recv(100)
    assert "Traceback" not in capsys.readouterr().err
