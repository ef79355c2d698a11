"""DynamoDB items of the frontier."""

from datetime import timedelta

from spinneret.kernel import bounds
from spinneret.kernel.clock import epoch_seconds
from spinneret.web.exploring.frontier.items import link_items, links_of_items, page_item, purge_at
from spinneret.web.exploring.frontier.keys import key_of
from spinneret.web.exploring.frontier.models import (
    Crawl,
    CrawlRef,
    FrontierPage,
    LinkCandidate,
    PageState,
    Plan,
)
from tests.fakes.time import START

CRAWL = Crawl(ref=CrawlRef("acme", "job_1"), plan=Plan(), roots=(), begun_at=START)
PAGE = FrontierPage(
    key=key_of("a"),
    url="https://site.example/",
    host="site.example",
    depth=0,
    state=PageState.WAITING,
    rank="1",
    discovered_at=START,
)
DAY = 24 * 3600


def test_links_keep_their_order_whatever_the_order_of_their_chunks() -> None:
    links = tuple(
        LinkCandidate(key_of(str(n)), f"https://a.example/{n}", "a.example") for n in range(9)
    )
    parts = [links[:4], links[4:8], links[8:]]
    found = []
    for number, part in enumerate(parts):
        [item] = link_items(CRAWL, PAGE, part)
        found.append({**item, "sk": f"{item['sk'][:-4]}{number:04}"})
    assert links_of_items(found[::-1]) == links


def test_a_chunk_is_below_the_size_of_an_item_before_it_is_packed() -> None:
    url = f"https://a.example/{'ü' * 600}"
    links = [LinkCandidate(key_of(str(n)), url, "a.example") for n in range(500)]
    items = link_items(CRAWL, PAGE, links)
    assert len(items) > 1
    assert links_of_items(items) == tuple(links)


def test_rows_outlive_a_crawl_by_thirty_days_at_least() -> None:
    lasting = timedelta(seconds=bounds.FRONTIER_SECONDS)
    assert page_item(CRAWL, PAGE)["purge_at"] == epoch_seconds(START + lasting) + 30 * DAY
    ended = Crawl(ref=CRAWL.ref, plan=Plan(), roots=(), begun_at=START, ended_at=START)
    assert purge_at(ended) == epoch_seconds(START) + 30 * DAY
