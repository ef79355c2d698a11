"""Crawls through the tenant's proxies."""

import pytest

from spinneret.jobs.models import JobStatus
from spinneret.kernel.errors import FeatureDisabled, FetchTimeout, ProxyFailed, ValidationFailed
from spinneret.web import limits
from spinneret.web.politeness.models import Circuit
from spinneret.web.proxies.models import ProxyConfig, RotationStrategy
from spinneret.web.proxies.service import ConfigDraft, ServerDraft
from tests.fakes.crawling import CrawlWorld, long_page
from tests.fakes.fetching import fetched_page
from tests.fakes.proxies import Proxies

SITE = "https://site.example"
ROBOTS = f"{SITE}/robots.txt"
URL = f"{SITE}/page"


@pytest.fixture
def config(crawl: CrawlWorld) -> ProxyConfig:
    """Provide a config of two proxies, at ports 3001 and 3002, that are used round robin."""
    crawl.pages[URL] = fetched_page(URL, long_page("a"))
    return crawl.proxies.service.create("acme", draft(3001, 3002))


def draft(*ports: int, active: bool = True) -> ConfigDraft:
    return ConfigDraft(
        name="main",
        servers=tuple(ServerDraft(url=f"http://proxy.example:{port}") for port in ports),
        strategy=RotationStrategy.ROUND_ROBIN,
        is_active=active,
    )


def taken(crawl: CrawlWorld) -> list[int]:
    return [proxy.port for proxy in crawl.proxies.ways.taken]


def test_pages_come_by_the_proxies_by_round_robin_and_robots_txt_directly(
    crawl: CrawlWorld, config: ProxyConfig
) -> None:
    for _ in range(3):
        ref = crawl.submit(URL, force=True, proxy=config.id)
        assert crawl.settle(ref).status is JobStatus.COMPLETED
    assert taken(crawl) == [3001, 3002, 3001]
    assert {each.url.text for each in crawl.proxies.ways.requests} == {URL}


def test_a_failing_proxy_costs_an_attempt_and_the_next_one_is_taken(
    crawl: CrawlWorld, config: ProxyConfig
) -> None:
    crawl.proxies.ways.broken[3001] = ProxyFailed("no tunnel")
    job = crawl.settle(crawl.submit(URL, proxy=config.id))
    assert (job.status, job.attempts) == (JobStatus.COMPLETED, 1)
    assert taken(crawl) == [3001, 3002]
    assert crawl.proxies.service.get("acme", config.id).failures == (1, 0)


def test_nothing_that_a_proxy_says_is_held_against_the_host(
    crawl: CrawlWorld, config: ProxyConfig
) -> None:
    crawl.sleep = lambda _: None
    for number in range(limits.BREAKER_FAILURES):
        crawl.proxies.ways.broken[3001] = FetchTimeout("slow")
        url = f"{SITE}/{number}"
        crawl.pages[url] = fetched_page(url, status_code=503, headers={"retry-after": "900"})
        crawl.run(crawl.submit(url, proxy=config.id))
        crawl.clock.advance(10)
    assert crawl.hosts.pace.state("site.example").circuit is Circuit.CLOSED
    assert crawl.run(crawl.submit(URL, "another-tenant")).status is JobStatus.COMPLETED


def test_a_host_is_not_asked_faster_through_proxies(crawl: CrawlWorld, config: ProxyConfig) -> None:
    crawl.sleep = lambda _: None
    crawl.pages[ROBOTS] = fetched_page(ROBOTS, "User-agent: *\nCrawl-delay: 20")
    crawl.settle(crawl.submit(URL, proxy=config.id))
    job = crawl.run(crawl.submit(URL, force=True, proxy=config.id))
    assert job.status is JobStatus.PENDING
    assert 15 < (job.due_at - crawl.clock()).total_seconds() <= 20.01


@pytest.mark.parametrize("change", ["inactive", "without servers", "removed"])
def test_without_a_usable_proxy_pages_come_directly(
    crawl: CrawlWorld, config: ProxyConfig, change: str
) -> None:
    ref = crawl.submit(URL, proxy=config.id)
    service = crawl.proxies.service
    if change == "removed":
        service.remove("acme", config.id)
    else:
        ports = () if change == "without servers" else (3001,)
        service.replace("acme", config.id, draft(*ports, active=change != "inactive"))
    assert crawl.settle(ref).status is JobStatus.COMPLETED
    assert taken(crawl) == []


def test_a_crawl_by_a_proxy_is_another_crawl(crawl: CrawlWorld, config: ProxyConfig) -> None:
    direct, proxied = crawl.submit(URL), crawl.submit(URL, proxy=config.id)
    assert direct != proxied
    assert crawl.submit(URL, proxy=config.id) == proxied


def test_a_config_that_the_tenant_does_not_have_is_refused(
    crawl: CrawlWorld, config: ProxyConfig
) -> None:
    for tenant, config_id in (("acme", "proxy_unknown"), ("other", config.id)):
        with pytest.raises(ValidationFailed) as refused:
            crawl.submit(URL, tenant, proxy=config_id)
        assert [each["path"] for each in refused.value.details["fields"]] == ["proxy_config_id"]
    assert crawl.queue.sent == []


def test_where_proxies_are_switched_off_a_crawl_that_names_one_is_refused(
    crawl: CrawlWorld, config: ProxyConfig
) -> None:
    ref = crawl.submit(URL, proxy=config.id)
    crawl.proxies = Proxies(crawl.clock, crawl.pages, enabled=False)
    with pytest.raises(FeatureDisabled):
        crawl.submit(URL, proxy=config.id)
    job = crawl.run(ref)
    assert job.last_error is not None
    assert (job.status, job.last_error.code) == (JobStatus.FAILED, "FEATURE_DISABLED")
