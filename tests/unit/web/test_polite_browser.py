"""Pages that the browser renders under their hosts' rules."""

from collections.abc import Callable
from typing import Any

import pytest

from spinneret.kernel.errors import DomainBlocked, RobotsDisallowed, ScriptError
from spinneret.web.browser.models import Dom, RenderRequest
from spinneret.web.fetching.urls import Url, parse_url
from spinneret.web.models import Caller, FetchOptions, WaitUntil
from spinneret.web.polite_browser import PoliteBrowser, Rendered
from tests.fakes.browser import FakeBrowser, Rendering
from tests.fakes.fetching import fetched_page
from tests.fakes.polite_fetching import PoliteWorld

SITE, OTHER = "https://site.example", "https://other.example"
URL = f"{SITE}/page"
CALLER = Caller(tenant="acme", id="job_1/1")


class RenderWorld:
    """A polite browser with a PoliteWorld, and the pages that it opened."""

    def __init__(self, world: PoliteWorld) -> None:
        self.world = world
        self.browser = FakeBrowser({})
        for site in (SITE, OTHER):
            self.robots(site, "")

    def robots(self, site: str, text: str) -> None:
        url = f"{site}/robots.txt"
        self.world.pages[url] = fetched_page(url, text, media_type="text/plain")

    def serve(self, url: str, page: Any) -> None:
        self.browser.pages[parse_url(url).text] = page

    def render(
        self,
        caller: Caller = CALLER,
        options: FetchOptions | None = None,
        before_redirect: Callable[[Url], None] | None = None,
    ) -> Rendered | WaitUntil:
        """Render the page once, in a new process."""
        polite = PoliteBrowser(fetcher=self.world.fetcher(), browser=self.browser)
        request = RenderRequest(url=parse_url(URL), task=Dom())
        return polite.render(caller, request, options or FetchOptions(), before_redirect)

    @property
    def opened(self) -> list[str]:
        return [each.url.text for each in self.browser.requests]


@pytest.fixture
def site(world: PoliteWorld) -> RenderWorld:
    return RenderWorld(world)


# covers C-11
def test_a_page_is_opened_with_any_status(site: RenderWorld) -> None:
    site.serve(URL, Rendering(dom="<p>Gone.", status_code=404))
    found = site.render()
    assert isinstance(found, Rendered)
    assert (found.output.body, found.page.body) == (b"<p>Gone.", b"<p>Gone.")
    assert (found.page.status_code, found.page.url.text, found.page.redirects) == (404, URL, ())


def test_a_page_that_robots_txt_forbids_is_not_opened(site: RenderWorld) -> None:
    site.robots(SITE, "User-agent: *\nDisallow: /page")
    with pytest.raises(RobotsDisallowed):
        site.render()
    assert site.opened == []
    site.serve(URL, Rendering())
    assert isinstance(site.render(options=FetchOptions(obey_robots=False)), Rendered)


def test_a_redirect_to_a_page_that_robots_txt_forbids_ends_it(site: RenderWorld) -> None:
    site.serve(URL, Rendering(redirects=(f"{OTHER}/page",)))
    site.robots(OTHER, "User-agent: *\nDisallow: /")
    with pytest.raises(RobotsDisallowed):
        site.render()


def test_a_redirect_to_a_host_that_the_tenant_blocks_ends_it(site: RenderWorld) -> None:
    site.serve(URL, Rendering(redirects=(f"{OTHER}/page",)))
    site.world.hosts.service.block("acme", "other.example", "not ours")
    with pytest.raises(DomainBlocked):
        site.render()


def test_redirects_are_listed_and_the_caller_may_refuse_them(site: RenderWorld) -> None:
    site.serve(URL, Rendering(redirects=(f"{SITE}/next", f"{OTHER}/page")))
    followed: list[str] = []
    found = site.render(before_redirect=lambda url: followed.append(url.text))
    assert isinstance(found, Rendered)
    assert followed == [f"{SITE}/next", f"{OTHER}/page"]
    assert found.page.redirects == (URL, f"{SITE}/next")
    assert (found.page.requested.text, found.page.url.text) == (URL, f"{OTHER}/page")


def test_a_page_waits_for_its_host_and_uses_its_reservation(site: RenderWorld) -> None:
    site.serve(URL, Rendering())
    while not isinstance(wait := site.render(), WaitUntil):
        pass
    count = len(site.opened)
    assert isinstance(site.render(site.world.come_back(CALLER, wait)), Rendered)
    assert len(site.opened) == count + 1


def test_a_page_that_waits_after_a_redirect_continues_there(site: RenderWorld) -> None:
    site.serve(URL, Rendering(redirects=(f"{OTHER}/page",)))
    site.serve(f"{OTHER}/page", Rendering(dom="<p>There."))
    other = Caller(tenant="acme", id="other")
    while not isinstance(site.world.fetch(other, f"{OTHER}/robots.txt"), WaitUntil):
        pass  # uses up the burst
    wait = site.render()
    assert isinstance(wait, WaitUntil)
    found = site.render(site.world.come_back(CALLER, wait))
    assert isinstance(found, Rendered)
    assert site.opened == [URL, f"{OTHER}/page"]
    assert (found.page.requested.text, found.page.redirects) == (URL, (URL,))


def test_retry_after_stops_the_next_page(site: RenderWorld) -> None:
    site.serve(URL, Rendering(status_code=503, headers={"retry-after": "60"}))
    assert isinstance(site.render(), Rendered)
    assert isinstance(site.render(), WaitUntil)


def test_a_fault_of_the_page_is_none_of_its_host(site: RenderWorld) -> None:
    site.serve(URL, ScriptError("the element has no size"))
    for _ in range(6):
        with pytest.raises(ScriptError):
            site.render()
        site.world.clock.advance(5)
    site.serve(URL, Rendering())
    assert isinstance(site.render(), Rendered)
