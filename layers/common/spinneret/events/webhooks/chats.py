"""Messages in the formats of chat services, from the message that a webhook would get.

Formats: Slack's incoming webhooks, Discord's Execute Webhook, Teams' "When a Teams webhook request
is received", ntfy's "Publish as JSON". All of them ignore headers that they don't know, so the
signature is sent too.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from spinneret.events.webhooks.models import EndpointKind, WebhookEvent
from spinneret.kernel.canonical import canonical_json
from spinneret.kernel.errors import ValidationFailed

_TITLE_CHARS: Final = 250
_LINE_CHARS: Final = 200
_LINES_MAX: Final = 8  # with the title below 2000 characters, Discord's limit …
_URL_CHARS: Final = 1700  # … as one line with a URL is
_TOPIC: Final = re.compile(r"[-_A-Za-z0-9]{1,64}")
_TEST: Final = "Test: this channel receives events."


@dataclass(frozen=True, kw_only=True)
class ChatText:
    """Text of a message for people."""

    title: str
    lines: tuple[str, ...]

    @property
    def whole(self) -> str:
        """Title and lines as one text."""
        return "\n".join([self.title, *self.lines])


def require_form(kind: EndpointKind, url: str) -> None:
    """Raise ValidationFailed for an URL that can't belong to a service of this kind."""
    if kind is EndpointKind.NTFY and not _TOPIC.fullmatch(_topic(url)):
        message = "must end with the topic, such as https://ntfy.sh/my-topic"
        raise ValidationFailed.about("url", message)


def outgoing(kind: EndpointKind, url: str, body: str) -> tuple[str, bytes]:
    """Return the URL and the body to send for a message `body`."""
    if kind is EndpointKind.WEBHOOK:
        return url, body.encode()
    if kind is EndpointKind.NTFY:
        text = text_of(json.loads(body))
        published = {"topic": _topic(url), "title": text.title, "message": "\n".join(text.lines)}
        parts = urlsplit(url)
        root = parts.path.rstrip("/").rpartition("/")[0]
        return urlunsplit(parts._replace(path=f"{root}/")), canonical_json(published)
    return url, canonical_json(_FORMATS[kind](text_of(json.loads(body))))


def text_of(content: Mapping[str, Any]) -> ChatText:
    """Return the text of a message.

    An event's own `summary` says all but its URL. Others show their type and first values.
    """
    data = content["data"]
    if content["type"] == WebhookEvent.TEST:
        return ChatText(title=_TEST, lines=())
    if (summary := data.get("summary")) is not None:
        url = data.get("url")
        lines = (_cut(url, _URL_CHARS),) if url else ()
        return ChatText(title=_cut(summary, _TITLE_CHARS), lines=lines)
    shown = (
        f"{name}: {_cut(value, _LINE_CHARS)}"
        for name, value in data.items()
        if isinstance(value, str | int | float) and value != ""
    )
    return ChatText(title=content["type"], lines=tuple(shown)[:_LINES_MAX])


def _slack(text: ChatText) -> dict[str, Any]:
    plain = text.whole.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return {"text": plain}


def _discord(text: ChatText) -> dict[str, Any]:
    return {"content": text.whole, "allowed_mentions": {"parse": []}}


def _teams(text: ChatText) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = [
        {"type": "TextBlock", "text": text.title, "weight": "Bolder", "wrap": True}
    ]
    blocks += [{"type": "TextBlock", "text": line, "wrap": True} for line in text.lines]
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": blocks,
    }
    attachment = {
        "contentType": "application/vnd.microsoft.card.adaptive",
        "contentUrl": None,
        "content": card,
    }
    return {"type": "message", "attachments": [attachment]}


_FORMATS: Final[Mapping[EndpointKind, Callable[[ChatText], dict[str, Any]]]] = {
    EndpointKind.SLACK: _slack,
    EndpointKind.DISCORD: _discord,
    EndpointKind.TEAMS: _teams,
}


def _topic(url: str) -> str:
    return urlsplit(url).path.rstrip("/").rpartition("/")[2]


def _cut(value: object, most: int) -> str:
    text = str(value)
    return text if len(text) <= most else f"{text[: most - 1]}…"
