"""Runs of sources over real crawls: the outcomes of their pages."""

import itertools

import pytest

from spinneret.crawl.configs.models import ConfigOptions
from spinneret.crawl.configs.service import ConfigDraft
from spinneret.jobs.models import JobRef, Transition
from spinneret.sources.models import PageOutcome, Run, RunStage, Source
from spinneret.sources.ports import DiscoveryProgress
from spinneret.sources.running import SourceRuns
from spinneret.sources.service import SourceDraft, SourceService
from spinneret.sources.source_adapters import SourceCrawls
from spinneret.web.fetching.addresses import AddressPolicy
from tests.fakes.crawling import long_page
from tests.fakes.deep_crawling import DeepCrawlWorld
from tests.fakes.fetching import fetched_page
from tests.fakes.sources import FakeDiscoveries, FakeSourceStore, FakeSourceWebhooks

SITE = "https://site.example"


class World:
    """Sources whose crawls use fakes."""

    def __init__(self) -> None:
        self.crawl = DeepCrawlWorld({})
        self.store = FakeSourceStore()
        self.discoveries = FakeDiscoveries()
        numbers = itertools.count(1)
        self.runs = SourceRuns(
            store=self.store,
            crawls=SourceCrawls(self.crawl.crawls(), self.crawl.deep()),
            discoveries=self.discoveries,
            webhooks=FakeSourceWebhooks(),
            relay_events=lambda _tenant, _subject: None,
            clock=self.crawl.clock,
            new_id=lambda prefix: f"{prefix}_{next(numbers):04}",
        )
        self.service = SourceService(
            store=self.store,
            source_runs=self.runs,
            policy=AddressPolicy(),
            webhooks=FakeSourceWebhooks(),
            clock=self.crawl.clock,
            new_id=lambda prefix: f"{prefix}_{next(numbers):04}",
        )

    def source(self, url_pattern: str, **given: str) -> Source:
        return self.service.create("acme", self.draft(url_pattern, **given))

    def draft(self, url_pattern: str, **given: str) -> SourceDraft:
        return SourceDraft(
            name="one",
            url_pattern=url_pattern,
            crawl_config_id=given.get("config"),
            collection_id=given.get("collection"),
            schedule_cron=None,
            timezone="UTC",
            is_active=True,
        )

    def serve(self, **pages: str | int) -> list[str]:
        for name, body in pages.items():
            url = f"{SITE}/{name}"
            status = body if isinstance(body, int) else 200
            text = "" if isinstance(body, int) else long_page(body, 40)
            self.crawl.pages[url] = fetched_page(url, text, status_code=status)
        return [f"{SITE}/{name}" for name in pages]

    def ran(self, source: Source, *found: str) -> Run:
        """Trigger a run and return it when it has ended; `found` are the pages of a pattern."""
        run, _ = self.service.trigger("acme", source.id)
        if found:
            self.discoveries.found[run.id] = DiscoveryProgress(urls=found, error=None)
            self.runs.look(self.service.get("acme", source.id))
        run = self.store.runs("acme", source.id, None, 1).items[0]
        if run.deep_crawl_id is not None:
            self.crawl.deliver()
            self.crawl.execute()
            self.runs.look(self.service.get("acme", source.id))
            run = self.store.runs("acme", source.id, None, 1).items[0]
        if run.batch_id is not None:
            self.crawl.settle(JobRef(tenant="acme", job_id=run.batch_id))
            self.runs.look(self.service.get("acme", source.id))
        return self.store.runs("acme", source.id, None, 1).items[0]

    def outcomes(self, run: Run) -> dict[str, str]:
        pages = self.store.pages("acme", run.id)
        return {page.url.removeprefix(f"{SITE}/"): page.outcome.value for page in pages}


@pytest.fixture
def world() -> World:
    return World()


