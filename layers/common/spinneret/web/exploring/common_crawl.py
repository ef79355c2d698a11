"""Queries to Common Crawl's capture index, and its responses line by line.

The index server (pywb's CDX server) returns one capture per line. With `output=json` a line is a
JSON object; in files of the index, key and time precede the object. An empty result is a 404 whose
body is one line with a message and no capture. `collinfo.json` lists the crawls.

No content of a response raises: unreadable lines are counted.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlencode

from spinneret.kernel import bounds
from spinneret.kernel.errors import UrlInvalid
from spinneret.web.exploring import limits
from spinneret.web.fetching.urls import Url, parse_url

_TIMESTAMP: Final = re.compile(r"[0-9]{14}", re.ASCII)
_BEFORE_OBJECT: Final = re.compile(rb"[^{]*")


def _always() -> bool:
    return True


@dataclass(frozen=True, kw_only=True)
class Capture:
    """A page that Common Crawl has fetched."""

    url: Url
    fetched_at: datetime | None
    status: int | None
    media_type: str | None


def capture_query(endpoint: str, host: str, limit: int) -> str:
    """Return the URL that queries an index (`…/CC-MAIN-2026-45-index`) for a host's pages.

    The query selects captures with status 200 and HTML, also of names below the host.
    """
    parameters = [
        ("url", host),
        ("matchType", "domain"),
        ("output", "json"),
        ("fl", "url,timestamp,status,mime"),
        ("filter", "=status:200"),
        ("filter", "~mime:.*html.*"),
        ("limit", str(limit)),
    ]
    return f"{endpoint}?{urlencode(parameters)}"


class CaptureReader:
    """Reads one response once; `bad_lines` and `is_cut_off` describe the result afterwards."""

    def __init__(
        self,
        *,
        max_bytes: int = bounds.CDX_MAX_BYTES,
        max_captures: int = bounds.CDX_CAPTURES_MAX,
        may_go_on: Callable[[], bool] = _always,
    ) -> None:
        self.bad_lines = 0
        """Lines without a capture or without a usable URL."""
        self.is_cut_off = False
        """The response exceeded the bounds."""
        self._max_bytes = max_bytes
        self._max_captures = max_captures
        self._may_go_on = may_go_on

    def read(self, chunks: Iterable[bytes]) -> Iterator[Capture]:
        """Yield the captures in order; a URL may appear several times."""
        count = 0
        for line in self._lines(chunks):
            capture = _capture(line)
            if capture is None:
                self.bad_lines += 1
                continue
            if count == self._max_captures:
                self.is_cut_off = True
                return
            count += 1
            yield capture

    def _lines(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield non-blank lines; an overlong line is truncated in memory and therefore bad."""
        rest, total = b"", 0
        for chunk in chunks:
            total += len(chunk)
            if total > self._max_bytes or not self._may_go_on():
                self.is_cut_off = True
                return  # half a line holds no capture
            *lines, rest = (rest + chunk).split(b"\n")
            yield from filter(None, map(bytes.strip, lines))
            rest = rest[: limits.CDX_LINE_MAX_BYTES + 1]
        if rest.strip():
            yield rest.strip()


def newest_first(captures: Iterable[Capture]) -> list[Capture]:
    """Return the newest capture of each URL, newest first; captures without a date come last."""
    newest: dict[str, Capture] = {}
    for capture in captures:
        known = newest.get(capture.url.text)
        if known is None or _age(capture) > _age(known):
            newest[capture.url.text] = capture
    return sorted(newest.values(), key=_age, reverse=True)


def indexes_of(collinfo: bytes) -> list[str]:
    """Return the endpoints in `collinfo.json`, newest first; empty for any other content."""
    try:
        listed = json.loads(collinfo)
    except (ValueError, RecursionError):
        return []
    if not isinstance(listed, list):
        return []
    endpoints = (each.get("cdx-api") for each in listed if isinstance(each, dict))
    return [endpoint for endpoint in endpoints if isinstance(endpoint, str)]


def _age(capture: Capture) -> datetime:
    return capture.fetched_at or datetime.min.replace(tzinfo=UTC)


def _capture(line: bytes) -> Capture | None:
    if len(line) > limits.CDX_LINE_MAX_BYTES:
        return None
    prefix = _BEFORE_OBJECT.match(line)
    before = prefix[0] if prefix else b""
    try:
        fields = json.loads(line[len(before) :])
        url = parse_url(fields["url"])
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError, UrlInvalid):
        return None
    words = before.decode("ascii", "replace").split()
    return Capture(
        url=url,
        fetched_at=_moment(fields.get("timestamp") or (words[1] if len(words) == 2 else "")),
        status=_number(fields.get("status")),
        media_type=_text(fields.get("mime-detected") or fields.get("mime")),
    )


def _moment(value: Any) -> datetime | None:
    if not isinstance(value, str) or not _TIMESTAMP.fullmatch(value):
        return None
    try:
        return datetime.strptime(value, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None


def _number(value: Any) -> int | None:
    text = value if isinstance(value, str) else ""
    return int(text) if text.isascii() and text.isdigit() and len(text) == 3 else None


def _text(value: Any) -> str | None:
    return value.lower() if isinstance(value, str) else None
