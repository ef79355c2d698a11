"""Every field of a crawl config affects a crawl."""

# covers C-10

from itertools import pairwise
from typing import Any

import pytest

from spinneret.content.chunking.models import Chunking, ChunkingStrategy
from spinneret.content.extraction.pages import extract
from spinneret.crawl.configs.models import Config, ConfigOptions
from spinneret.crawl.configs.service import ConfigDraft
from spinneret.jobs.models import Job, JobStatus
from spinneret.kernel.errors import NotFound
from spinneret.web.fetching.models import FetchRequest
from spinneret.web.proxies.models import RotationStrategy
from spinneret.web.proxies.service import ConfigDraft as ProxyDraft
from spinneret.web.proxies.service import ServerDraft
from tests.fakes.crawling import CrawlWorld, long_page
from tests.fakes.fetching import FakeFetcher, fetched_page

SITE = "https://site.example"
URL = f"{SITE}/page"
ROBOTS = f"{SITE}/robots.txt"


def config(
    crawl: CrawlWorld,
    headers: dict[str, str] | None = None,
    *,
    is_default: bool = False,
    **options: Any,
) -> Config:
    name = f"config {len(crawl.configs.service.page('acme', None, 99).items)}"
    draft = ConfigDraft(
        name=name, options=ConfigOptions(**options), headers=headers, is_default=is_default
    )
    return crawl.configs.service.create("acme", draft)


def requested(crawl: CrawlWorld, **given: Any) -> FetchRequest:
    """Run a crawl of the page to its completion, and return its request for the page."""
    fetchers: list[FakeFetcher] = []

    def keep(_: str, port: object) -> object:
        if isinstance(port, FakeFetcher):
            fetchers.append(port)
        return port

    crawl.pages.setdefault(URL, fetched_page(URL, long_page("silk")))
    job = crawl.run(crawl.submit(URL, force=True, **given), keep)
    assert job.status is JobStatus.COMPLETED, job.last_error
    return next(each for each in fetchers[0].requests if each.url.text == URL)


def settled(crawl: CrawlWorld, body: str, **given: Any) -> Job:
    crawl.pages[URL] = fetched_page(URL, body)
    return crawl.settle(crawl.submit(URL, force=True, **given))


def test_page_timeout_ms_bounds_the_fetch(crawl: CrawlWorld) -> None:
    request = requested(crawl, config_id=config(crawl, page_timeout_ms=2500).id)
    assert (request.total_seconds, request.read_seconds) == (2.5, 2.5)


def test_max_page_size_mb_bounds_the_body(crawl: CrawlWorld) -> None:
    small = config(crawl, max_page_size_mb=1).id
    assert requested(crawl, config_id=small).max_bytes == 1024 * 1024
    job = settled(crawl, "a" * (1024 * 1024 + 1), config_id=small)
    assert job.last_error is not None
    assert job.last_error.code == "BODY_TOO_LARGE"


def test_max_redirects_bounds_the_redirects(crawl: CrawlWorld) -> None:
    assert requested(crawl, config_id=config(crawl, max_redirects=0).id).max_redirects == 0


def test_headers_are_sent_and_the_user_agent_is_the_config_s(crawl: CrawlWorld) -> None:
    made = config(crawl, {"Cookie": "a=1", "user-agent": "Spinneret/2 (acme)"})
    request = requested(crawl, config_id=made.id)
    assert request.headers == {"Cookie": "a=1"}
    assert request.user_agent == "Spinneret/2 (acme)"
    assert "a=1" not in repr(crawl.job(crawl.queue.sent[-1].ref).payload)
    plain = requested(crawl)
    assert (plain.headers, plain.user_agent) == ({}, None)


def test_respect_robots_txt_can_be_switched_off(crawl: CrawlWorld) -> None:
    crawl.pages[ROBOTS] = fetched_page(
        ROBOTS, "User-agent: *\nDisallow: /", media_type="text/plain"
    )
    assert settled(crawl, "Silk.").status is JobStatus.FAILED
    made = config(crawl, respect_robots_txt=False)
    assert settled(crawl, "Silk.", config_id=made.id).status is JobStatus.COMPLETED


