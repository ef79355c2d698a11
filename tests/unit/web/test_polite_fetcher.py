"""The polite fetcher: pages and waits for all kinds of callers."""

import math
from dataclasses import replace
from datetime import timedelta

import pytest

from spinneret.kernel import bounds
from spinneret.kernel.errors import (
    CallerDeadlineExceeded,
    DependencyUnavailable,
    DomainBlocked,
    FetchFailed,
    FetchTimeout,
    RobotsDisallowed,
)
from spinneret.web import limits
from spinneret.web.fetching.models import FetchedPage, FetchRequest
from spinneret.web.fetching.urls import parse_url
from spinneret.web.models import Caller, FetchOptions, Purpose, WaitUntil
from spinneret.web.politeness.models import Circuit
from spinneret.web.politeness.robots_lease import BeingRead, RobotsLease
from spinneret.web.politeness.robots_policy import StoredRobots
from tests.fakes.fetching import fetched_page
from tests.fakes.polite_fetching import PoliteWorld
from tests.fakes.time import START

HOST = "https://site.example"
URL = f"{HOST}/page"
ROBOTS = f"{HOST}/robots.txt"
CRAWLER = Caller(tenant="acme", id="job_1/1")
CHECKER = Caller(tenant="acme", id="target_1", purpose=Purpose.CHECK)
LINK = Caller(tenant="acme", id="audit_1/1/link", purpose=Purpose.LINK)


def serve(world: PoliteWorld, *urls: str, robots: str = "") -> None:
    for url in urls or (URL,):
        world.pages[url] = fetched_page(url)
    world.pages[ROBOTS] = fetched_page(ROBOTS, robots, media_type="text/plain")


def exhaust(world: PoliteWorld, caller: Caller = CHECKER) -> None:
    """Use up the host's burst."""
    while isinstance(world.fetch(replace(caller, id="other"), URL), FetchedPage):
        pass
    world.hops.clear()


# ---------------------------------------------------------------- Waits


def test_a_caller_that_has_to_wait_asks_for_nothing_and_gets_a_reservation(
    world: PoliteWorld,
) -> None:
    serve(world)
    exhaust(world)
    wait = world.wait(CRAWLER, URL)
    assert world.hops == []
    assert (wait.until > world.clock(), wait.waiting_for) == (True, "site.example")
    page = world.page(world.come_back(CRAWLER, wait), URL)
    assert (page.status_code, page.url.text) == (200, URL)


def test_a_reservation_comes_before_newcomers(world: PoliteWorld) -> None:
    serve(world)
    exhaust(world)
    first, second = (replace(CHECKER, id=name) for name in ("first", "second"))
    reserved = world.wait(first, URL)
    later = world.wait(second, URL)
    assert later.until > reserved.until
    assert world.page(world.come_back(first, reserved), URL).status_code == 200
    assert world.wait(replace(CHECKER, id="newcomer"), URL).until > later.until


def test_a_wait_without_a_reservation_names_its_reason(world: PoliteWorld) -> None:
    serve(world)
    world.pages[ROBOTS] = fetched_page(ROBOTS, "", status_code=503)
    wait = world.wait(CRAWLER, URL)
    assert wait.waiting_for == "site.example: robots.txt"
    assert (wait.until - world.clock()).total_seconds() == limits.ROBOTS_DISALLOW_SECONDS


# ---------------------------------------------------------------- Reading robots.txt


def test_workers_that_begin_together_read_robots_txt_once(world: PoliteWorld) -> None:
    serve(world)
    waits: list[WaitUntil] = []

    def others_begin(url: str) -> None:
        if url == ROBOTS:
            waits.extend(world.wait(replace(CRAWLER, id=f"job_{n}/1"), URL) for n in range(2, 6))

    world.on_request = others_begin
    world.page(CRAWLER, URL)
    assert [wait.waiting_for for wait in waits] == ["site.example: robots.txt"] * 4
    for wait in waits:
        world.page(world.come_back(CRAWLER, wait), URL)
    assert world.hops.count(ROBOTS) == 1
    assert world.hops.count(URL) == 5


