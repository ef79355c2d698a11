"""A fetcher that answers from a table."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from spinneret.kernel.errors import BodyTooLarge, ContentRefused, DomainError
from spinneret.web.fetching.models import FetchedPage, FetchRequest
from spinneret.web.fetching.urls import parse_url

_PIECE: Final = 64 * 1024


class FakeFetcher:
    """Implements `Fetcher`: answers from a table, and keeps its requests.

    A URL without a page raises KeyError; a missing robots.txt answers 404, because sites needn't
    have one. Media types and sizes are checked as by the real fetcher, except the size of a body
    that the caller reads in pieces. A fetch may begin at each URL of a page's redirects.
    """

    def __init__(self, pages: Mapping[str, FetchedPage | DomainError]) -> None:
        self._pages = {parse_url(url).text: answer for url, answer in pages.items()}
        for answer in pages.values():
            if isinstance(answer, FetchedPage) and answer.redirects:
                for url in (*answer.redirects, answer.url.text):
                    self._pages.setdefault(parse_url(url).text, answer)
        self.requests: list[FetchRequest] = []
        self.hops: list[str] = []
        """Every requested URL, including redirects."""
        self.on_request: Callable[[str], None] = lambda _: None
        """Called with each URL before its answer."""

    def fetch(self, request: FetchRequest) -> FetchedPage:
        """Return the page of the URL, or raise the error that is set for it."""
        self.requests.append(request)
        url = request.url
        self.hops.append(url.text)
        self.on_request(url.text)
        if request.left_seconds is not None:
            request.left_seconds()
        if url.text.endswith("/robots.txt") and url.text not in self._pages:
            return fetched_page(url.text, b"", status_code=404)
        answer = self._pages[url.text]
        if isinstance(answer, DomainError):
            raise answer
        chain = [parse_url(each) for each in (*answer.redirects, answer.url.text)]
        at = chain.index(url) if url in chain else len(chain) - 1
        for target in chain[at + 1 :]:
            if request.before_redirect is not None:
                request.before_redirect(target)
            self.hops.append(target.text)
        if request.validators is not None and request.validators == answer.validators:
            answer = replace(answer, status_code=304, media_type="", body=b"")
        success = 200 <= answer.status_code < 300
        if success and request.media_types and answer.media_type not in request.media_types:
            raise ContentRefused(f"the host answered {answer.media_type}")
        if len(answer.body) > request.max_bytes and request.read_body is None:
            raise BodyTooLarge(f"the body is larger than {request.max_bytes} bytes")
        if success and request.read_body is not None and answer.body:
            request.read_body(answer.url, _pieces(answer.body))
            answer = replace(answer, body=b"")
        left = (*request.left, *chain[at:-1])
        redirects = tuple(each.text for each in left)
        return replace(answer, requested=request.requested, redirects=redirects)


def _pieces(body: bytes) -> Iterator[bytes]:
    """Return the body in pieces, as it would arrive."""
    return (body[start : start + _PIECE] for start in range(0, len(body), _PIECE))


def fetched_page(
    url: str,
    body: bytes | str = b"<!doctype html><title>A page</title><p>Text.",
    *,
    status_code: int = 200,
    media_type: str = "text/html",
    charset: str | None = "utf-8",
    headers: Mapping[str, str] | None = None,
    redirects: tuple[str, ...] = (),
) -> FetchedPage:
    """Return a page with defaults for everything that a test doesn't specify."""
    return FetchedPage(
        requested=parse_url(redirects[0] if redirects else url),
        url=parse_url(url),
        status_code=status_code,
        headers=dict(headers or {}),
        media_type=media_type,
        charset=charset,
        body=body.encode() if isinstance(body, str) else body,
        redirects=redirects,
        duration_ms=1,
    )
