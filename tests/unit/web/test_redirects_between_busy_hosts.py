"""A fetch that has to wait after a redirect resumes there."""

from collections import Counter
from dataclasses import replace

import pytest

from spinneret.kernel.errors import FetchTimeout
from spinneret.web import limits
from spinneret.web.fetching.models import FetchedPage
from spinneret.web.models import Caller, Purpose, WaitUntil
from tests.fakes.fetching import fetched_page
from tests.fakes.polite_fetching import PoliteWorld

ONE, OTHER = "https://one.example", "https://other.example"
CRAWLER = Caller(tenant="acme", id="job_1/1")
HOUR = 3600.0
QUEUE = 6


class Crowd:
    """Other callers: at each host QUEUE of them wait; new ones replace those that were served."""

    def __init__(self, world: PoliteWorld, *hosts: str) -> None:
        self._world = world
        self._urls = [f"{host}/others" for host in hosts]
        self._waiting: list[tuple[Caller, str, WaitUntil]] = []
        self._number = 0
        for url in self._urls:
            world.pages[url] = fetched_page(url)

    def act(self) -> None:
        """Let the callers that are due ask again, and refill the queues with new callers."""
        due = [each for each in self._waiting if each[2].until <= self._world.clock()]
        self._waiting = [each for each in self._waiting if each not in due]
        for caller, url, wait in due:
            self._ask(replace(caller, reservation=wait.waiting_for), url)
        for url in self._urls:
            while sum(each[1] == url for each in self._waiting) < QUEUE:
                self._number += 1
                self._ask(Caller(tenant="x", id=f"{self._number}", purpose=Purpose.CHECK), url)

    def _ask(self, caller: Caller, url: str) -> None:
        hops = len(self._world.hops)
        answer = self._world.fetch(caller, url)
        del self._world.hops[hops:]
        if isinstance(answer, WaitUntil):
            self._waiting.append((caller, url, answer))


def settled(world: PoliteWorld, crowd: Crowd, caller: Caller, url: str) -> FetchedPage:
    """Return the page; the caller retries as often as it must, for up to an hour."""
    end = world.clock().timestamp() + HOUR
    while world.clock().timestamp() < end:
        answer = world.fetch(caller, url)
        if isinstance(answer, FetchedPage):
            return answer
        while world.clock() < answer.until:
            crowd.act()
            world.clock.advance(1)
        caller = replace(caller, reservation=answer.waiting_for)
    raise AssertionError(f"not fetched within an hour: {Counter(world.hops)}")


def chain(world: PoliteWorld, hops: int) -> list[str]:
    """Serve a page behind redirects that alternate between two hosts; return their URLs."""
    urls = [f"{(ONE, OTHER)[number % 2]}/{number}" for number in range(hops)]
    world.pages[urls[0]] = fetched_page(urls[-1], redirects=tuple(urls[:-1]))
    return urls


@pytest.mark.parametrize("hops", [2, 5, 9])
def test_a_page_behind_redirects_between_busy_hosts_is_fetched_and_no_hop_more_than_twice(
    world: PoliteWorld, hops: int
) -> None:
    urls = chain(world, hops)
    crowd = Crowd(world, ONE, OTHER)
    for _ in range(30):
        crowd.act()
        world.clock.advance(1)
    page = settled(world, crowd, CRAWLER, urls[0])
    assert (page.requested.text, page.url.text) == (urls[0], urls[-1])
    assert page.redirects == tuple(urls[:-1])
    fetched = Counter(world.hops)
    assert {url: fetched[url] for url in urls} == dict.fromkeys(urls, 1)
    assert max(fetched.values()) <= 2
    assert world.progress.kept == {}


def test_a_robots_txt_behind_a_redirect_between_busy_hosts_is_fetched_too(
    world: PoliteWorld,
) -> None:
    world.pages[f"{ONE}/page"] = fetched_page(f"{ONE}/page")
    robots = f"{ONE}/robots.txt"
    world.pages[robots] = fetched_page(f"{OTHER}/robots.txt", "", redirects=(robots,))
    crowd = Crowd(world, ONE, OTHER)
    for _ in range(30):
        crowd.act()
        world.clock.advance(1)
    assert settled(world, crowd, CRAWLER, f"{ONE}/page").status_code == 200
    assert max(Counter(world.hops).values()) <= 2


def waiting_behind(world: PoliteWorld) -> tuple[Caller, str]:
    """Return a caller whose wait at the second of two hosts has just ended, and its URL."""
    url = chain(world, 2)[0]
    world.pages[f"{OTHER}/x"] = fetched_page(f"{OTHER}/x")
    busy = Caller(tenant="x", id="busy", purpose=Purpose.CHECK)
    while isinstance(world.fetch(busy, f"{OTHER}/x"), FetchedPage):
        pass
    caller = world.come_back(CRAWLER, world.wait(CRAWLER, url))
    world.hops.clear()
    return caller, url


def test_a_try_that_fails_begins_anew(world: PoliteWorld) -> None:
    caller, url = waiting_behind(world)
    last = f"{OTHER}/1"
    world.pages[last] = FetchTimeout("slow")
    with pytest.raises(FetchTimeout):
        world.fetch(caller, url)
    assert world.hops == [f"{OTHER}/robots.txt", last]
    del world.pages[last]
    world.clock.advance(60)
    assert world.page(CRAWLER, url).url.text == last
    assert world.hops.count(url) == 1


def test_another_fetch_of_the_caller_begins_at_its_own_url(world: PoliteWorld) -> None:
    caller, _ = waiting_behind(world)
    world.pages[f"{ONE}/else"] = fetched_page(f"{ONE}/else")
    assert world.page(caller, f"{ONE}/else").redirects == ()


def test_progress_that_is_too_old_is_not_used(world: PoliteWorld) -> None:
    caller, url = waiting_behind(world)
    world.clock.advance(limits.REDIRECTS_KEPT_SECONDS)
    assert world.page(caller, url).status_code == 200
    assert url in world.hops


def test_a_page_is_not_lost_because_its_progress_can_not_be_dropped(world: PoliteWorld) -> None:
    caller, url = waiting_behind(world)
    kept = dict(world.progress.kept)

    def fail(*_: object) -> None:
        world.progress.available = False
        world.progress._require()

    world.progress.drop = fail  # type: ignore[method-assign]  # an outage of this call alone
    assert world.page(caller, url).status_code == 200
    assert world.progress.kept == kept