def test_a_short_reading_is_waited_for(world: PoliteWorld) -> None:
    serve(world)
    lease = world.leases.acquire(parse_url(URL))
    assert isinstance(lease, RobotsLease)

    def sleep(_: float) -> None:
        world.robots.keep(HOST, StoredRobots(check_at=START + timedelta(days=1), read_at=START))
        world.leases.release(lease)

    world.sleep = sleep
    world.page(CRAWLER, URL)
    assert world.hops == [URL]


def test_the_lease_of_a_reader_that_died_ends(world: PoliteWorld) -> None:
    serve(world)
    assert isinstance(world.leases.acquire(parse_url(URL)), RobotsLease)
    for _ in range(math.ceil(limits.ROBOTS_LEASE_SECONDS / limits.ROBOTS_RETRY_SECONDS)):
        wait = world.wait(CRAWLER, URL)
        assert world.hops == []
        world.come_back(CRAWLER, wait)
    world.page(CRAWLER, URL)
    assert world.hops == [ROBOTS, URL]


def test_a_lease_is_released_whatever_ends_the_reading(world: PoliteWorld) -> None:
    serve(world)

    def fail(_: str) -> None:
        raise DependencyUnavailable("dynamodb")

    world.on_request = fail
    with pytest.raises(DependencyUnavailable):
        world.fetch(CRAWLER, URL)
    world.on_request = lambda _: None
    world.page(CRAWLER, URL)
    assert world.hops == [ROBOTS, ROBOTS, URL]


def test_hosts_and_ports_are_read_apart_and_a_late_release_ends_no_other_lease(
    world: PoliteWorld,
) -> None:
    first = world.leases.acquire(parse_url(URL))
    for other in ("https://other.example/", "https://site.example:8443/"):
        assert isinstance(world.leases.acquire(parse_url(other)), RobotsLease)
    world.clock.advance(limits.ROBOTS_LEASE_SECONDS)
    second = world.leases.acquire(parse_url(URL))
    assert isinstance(first, RobotsLease)
    assert isinstance(second, RobotsLease)
    world.leases.release(first)
    assert isinstance(world.leases.acquire(parse_url(URL)), BeingRead)


def test_a_tenants_block_does_not_decide_for_others_what_a_robots_txt_allows(
    world: PoliteWorld,
) -> None:
    elsewhere = "https://other.example/robots.txt"
    world.pages[URL] = fetched_page(URL)
    world.pages[ROBOTS] = fetched_page(elsewhere, "User-agent: *\nDisallow: /", redirects=(ROBOTS,))
    world.hosts.service.block("globex", "other.example", "not ours")
    with pytest.raises(DomainBlocked):
        world.fetch(replace(CRAWLER, tenant="globex"), URL)
    with pytest.raises(RobotsDisallowed):
        world.fetch(CRAWLER, URL)


# ---------------------------------------------------------------- Effect of a response on its host


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 429, 451])
def test_a_4xx_is_no_failure_of_the_host(world: PoliteWorld, status: int) -> None:
    serve(world)
    world.pages[URL] = fetched_page(URL, status_code=status)
    for _ in range(2 * limits.BREAKER_FAILURES):
        assert world.page(CRAWLER, URL).status_code == status
        world.clock.advance(10)
    state = world.hosts.pace.state("site.example")
    assert (state.circuit, state.failures) == (Circuit.CLOSED, 0)


def test_5xx_and_time_outs_are_failures_of_the_host(world: PoliteWorld) -> None:
    serve(world)
    for number in range(limits.BREAKER_FAILURES):
        world.clock.advance(10)
        if number % 2:
            world.pages[URL] = FetchTimeout("slow")
            with pytest.raises(FetchTimeout):
                world.fetch(CRAWLER, URL)
        else:
            world.pages[URL] = fetched_page(URL, status_code=500)
            world.page(CRAWLER, URL)
    assert world.hosts.pace.state("site.example").circuit is Circuit.OPEN
    assert world.wait(CRAWLER, URL).waiting_for == "site.example: circuit_open"


def test_a_fetch_that_its_caller_has_cut_short_says_nothing_of_the_host(world: PoliteWorld) -> None:
    serve(world)
    world.pages[URL] = CallerDeadlineExceeded("slow")
    for _ in range(limits.BREAKER_FAILURES):
        world.clock.advance(10)
        with pytest.raises(CallerDeadlineExceeded):
            world.fetch(CRAWLER, URL)
    state = world.hosts.pace.state("site.example")
    assert (state.circuit, state.failures) == (Circuit.CLOSED, 0)


