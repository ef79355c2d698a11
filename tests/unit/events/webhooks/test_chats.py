"""Chat messages: each service gets its own format, signed like every other message."""

# covers P-17

import json
from typing import Any

import pytest

from spinneret.events.webhooks.models import DeliveryStatus, EndpointKind
from spinneret.events.webhooks.signing import verify
from spinneret.kernel.errors import ValidationFailed
from spinneret.outbox.models import DomainEvent
from tests.fakes.time import START
from tests.fakes.webhook_world import WebhookWorld, requested

HOOK = "https://chat.example/hooks/1"
TOPIC = "https://ntfy.example/alerts?auth=1"
SUMMARY = "<Shop> & co is down: answered 500"
PAGE = "https://shop.example/"


def readable(kind: EndpointKind, sent: dict[str, Any]) -> list[str]:
    """Parse a message as the service does, by its published format."""
    match kind, sent:
        case EndpointKind.SLACK, {"text": str(text)}:
            for escaped, character in (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
                assert character not in text.replace("&lt;", "").replace("&gt;", "").replace(
                    "&amp;", ""
                )
                text = text.replace(escaped, character)
            return text.split("\n")
        case EndpointKind.DISCORD, {"content": str(text), "allowed_mentions": {"parse": []}}:
            assert len(text) <= 2000
            return text.split("\n")
        case EndpointKind.TEAMS, {"type": "message", "attachments": [attachment]}:
            assert attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
            assert attachment["content"]["type"] == "AdaptiveCard"
            return [block["text"] for block in attachment["content"]["body"]]
        case EndpointKind.NTFY, {"topic": "alerts", "title": str(title), "message": str(message)}:
            return [title, *message.split("\n")] if message else [title]
    raise AssertionError(f"not a message for {kind}: {sent}")


def emit(hooks: WebhookWorld, data: dict[str, Any]) -> None:
    event = DomainEvent(
        tenant="acme",
        type="target.down",
        subject="t_1",
        sequence=1,
        occurred_at=START,
        data=data,
    )
    hooks.sink.take(event)
    hooks.settle()


KINDS = [each for each in EndpointKind if each is not EndpointKind.WEBHOOK]


@pytest.mark.parametrize("kind", KINDS)
def test_people_read_what_happened(hooks: WebhookWorld, kind: EndpointKind) -> None:
    url = TOPIC if kind is EndpointKind.NTFY else HOOK
    endpoint, secret = hooks.endpoint(kind=kind, url=url, events=frozenset({"target.down"}))
    emit(hooks, {"target_id": "t_1", "url": PAGE, "summary": SUMMARY})
    [request] = hooks.receiver.requests
    assert request.url.text == ("https://ntfy.example/?auth=1" if url == TOPIC else HOOK)
    assert request.body is not None
    assert readable(kind, json.loads(request.body)) == [SUMMARY, PAGE]
    assert verify(request.headers, request.body, [secret], hooks.clock())
    [line] = hooks.lines(endpoint.id)
    assert line.status is DeliveryStatus.DELIVERED
    assert line.payload["data"]["summary"] == SUMMARY


def test_the_longest_texts_are_within_what_discord_takes(hooks: WebhookWorld) -> None:
    kind = EndpointKind.DISCORD
    hooks.endpoint(kind=kind, url=HOOK, events=frozenset({"target.down"}))
    emit(hooks, {"url": PAGE.ljust(2048, "x"), "summary": "y" * 500})
    [request] = hooks.receiver.requests
    assert len(readable(kind, json.loads(request.body or b""))) == 2


@pytest.mark.parametrize("kind", KINDS)
def test_an_event_without_a_summary_and_a_test_are_readable_too(
    hooks: WebhookWorld, kind: EndpointKind
) -> None:
    url = TOPIC if kind is EndpointKind.NTFY else HOOK
    endpoint, _ = hooks.endpoint(kind=kind, url=url, events=frozenset({"target.down"}))
    emit(hooks, {"one": 1, "long": "x" * 10_000, "none": None, "nested": {"a": 1}})
    hooks.service.test("acme", endpoint.id, None)
    hooks.settle()
    event, trial = (
        readable(kind, json.loads(each.body or b"")) for each in hooks.receiver.requests
    )
    assert event == ["target.down", f"long: {'x' * 199}…", "one: 1"]
    assert trial == ["Test: this channel receives events."]


def test_a_change_keeps_the_kind_and_a_topic_is_required(hooks: WebhookWorld) -> None:
    endpoint, _ = hooks.endpoint(kind=EndpointKind.NTFY, url=TOPIC)
    for url in ("https://ntfy.example/", "https://ntfy.example/a.b"):
        with pytest.raises(ValidationFailed):
            hooks.endpoint(kind=EndpointKind.NTFY, url=url)
        with pytest.raises(ValidationFailed):
            hooks.service.update("acme", endpoint.id, requested(url=url))
    changed = hooks.service.update("acme", endpoint.id, requested(url=TOPIC))
    assert changed.kind is EndpointKind.NTFY
