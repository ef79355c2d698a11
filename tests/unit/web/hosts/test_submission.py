"""Submissions to hosts that a tenant has blocked, or whose breaker is open."""

import pytest

from spinneret.crawl.models import CrawlRequest
from spinneret.kernel.errors import (
    CircuitOpen,
    DependencyUnavailable,
    DomainBlocked,
    IdempotencyMismatch,
    ValidationFailed,
)
from spinneret.web.politeness.models import HostOutcome, PaceLimits, Permit
from tests import factories
from tests.fakes.crawling import CrawlWorld

TENANT = factories.TENANT
SITE, OTHER = "https://www.site.example/page", "https://other.example/page"


@pytest.fixture
def crawl() -> CrawlWorld:
    return CrawlWorld()


def block(crawl: CrawlWorld) -> None:
    crawl.hosts.service.block(TENANT, "site.example", "asked us to")


def open_breaker(crawl: CrawlWorld) -> None:
    for number in range(5):
        admitted = crawl.hosts.pace.admit(
            "site.example", owner=f"job-{number}", limits=PaceLimits()
        )
        assert isinstance(admitted, Permit)
        crawl.hosts.pace.report(admitted, HostOutcome.HOST_FAILURE)


# covers F-09
def test_a_blocked_domain_is_refused(crawl: CrawlWorld) -> None:
    block(crawl)
    with pytest.raises(DomainBlocked) as refusal:
        crawl.submit(SITE)
    assert refusal.value.details == {"domain": "site.example", "reason": "asked us to"}
    assert crawl.queue.sent == []
    crawl.submit(SITE, "another")
    crawl.submit(OTHER)


def test_force_passes_neither_block_nor_breaker(crawl: CrawlWorld) -> None:
    open_breaker(crawl)
    with pytest.raises(CircuitOpen):
        crawl.submit(SITE, force=True)
    block(crawl)
    with pytest.raises(DomainBlocked):
        crawl.submit(SITE, force=True)


def test_an_open_breaker_refuses_and_says_when_to_come_back(crawl: CrawlWorld) -> None:
    open_breaker(crawl)
    with pytest.raises(CircuitOpen) as refusal:
        crawl.submit(SITE)
    assert refusal.value.retry_after == 300
    crawl.clock.advance(300)
    crawl.submit(SITE)


@pytest.mark.parametrize(
    ("refuse", "code"), [(block, "DOMAIN_BLOCKED"), (open_breaker, "CIRCUIT_OPEN")]
)
def test_among_several_urls_each_has_its_own_outcome(
    crawl: CrawlWorld, refuse: object, code: str
) -> None:
    refuse(crawl)  # type: ignore[operator]  # one of the functions above
    request = CrawlRequest(urls=(SITE, OTHER, "https://site.example/b", "ftp://x/"))
    body = crawl.crawls().submit(TENANT, request, None).reply.body
    assert (body["total_submitted"], body["failed_count"]) == (1, 3)
    codes = [job["error"]["code"] if job["error"] else None for job in body["jobs"]]
    assert codes == [code, None, code, "URL_INVALID"]


def test_a_request_of_blocked_urls_only_is_refused_whole(crawl: CrawlWorld) -> None:
    block(crawl)
    with pytest.raises(ValidationFailed) as refusal:
        crawl.crawls().submit(TENANT, CrawlRequest(urls=(SITE, "ftp://x/")), None)
    codes = [each["code"] for each in refusal.value.details["fields"]]
    assert codes == ["DOMAIN_BLOCKED", "URL_INVALID"]


def test_a_host_is_looked_up_once_per_request(crawl: CrawlWorld) -> None:
    urls = tuple(f"https://site.example/{number}" for number in range(20))
    crawl.crawls().submit(TENANT, CrawlRequest(urls=urls), None)
    assert crawl.hosts.store.finds == 1


@pytest.mark.parametrize("refuse", [block, open_breaker])
@pytest.mark.parametrize("urls", [{"url": SITE}, {"urls": (SITE, OTHER)}, {"urls": (SITE,)}])
def test_a_key_brings_its_first_answer_whatever_became_of_the_host(
    crawl: CrawlWorld, refuse: object, urls: dict[str, object]
) -> None:
    request, key = CrawlRequest.model_validate(urls), factories.request_key()
    first = crawl.crawls().submit(TENANT, request, key)
    refuse(crawl)  # type: ignore[operator]  # one of the functions above
    again = crawl.crawls().submit(TENANT, request, key)
    assert (again.reply, again.replayed) == (first.reply, True)
    with pytest.raises(IdempotencyMismatch):
        crawl.crawls().submit(TENANT, request, factories.request_key(payload="another"))


def test_a_refusal_does_not_use_a_key_up(crawl: CrawlWorld) -> None:
    key = factories.request_key()
    block(crawl)
    with pytest.raises(DomainBlocked):
        crawl.submit(SITE, key=key)
    crawl.hosts.service.unblock(TENANT, "site.example")
    crawl.submit(SITE, key=key)


def test_an_outage_refuses_the_request_and_not_its_urls(crawl: CrawlWorld) -> None:
    crawl.hosts.store.available = False
    with pytest.raises(DependencyUnavailable):
        crawl.crawls().submit(TENANT, CrawlRequest(urls=(SITE, OTHER)), None)