@pytest.mark.parametrize("given", [{"total_seconds": 9.0}, {"read_seconds": 0.1}])
def test_a_tenant_s_short_time_out_is_no_failure_of_the_host(
    world: PoliteWorld, given: dict[str, float]
) -> None:
    """Otherwise five crawls with a time-out of 100 ms could block any host for all tenants."""
    serve(world)
    world.pages[URL] = FetchTimeout("slow")
    for _ in range(limits.BREAKER_FAILURES):
        world.clock.advance(10)
        with pytest.raises(FetchTimeout):
            world.fetch(CRAWLER, URL, **given)  # type: ignore[arg-type]  # fields of the request
    state = world.hosts.pace.state("site.example")
    assert (state.circuit, state.failures) == (Circuit.CLOSED, 0)


def test_a_host_behind_a_slow_redirect_has_not_failed(world: PoliteWorld) -> None:
    serve(world)

    def send(request: FetchRequest) -> FetchedPage:
        world.clock.advance(25)
        assert request.before_redirect is not None
        request.before_redirect(parse_url("https://other.example/"))
        raise FetchTimeout("slow")

    for _ in range(limits.BREAKER_FAILURES):
        with pytest.raises(FetchTimeout):
            world.fetcher().fetch(CRAWLER, FetchRequest(url=parse_url(URL)), FetchOptions(), send)
    assert world.hosts.pace.state("other.example").failures == 0


# ---------------------------------------------------------------- Checks


def test_a_check_reads_no_robots_txt(world: PoliteWorld) -> None:
    serve(world, robots="User-agent: *\nDisallow: /\nCrawl-delay: 600")
    with pytest.raises(RobotsDisallowed):
        world.fetch(CRAWLER, URL)
    world.hops.clear()
    assert world.page(CHECKER, URL).status_code == 200
    assert world.page(CHECKER, URL).status_code == 200
    assert world.hops == [URL, URL]


@pytest.mark.parametrize("port", ["", ":8443"])
def test_a_check_passes_an_open_breaker_and_leaves_it_open(world: PoliteWorld, port: str) -> None:
    url = f"{HOST}{port}/page"
    world.pages[url] = fetched_page(url, status_code=500)
    for _ in range(limits.BREAKER_FAILURES):
        world.page(CRAWLER, url)
        world.clock.advance(10)
    unusual = 8443 if port else None
    assert world.hosts.pace.state("site.example", unusual).circuit is Circuit.OPEN
    world.pages[url] = fetched_page(url)
    assert world.page(CHECKER, url).status_code == 200
    assert world.hosts.pace.state("site.example", unusual).circuit is Circuit.OPEN
    assert world.wait(CRAWLER, url).waiting_for.endswith("circuit_open")


def test_looks_at_links_neither_obey_nor_change_the_breaker(world: PoliteWorld) -> None:
    serve(world)
    world.pages[URL] = FetchTimeout("slow")
    for number in range(limits.BREAKER_FAILURES + 1):
        world.clock.advance(2)
        with pytest.raises(FetchTimeout):
            world.fetch(replace(LINK, id=f"link-{number}"), URL)
    assert world.hosts.pace.state("site.example").circuit is Circuit.CLOSED
    for number in range(limits.BREAKER_FAILURES):
        world.clock.advance(2)
        with pytest.raises(FetchTimeout):
            world.fetch(replace(CRAWLER, id=f"crawl-{number}"), URL)
    assert world.hosts.pace.state("site.example").circuit is Circuit.OPEN
    with pytest.raises(FetchTimeout):
        world.fetch(LINK, URL)


def test_looks_at_links_obey_robots(world: PoliteWorld) -> None:
    serve(world, robots="User-agent: *\nDisallow: /page")
    with pytest.raises(RobotsDisallowed):
        world.fetch(LINK, URL)


