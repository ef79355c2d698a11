"""The site without sockets: a fetcher that calls it in process."""

from collections.abc import Callable
from typing import Final

from spinneret.content.extraction.models import Content, ExtractionStrategy
from spinneret.content.extraction.pages import extract
from spinneret.kernel.errors import ContentRefused, TooManyRedirects
from spinneret.web.fetching.models import FetchedPage, FetchRequest
from spinneret.web.fetching.urls import join_url
from tests.fakes.time import HandClock
from tests.traps.site import TrapSite

ORIGIN: Final = "https://site.example"


class SiteFetcher:
    """Implements Fetcher; calls `asked` with the name of every requested page."""

    def __init__(self, site: TrapSite, clock: HandClock, asked: Callable[[str], None]) -> None:
        self._site = site
        self._clock = clock
        self._asked = asked

    def fetch(self, request: FetchRequest) -> FetchedPage:
        """See Fetcher; a slow response advances the clock."""
        url, left = request.url, [each.text for each in request.left]
        while True:
            assert url.origin == ORIGIN, f"{url.text} is out of the site"
            self._asked(self._site.name_of(url.target))
            answer = self._site.answer(url.target)
            self._clock.advance(answer.seconds)
            to = answer.headers.get("Location")
            target = None if to is None else join_url(url, to)
            if target is None:
                break
            if len(left) >= request.max_redirects:
                raise TooManyRedirects("the site redirects on and on")
            left.append(url.text)
            if request.before_redirect is not None:
                request.before_redirect(target)
            url = target
        media_type = answer.headers["Content-Type"].partition(";")[0]
        if answer.status == 200 and request.media_types and media_type not in request.media_types:
            raise ContentRefused(f"the site answered {media_type}")
        body = answer.body if answer.status == 200 else b""
        if body and request.read_body is not None:
            request.read_body(url, iter([body]))
            body = b""
        return FetchedPage(
            requested=request.requested,
            url=url,
            status_code=answer.status,
            headers={name.lower(): text for name, text in answer.headers.items()},
            media_type=media_type,
            charset="utf-8",
            body=body,
            redirects=tuple(left),
            duration_ms=round(1000 * answer.seconds),
        )


_READ: Final[dict[tuple[str, str], Content]] = {}


def extract_once(
    text: str, media_type: str, url: str, strategy: ExtractionStrategy, *, targets: bool
) -> Content:
    """Extract a page with the product's extractor, once: pages are the same in all crawls here."""
    if (text, url) not in _READ:
        _READ[text, url] = extract(text, media_type, url, strategy, targets=targets)
    return _READ[text, url]
