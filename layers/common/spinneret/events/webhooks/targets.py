"""Targets of a job's notifications, in the format of `Job.notify`.

A target is the id of an endpoint, or the job's own `webhook_url` followed by the sealed parts of
its `webhook_headers` in base64, separated by blanks: ids have no colon, URLs no blank.
"""

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field

from spinneret.redaction import redact_text


@dataclass(frozen=True, kw_only=True)
class UrlTarget:
    """The `webhook_url` of a job."""

    url: str = field(repr=False)
    sealed_headers: tuple[bytes, ...] = field(default=(), repr=False)


def target_text(target: UrlTarget) -> str:
    """Return a URL as a target."""
    return " ".join([target.url, *encoded(target.sealed_headers)])


def url_target(text: str) -> UrlTarget | None:
    """Convert a `target_text` back to a URL; return None for the id of an endpoint."""
    if ":" not in text:
        return None
    url, *parts = text.split(" ")
    return UrlTarget(url=url, sealed_headers=decoded(parts))


def shown_webhook_url(targets: Sequence[str]) -> str | None:
    """Return the `webhook_url` among a job's targets, without its secrets; None for no URL."""
    urls = (found.url for each in targets if (found := url_target(each)) is not None)
    return next(map(redact_text, urls), None)


def encoded(sealed: Sequence[bytes]) -> list[str]:
    """Return sealed parts as text."""
    return [base64.b64encode(part).decode() for part in sealed]


def decoded(parts: Sequence[str]) -> tuple[bytes, ...]:
    """Convert `encoded` parts back to bytes."""
    return tuple(base64.b64decode(part) for part in parts)