def test_a_run_tells_new_changed_unchanged_and_gone_pages(world: World) -> None:
    source = world.source(f"{SITE}/**")
    urls = world.serve(a="silk", b="web", c="leg")
    first = world.ran(source, *urls)
    assert (first.stage, first.counts) == (RunStage.COMPLETED, {PageOutcome.NEW: 3})
    world.serve(b="thread", c=410, d="eye")
    second = world.ran(source, *urls[:2], f"{SITE}/d")
    assert world.outcomes(second) == {"a": "unchanged", "b": "changed", "c": "gone", "d": "new"}
    documents = {page.url: page.document_id for page in world.store.pages("acme", first.id)}
    gone = [p for p in world.store.pages("acme", second.id) if p.outcome is PageOutcome.GONE]
    assert [(page.url, page.document_id, page.error) for page in gone] == [
        (urls[2], documents[urls[2]], "HTTP_ERROR")
    ]


def test_a_page_that_comes_back_is_new_even_with_its_former_content(world: World) -> None:
    source = world.source(f"{SITE}/**")
    urls = world.serve(a="silk")
    first = world.ran(source, *urls)
    world.serve(a=404)
    assert world.outcomes(world.ran(source, *urls)) == {"a": "gone"}
    world.serve(a="silk")
    back = world.ran(source, *urls)
    assert (world.outcomes(back), back.counts) == ({"a": "new"}, {PageOutcome.NEW: 1})
    [before], [after] = (world.store.pages("acme", each.id) for each in (first, back))
    assert before.document_id == after.document_id
    assert world.outcomes(world.ran(source, *urls)) == {"a": "unchanged"}


def test_a_page_that_comes_back_after_further_runs_is_new(world: World) -> None:
    source = world.source(f"{SITE}/**")
    a, b = world.serve(a="silk", b="web")
    world.ran(source, a, b)
    world.serve(a=404)
    assert world.outcomes(world.ran(source, b)) == {"a": "gone", "b": "unchanged"}
    world.ran(source, b)
    world.serve(a="silk")
    assert world.outcomes(world.ran(source, a, b)) == {"a": "new", "b": "unchanged"}


def test_pages_that_a_changed_pattern_leaves_out_are_crawled_no_more(world: World) -> None:
    source = world.source(f"{SITE}/**")
    a, b = world.serve(a="silk", b="web")
    assert world.outcomes(world.ran(source, a, b)) == {"a": "new", "b": "new"}
    source = world.service.update("acme", source.id, world.draft(f"{SITE}/a*"))
    assert world.outcomes(world.ran(source, a)) == {"a": "unchanged"}


def test_pages_of_the_former_site_of_a_deep_source_are_crawled_no_more(world: World) -> None:
    draft = ConfigDraft(name="deep", options=ConfigOptions(max_depth=2))
    config = world.crawl.configs.service.create("acme", draft)
    [a] = world.serve(a="silk")
    source = world.source(a, config=config.id)
    assert world.outcomes(world.ran(source)) == {"a": "new"}
    other = "https://other.example/b"
    world.crawl.pages[other] = fetched_page(other, long_page("web", 40))
    world.service.update("acme", source.id, world.draft(other, config=config.id))
    assert world.outcomes(world.ran(source)) == {other: "new"}


# covers C-08
@pytest.mark.parametrize("is_default", [False, True])
def test_a_config_with_a_depth_makes_each_run_a_deep_crawl(world: World, is_default: bool) -> None:
    options = ConfigOptions(max_depth=2)
    draft = ConfigDraft(name="deep", options=options, is_default=is_default)
    config = world.crawl.configs.service.create("acme", draft)
    links = "\n".join(f"link: {SITE}/{name}" for name in "bcdx")
    [start, *_] = world.serve(a=links, b="silk", c="leg", d="eye", x=404)
    world.crawl.pages[start] = fetched_page(start, f"Webs\n{links}")
    source = world.source(start, **({} if is_default else {"config": config.id}))
    first = world.ran(source)
    assert (first.stage, first.batch_id) == (RunStage.COMPLETED, None)
    assert world.outcomes(first) == dict.fromkeys("abcd", "new")
    links = "\n".join(f"link: {SITE}/{name}" for name in "bex")
    world.serve(b="thread", c=410, e="orb")
    world.crawl.pages[start] = fetched_page(start, f"Webs\n{links}")
    second = world.ran(source)
    assert second.stage is RunStage.COMPLETED
    assert world.outcomes(second) == {
        "a": "changed",
        "b": "changed",
        "c": "gone",
        "d": "unchanged",
        "e": "new",
    }
    jobs = {page.url[-1]: page.job_id for page in world.store.pages("acme", second.id)}
    assert jobs["a"] == jobs["b"] == jobs["e"] == second.deep_crawl_id
    assert second.batch_id is not None
    deep = world.crawl.job(JobRef(tenant="acme", job_id=str(second.deep_crawl_id)))
    assert (deep.payload["source_id"], deep.payload["max_depth"]) == (source.id, 2)
    documents = {page.url: page.document_id for page in world.store.pages("acme", first.id)}
    [gone] = [p for p in world.store.pages("acme", second.id) if p.outcome is PageOutcome.GONE]
    assert gone.document_id == documents[gone.url]