def test_rate_limit_rps_slows_the_crawl_of_a_host(crawl: CrawlWorld) -> None:
    slow = config(crawl, rate_limit_rps=0.05).id
    crawl.sleep = lambda _: None
    crawl.pages[URL] = fetched_page(URL, "Silk.")
    jobs = [crawl.run(crawl.submit(URL, force=True, config_id=slow)) for _ in range(9)]
    waits = [(each.due_at - crawl.clock()).total_seconds() for each in jobs]
    waiting = sorted(wait for wait in waits if wait > 0)
    assert [later - earlier for earlier, later in pairwise(waiting)] == [20.0] * 4


def test_proxy_config_id_takes_the_pages_by_way_of_the_proxies(crawl: CrawlWorld) -> None:
    def proxy(port: int) -> str:
        server = ServerDraft(url=f"http://proxy.example:{port}")
        draft = ProxyDraft(
            name=str(port), servers=(server,), strategy=RotationStrategy.RANDOM, is_active=True
        )
        return crawl.proxies.service.create("acme", draft).id

    made = config(crawl, proxy_config_id=proxy(31))
    settled(crawl, "Silk.", config_id=made.id)
    settled(crawl, "Silk.", config_id=made.id, proxy=proxy(32))
    assert [each.port for each in crawl.proxies.ways.taken] == [31, 32]


def sentences(word: str) -> str:
    return " ".join(f"The {word} of part {number} holds {number} threads." for number in range(12))


PAGE = f"""<html><head><title>All about silk</title></head><body>
<nav><a href="/a">Menu of the site</a></nav>
<main><h1>Spiders and silk</h1><p>{sentences("silk")}</p>
<h2>Webs</h2><p>{sentences("web")}</p><ul><li>one point</li><li>another point</li></ul></main>
<footer><p>Imprint of the site</p></footer></body></html>"""


def shown(crawl: CrawlWorld, job: Job) -> Any:
    return crawl.crawls().get("acme", job.id)


def test_extraction_strategy_decides_what_of_a_page_is_its_content(crawl: CrawlWorld) -> None:
    crawl.extract = extract
    main = shown(crawl, settled(crawl, PAGE))
    assert "Imprint of the site" not in main.markdown
    assert main.blocks is None
    raw = config(crawl, extraction_strategy="raw").id
    whole = shown(crawl, settled(crawl, PAGE, config_id=raw))
    assert "Imprint of the site" in whole.markdown
    assert "Menu of the site" in whole.markdown


def test_keep_link_targets_decides_whether_markdown_holds_addresses(crawl: CrawlWorld) -> None:
    crawl.extract = extract
    linking = PAGE.replace("one point", '<a href="/orb">one point</a>')
    assert f"[one point]({SITE}/orb)" in shown(crawl, settled(crawl, linking)).markdown
    without = config(crawl, keep_link_targets=False).id
    view = shown(crawl, settled(crawl, linking, config_id=without))
    assert "one point" in view.markdown
    assert "/orb" not in view.markdown
    assert f"{SITE}/orb" in [link.url for link in view.links]


def test_a_structured_page_is_shown_and_cut_by_its_blocks(crawl: CrawlWorld) -> None:
    crawl.extract = extract
    structured = config(crawl, extraction_strategy="structured", min_chunk_size=1).id
    view = shown(crawl, settled(crawl, PAGE, config_id=structured))
    assert [each.type for each in view.blocks] == ["prose", "heading", "prose", "list"]
    [document] = crawl.documents.all("acme")
    assert document.chunking.strategy is ChunkingStrategy.BY_BLOCK
    assert document.chunk_count == 3