@pytest.mark.parametrize(
    ("reason", "asked"),
    [("unknown_host", 1), ("dns", 1), ("tls", 1), ("connection", 2), ("protocol", 2)],
)
def test_a_host_without_name_or_tls_is_asked_once_for_a_link(
    world: PoliteWorld, reason: str, asked: int
) -> None:
    for url in (URL, ROBOTS):
        world.pages[url] = FetchFailed("no", details={"reason": reason})
    with pytest.raises(FetchFailed) as failed:
        world.fetch(LINK, URL)
    assert failed.value.details["reason"] == reason
    assert len(world.hops) == asked


def test_failing_checks_leave_the_breaker_of_crawlers_closed(world: PoliteWorld) -> None:
    serve(world)
    world.pages[URL] = fetched_page(URL, status_code=503)
    for _ in range(2 * limits.BREAKER_FAILURES):
        world.clock.advance(10)
        world.page(CHECKER, URL)
    state = world.hosts.pace.state("site.example")
    assert (state.circuit, state.failures) == (Circuit.CLOSED, 0)


@pytest.mark.parametrize("port", ["", ":8443"])
@pytest.mark.parametrize(
    ("first", "status", "crawls", "checks"),
    [
        (CRAWLER, 429, 120, 60),
        (CRAWLER, 503, 120, 60),
        (CHECKER, 429, 120, 60),
        (CHECKER, 503, 120, 0),
    ],
)
def test_a_pause_that_a_host_asks_for_holds_for_crawls_and_for_checks_a_minute(
    world: PoliteWorld, first: Caller, status: int, crawls: int, checks: int, port: str
) -> None:
    """A check has to see that a site is overloaded: its own 503 doesn't delay the next check."""
    serve(world)
    url = f"{HOST}{port}/page"
    world.pages[url] = fetched_page(url, status_code=status, headers={"retry-after": "120"})
    world.page(first, url)
    asked_at = world.clock()
    for _ in range(3):  # each call reserves a slot after the pause
        wait = world.wait(CRAWLER, url)
        assert (wait.until - asked_at).total_seconds() >= crawls - 2
    if checks:
        world.clock.advance(checks - 1)
        world.wait(CHECKER, url)
        world.clock.advance(2)
    assert world.page(CHECKER, url).status_code == status


def test_checks_keep_the_tenants_blocks_and_the_hosts_pace(world: PoliteWorld) -> None:
    serve(world)
    exhaust(world, CRAWLER)
    assert world.wait(CHECKER, URL).waiting_for == "site.example"
    world.hosts.service.block("acme", "site.example", "not ours")
    world.clock.advance(limits.SETTINGS_KNOWN_SECONDS)
    with pytest.raises(DomainBlocked):
        world.fetch(CHECKER, URL)


# ---------------------------------------------------------------- Options


# covers F-03
def test_a_caller_may_opt_out_of_robots_txt(world: PoliteWorld) -> None:
    serve(world, robots="User-agent: *\nDisallow: /")
    assert world.page(CRAWLER, URL, FetchOptions(obey_robots=False)).status_code == 200
    assert world.hops == [URL]


def permitted(world: PoliteWorld, options: FetchOptions, seconds: int) -> int:
    """Return the number of pages that a caller gets if it asks once a second."""
    pages = 0
    for _ in range(seconds):
        pages += isinstance(world.fetch(CHECKER, URL, options), FetchedPage)
        world.clock.advance(1)
    return pages


def test_a_rate_of_its_own_slows_a_caller_down(world: PoliteWorld) -> None:
    serve(world)
    slow = permitted(world, FetchOptions(requests_per_second=0.1), 100)
    assert bounds.DOMAIN_BURST <= slow <= bounds.DOMAIN_BURST + 10


def test_a_rate_above_the_hosts_has_no_effect(world: PoliteWorld) -> None:
    serve(world)
    exhaust(world)
    wait = world.wait(CHECKER, URL, FetchOptions(requests_per_second=1000))
    assert (wait.until - world.clock()).total_seconds() >= 1 / bounds.DOMAIN_RATE


@pytest.mark.parametrize("rate", [0, -1, float("inf"), float("nan")])
def test_an_impossible_rate_is_refused(rate: float) -> None:
    with pytest.raises(ValueError, match="rate"):
        FetchOptions(requests_per_second=rate)
