"""The marketplaces behind a fetcher, in this process; the test chooses what fails."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import parse_qs, urlsplit

from spinneret.kernel.errors import FetchTimeout
from spinneret.web.fetching.models import FetchedPage, FetchRequest
from tests.fakes.fetching import fetched_page


@dataclass(frozen=True)
class RecordedRequest:
    """A request that a marketplace got; header names in lower case."""

    method: str
    path: str
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """Return the parsed body."""
        return json.loads(self.body)

    @property
    def form(self) -> dict[str, list[str]]:
        """Return the fields of a form."""
        return parse_qs(self.body.decode(), keep_blank_values=True)


@dataclass(frozen=True)
class StubResponse:
    """A response of a marketplace."""

    status: int
    data: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    """Body that replaces `data`."""

    @property
    def body(self) -> bytes:
        """Return the body as bytes."""
        if self.raw is not None:
            return self.raw
        return b"" if self.data is None else json.dumps(self.data).encode()


class Market(Protocol):
    """The server of one marketplace."""

    def serve(self, seen: RecordedRequest) -> StubResponse: ...


class FakeWeb:
    """Implements Fetcher: sends every request to the market that serves its path.

    `around` wraps each call of a market; an exception that it raises ends the process or the call,
    as a test wants.
    """

    def __init__(self, markets: Mapping[str, Market]) -> None:
        self._markets = markets
        """Markets by the prefix of the paths that they serve."""
        self.record: Callable[[RecordedRequest], None] = lambda _: None
        self.seen: list[RecordedRequest] = []
        self.origins: list[str] = []
        self.lost: set[int] = set()
        """Numbers of requests, from 1, whose responses are lost."""
        self.instead: dict[int, StubResponse] = {}
        """Number of a request → response of a gateway, which doesn't forward the request."""
        self.around: Callable[[str, Callable[[], StubResponse]], StubResponse] = lambda _, serve: (
            serve()
        )
        self.images: dict[str, bytes] = {}

    def fetch(self, request: FetchRequest) -> FetchedPage:
        if request.url.text in self.images:
            body = self.images[request.url.text]
            return fetched_page(request.url.text, body, media_type="image/jpeg")
        parts = urlsplit(request.url.text)
        seen = RecordedRequest(
            method=request.method,
            path=parts.path,
            query=parse_qs(parts.query),
            headers={name.lower(): value for name, value in request.headers.items()},
            body=request.body or b"",
        )
        self.seen.append(seen)
        self.record(seen)
        self.origins.append(f"{parts.scheme}://{parts.netloc}")
        number = len(self.seen)
        if number in self.instead:
            said = self.instead[number]
        else:
            name = f"{seen.method} {seen.path}"
            said = self.around(name, lambda: self._market(seen.path).serve(seen))
        if number in self.lost:
            raise FetchTimeout("the marketplace did not answer in time")
        page = fetched_page(request.url.text, said.body, status_code=said.status)
        headers = {name.lower(): value for name, value in said.headers.items()}
        return FetchedPage(
            requested=page.requested,
            url=page.url,
            status_code=said.status,
            headers=headers,
            media_type="application/json",
            charset=None,
            body=said.body,
            redirects=(),
            duration_ms=1,
        )

    def _market(self, path: str) -> Market:
        return next(market for start, market in self._markets.items() if path.startswith(start))