def test_chunking_strategy_cuts_at_headings(crawl: CrawlWorld) -> None:
    body = f"# One\n\n{long_page('a', 60)}\n\n# Two\n\n{long_page('b', 60)}"
    assert settled(crawl, body).result["chunks"] == 1  # type: ignore[index]  # completed
    by_heading = config(crawl, chunking_strategy=ChunkingStrategy.BY_HEADING).id
    job = settled(crawl, body, config_id=by_heading)
    assert job.result is not None
    assert (job.result["chunks"], job.result["unchanged"]) == (2, False)
    hits = crawl.search("a")
    assert sorted(hit.chunk.section for hit in hits) == ["One", "Two"]


@pytest.mark.parametrize(
    ("field", "value"), [("chunk_size", 100), ("chunk_overlap", 20), ("min_chunk_size", 30)]
)
def test_sizes_of_chunks_are_the_config_s(crawl: CrawlWorld, field: str, value: int) -> None:
    sizes = {"chunk_size": 120, "chunk_overlap": 10, "min_chunk_size": 20, field: value}
    settled(crawl, long_page("silk", 150), config_id=config(crawl, **sizes).id)
    [document] = crawl.documents.all("acme")
    assert document.chunking == Chunking(
        size=sizes["chunk_size"],
        overlap=sizes["chunk_overlap"],
        minimum=sizes["min_chunk_size"],
    )
    found = sorted((hit.chunk for hit in crawl.search("silk")), key=lambda c: c.index)
    counts = [len(chunk.text.split()) for chunk in found]
    assert max(counts) <= sizes["chunk_size"]
    assert min(counts) >= sizes["min_chunk_size"]
    shared = sum(counts) - 150
    assert sizes["chunk_overlap"] // 2 <= shared <= sizes["chunk_overlap"]


def test_a_crawl_goes_on_with_its_config_as_it_was_submitted(crawl: CrawlWorld) -> None:
    made = config(crawl, max_redirects=3)
    crawl.pages[URL] = fetched_page(URL, long_page("silk"))
    ref = crawl.submit(URL, config_id=made.id)
    changed = ConfigDraft(name="changed", options=ConfigOptions(max_redirects=9))
    crawl.configs.service.update("acme", made.id, changed)
    assert crawl.job(ref).payload["config"]["options"]["max_redirects"] == 3
    assert crawl.submit(URL, config_id=made.id) != ref


def test_a_crawl_by_another_config_is_another_crawl(crawl: CrawlWorld) -> None:
    one, two = config(crawl).id, config(crawl).id
    refs = [crawl.submit(URL, config_id=each) for each in (None, one, two)]
    assert len(set(refs)) == 3
    assert crawl.submit(URL, config_id=one) == refs[1]


def test_without_a_config_the_tenant_s_default_is_in_force(crawl: CrawlWorld) -> None:
    default = config(crawl, is_default=True, max_redirects=1)
    assert requested(crawl).max_redirects == 1
    ref = crawl.submit(URL)
    assert crawl.crawls().get("acme", ref.job_id).crawl_config_id == default.id
    assert crawl.submit(URL, config_id=default.id) == ref
    assert crawl.crawls().get("acme", crawl.submit(URL, "acme").job_id)
    assert "config" not in crawl.job(crawl.submit(URL, "globex")).payload


def test_a_config_that_the_tenant_does_not_have_is_unknown(crawl: CrawlWorld) -> None:
    made = config(crawl)
    for tenant, config_id in (("acme", "config_unknown"), ("globex", made.id)):
        with pytest.raises(NotFound):
            crawl.submit(URL, tenant, config_id=config_id)
    assert crawl.queue.sent == []


def test_a_page_that_was_kept_for_one_config_is_not_another_s(crawl: CrawlWorld) -> None:
    private = config(crawl, {"Cookie": "session=acme"})
    crawl.pages[URL] = fetched_page(URL, long_page("silk"), headers={"etag": '"1"'})
    crawl.run(crawl.submit(URL, config_id=private.id))
    assert requested(crawl).validators is None
    assert requested(crawl, config_id=private.id).validators is not None