def test_a_deep_run_waits_for_its_crawl_and_fails_with_it(world: World) -> None:
    draft = ConfigDraft(name="deep", options=ConfigOptions(max_depth=1))
    config = world.crawl.configs.service.create("acme", draft)
    [start] = world.serve(a="silk")
    source = world.source(start, config=config.id)
    run, _ = world.service.trigger("acme", source.id)
    world.runs.look(world.service.get("acme", source.id))
    [run] = world.store.runs("acme", source.id, None, 1).items
    assert (run.stage, run.deep_crawl_id is not None) == (RunStage.CRAWLING, True)
    ref = JobRef(tenant="acme", job_id=str(run.deep_crawl_id))
    world.crawl.control().move(ref, Transition.CANCEL)
    world.runs.look(world.service.get("acme", source.id))
    [run] = world.store.runs("acme", source.id, None, 1).items
    assert (run.stage, run.error) == (RunStage.FAILED, "PAGES_FAILED")
    world.serve(a=404)
    assert world.ran(source).counts == {PageOutcome.GONE: 1}


def test_a_pattern_selects_its_pages_at_any_depth(world: World) -> None:
    draft = ConfigDraft(name="deep", options=ConfigOptions(max_depth=3))
    config = world.crawl.configs.service.create("acme", draft)
    urls = world.serve(a="silk", b="web")
    run = world.ran(world.source(f"{SITE}/**", config=config.id), *urls)
    assert (run.deep_crawl_id, world.outcomes(run)) == (None, {"a": "new", "b": "new"})


def test_the_crawls_of_a_run_are_parts_of_one_job_and_as_the_source_says(world: World) -> None:
    draft = ConfigDraft(name="slow", options=ConfigOptions())
    config = world.crawl.configs.service.create("acme", draft)
    collection = world.crawl.collections.create("acme", "silk", None)
    [url] = world.serve(a="silk")
    source = world.source(url, config=config.id, collection=collection.id)
    run = world.ran(source)
    [page] = world.store.pages("acme", run.id)
    crawl = world.crawl.crawls().get("acme", str(page.job_id))
    assert crawl.model_dump(include={"crawl_source_id", "crawl_config_id", "collection_id"}) == {
        "crawl_source_id": source.id,
        "crawl_config_id": config.id,
        "collection_id": collection.id,
    }
    [document] = world.crawl.documents.all("acme")
    assert (document.collection_id, page.document_id) == (collection.id, document.id)


def test_a_fresh_result_does_not_stand_for_a_run_s_crawl(world: World) -> None:
    [url] = world.serve(a="silk")
    world.crawl.settle(world.crawl.submit(url))
    world.serve(a="web")
    run = world.ran(world.source(url))
    assert world.outcomes(run) == {"a": "changed"}


def test_asking_again_for_the_crawls_of_a_run_adds_none(world: World) -> None:
    [url] = world.serve(a="silk")
    source = world.source(url)
    run, _ = world.service.trigger("acme", source.id)
    again = SourceCrawls(world.crawl.crawls(), world.crawl.deep()).begin(source, run, [url])
    assert again.batch_id == run.batch_id
    assert len({sent.ref for sent in world.crawl.queue.sent}) == 1


def test_pages_of_a_blocked_domain_are_refused_by_name(world: World) -> None:
    source = world.source(f"{SITE}/a")
    world.crawl.hosts.service.block("acme", "site.example", "not theirs")
    run = world.ran(source)
    assert run.stage is RunStage.FAILED
    [page] = world.store.pages("acme", run.id)
    assert (page.outcome, page.error) == (PageOutcome.FAILED, "DOMAIN_BLOCKED")
