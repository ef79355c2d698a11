"""The trap site served on a socket equals the one that crawls use in process."""

from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.http import GuardedFetcher
from spinneret.web.fetching.models import FetchRequest
from spinneret.web.fetching.urls import parse_url
from tests.fakes.guarded_fetch import USER_AGENT, no_names
from tests.traps.oracle import sized, visited
from tests.traps.server import TrapServer

SITE = sized(50, 2026, is_long=False)
SPELT = (
    "/robots.txt",
    "/item?tab=1&PHPSESSID=3&id=2&lang=en",
    "/(S(7))/basket",
    "/basket;jsessionid=2",
)


def test_every_page_is_answered_as_the_site_says() -> None:
    asked = visited(SITE).asked
    with TrapServer(SITE) as server:
        pair = server.url.split("/")[2]
        fetcher = GuardedFetcher(AddressPolicy(frozenset({pair})), no_names, user_agent=USER_AGENT)
        for target in sorted({*asked, *SPELT}):
            url = parse_url(server.url.rstrip("/") + target)
            page = fetcher.fetch(FetchRequest(url=url, follow_redirects=False))
            expected = SITE.answer(target)
            assert page.status_code == expected.status, target
            assert page.headers.get("location") == expected.headers.get("Location"), target
            assert page.body == (expected.body if expected.status == 200 else b""), target
    for target in SPELT:
        assert SITE.name_of(target) in {*asked, "/robots.txt"}
    assert set(server.requests) == asked
    assert server.requests["/basket"] == 3
