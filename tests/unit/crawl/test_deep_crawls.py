"""Deep crawls: the set of pages, the budget, and executions that are lost, paused and overtaken."""

from __future__ import annotations

import pytest

from spinneret.crawl.configs.models import ConfigOptions
from spinneret.crawl.configs.service import ConfigDraft
from spinneret.crawl.kinds import DEEP_CRAWL
from spinneret.jobs.models import JobStatus, Move
from spinneret.kernel.errors import HttpRefused, HttpUnavailable, ValidationFailed
from spinneret.web.exploring.frontier.models import PageState
from tests.factories import TENANT
from tests.fakes.deep_crawling import HOST, DeepSlice

WIDE = {
    "/": [f"/{n}" for n in range(40)],
    **{f"/{n}": ["/", "/end"] for n in range(40)},
    "/end": [],
}
SMALL = {"/": ["/a", "/b"], "/a": ["/c"], "/b": ["/"], "/c": ["/d"], "/d": []}


def finished(crawl: DeepSlice, ref: object) -> None:
    """Deliver and execute until the job has ended."""
    for _ in range(50):
        crawl.deliver()
        crawl.execute()
        if crawl.job(ref).status is JobStatus.COMPLETED:  # type: ignore[arg-type]  # a JobRef
            return
    raise AssertionError("it never ends")


def test_every_page_within_the_depth_is_crawled_once() -> None:
    crawl = DeepSlice(SMALL)
    ref = crawl.ask(max_depth=2)
    finished(crawl, ref)
    assert sorted(crawl.asked()) == ["/", "/a", "/b", "/c"]
    view = crawl.deep().get(TENANT, ref.job_id)
    assert view is not None
    assert (view.pages_discovered, view.pages_crawled, view.pages_failed) == (4, 4, 0)
    assert (view.current_depth, view.end_reason, view.progress) == (2, "exhausted", 100)


@pytest.mark.parametrize("budget", [1, 17, 41])
def test_the_budget_is_exact(budget: int) -> None:
    crawl = DeepSlice(WIDE)
    ref = crawl.ask(max_pages=budget)
    finished(crawl, ref)
    assert len(crawl.asked()) == len(set(crawl.asked())) == budget
    result = crawl.job(ref).result
    assert result is not None
    assert (result["pages_crawled"], result["end_reason"]) == (budget, "budget")


@pytest.mark.parametrize("steps", range(1, 4))
def test_a_lost_execution_is_followed_by_another_that_fetches_nothing_twice(steps: int) -> None:
    crawl = DeepSlice(WIDE)
    ref = crawl.ask()
    crawl.deliver()
    crawl.execute(steps)
    crawl.lose_execution()
    finished(crawl, ref)
    assert len(crawl.asked()) == len(set(crawl.asked())) == 42
    assert len(crawl.executions.started) == 2


def test_executions_that_are_lost_as_they_get_on_use_no_attempts_up() -> None:
    crawl = DeepSlice(WIDE)
    ref = crawl.ask()
    for _ in range(6):
        crawl.deliver()
        crawl.execute(2)
        crawl.lose_execution()
    finished(crawl, ref)


def test_a_long_crawl_goes_on_in_the_next_execution() -> None:
    crawl = DeepSlice(WIDE)
    crawl.segment_batches = 2
    ref = crawl.ask()
    finished(crawl, ref)
    assert len(crawl.executions.started) > 1
    assert crawl.job(ref).attempts == 0
    assert len(crawl.asked()) == 42


def test_a_cancelled_crawl_stops_at_its_next_step_and_gives_its_place_back() -> None:
    crawl = DeepSlice(WIDE)
    ref = crawl.ask()
    crawl.deliver()
    crawl.execute(2)
    crawl.control().move(ref, Move.CANCEL)
    fetched = len(crawl.asked())
    crawl.execute()
    assert (len(crawl.asked()), crawl.slots.holders[f"{TENANT} DEEP_CRAWLS"]) == (fetched, {})


def test_a_paused_crawl_goes_on_where_it_was() -> None:
    crawl = DeepSlice(WIDE)
    ref = crawl.ask()
    crawl.deliver()
    crawl.execute(2)
    crawl.control().move(ref, Move.PAUSE)
    crawl.execute()
    crawl.control().move(ref, Move.RESUME)
    finished(crawl, ref)
    assert len(crawl.asked()) == len(set(crawl.asked())) == 42


def test_the_sixth_of_a_tenant_waits_for_one_to_end() -> None:
    crawl = DeepSlice(SMALL)
    refs = [crawl.ask(force=True) for _ in range(6)]
    crawl.deliver()
    assert [crawl.job(ref).status for ref in refs] == [JobStatus.RUNNING] * 5 + [JobStatus.PENDING]
    assert crawl.job(refs[-1]).attempts == 0
    crawl.execute()
    crawl.deliver()
    assert crawl.job(refs[-1]).status is JobStatus.RUNNING


def test_what_fails_and_what_robots_forbid_is_listed_with_the_reason() -> None:
    crawl = DeepSlice(SMALL)
    crawl.pages[f"{HOST}/a"] = HttpRefused("the host answered 404", details={"status_code": 404})
    ref = crawl.ask()
    finished(crawl, ref)
    [failed] = crawl.deep().pages(TENANT, ref.job_id, PageState.FAILED, None, 10).items
    assert (failed.url, failed.status_code, failed.error_type) == (f"{HOST}/a", 404, "HTTP_ERROR")
    everything = crawl.deep().pages(TENANT, ref.job_id, None, None, 10)
    assert {page.url for page in everything.items} == {
        f"{HOST}{path}" for path in ("/", "/a", "/b")
    }


def test_a_page_that_is_busy_for_a_while_is_tried_again() -> None:
    crawl = DeepSlice(SMALL)
    answer = crawl.pages[f"{HOST}/a"]
    crawl.pages[f"{HOST}/a"] = HttpUnavailable("busy", retry_after=100)
    ref = crawl.ask()
    crawl.deliver()
    crawl.execute(3)
    crawl.pages[f"{HOST}/a"] = answer
    finished(crawl, ref)
    assert crawl.asked().count("/a") == 2


def test_an_embedder_that_is_away_charges_no_page() -> None:
    crawl = DeepSlice(SMALL)
    crawl.embedder.available = False
    ref = crawl.ask()
    crawl.deliver()
    crawl.execute(4)
    crawl.embedder.available = True
    finished(crawl, ref)
    assert crawl.deep().pages(TENANT, ref.job_id, PageState.FAILED, None, 10).items == []


def test_a_message_that_comes_twice_starts_one_execution() -> None:
    crawl = DeepSlice(SMALL)
    ref = crawl.ask()
    [sent] = crawl.queue.take()
    for _ in range(2):
        crawl.worker().run(sent.ref, lambda: 60.0)
    assert len(crawl.executions.started) == 1
    crawl.execute()
    assert crawl.job(ref).status is JobStatus.COMPLETED


def test_patterns_that_do_not_compile_are_refused_with_their_field() -> None:
    crawl = DeepSlice(SMALL)
    with pytest.raises(ValidationFailed) as refused:
        crawl.ask(include=("/a***",))
    assert refused.value.details["fields"][0]["field"] == "include.0"


def test_a_plain_crawl_whose_config_goes_deeper_is_a_deep_crawl() -> None:
    crawl = DeepSlice(SMALL)
    options = ConfigOptions(max_depth=1)
    config = crawl.configs.service.create(TENANT, ConfigDraft(name="deep", options=options))
    ref = crawl.submit(f"{HOST}/", TENANT, config_id=config.id)
    assert (crawl.job(ref).kind, crawl.job(ref).payload["max_depth"]) == (DEEP_CRAWL, 1)
    finished(crawl, ref)
    assert sorted(crawl.asked()) == ["/", "/a", "/b"]


def test_pages_of_a_deep_crawl_go_by_its_config_into_its_collection_with_its_tags() -> None:
    crawl = DeepSlice(SMALL)
    options = ConfigOptions(max_redirects=1)
    config = crawl.configs.service.create(TENANT, ConfigDraft(name="shallow", options=options))
    ref = crawl.ask(config_id=config.id, tags=("silk",))
    payload = crawl.job(ref).payload
    assert payload["config"]["options"]["max_redirects"] == 1
    finished(crawl, ref)
    pages = crawl.deep().pages(TENANT, ref.job_id, PageState.CRAWLED, None, 10).items
    documents = [crawl.documents.get(TENANT, page.document_id or "") for page in pages]
    assert {each.tag_ids for each in documents if each} == {tuple(payload["tag_ids"])}
    assert crawl.ask(tags=("silk",)) != ref
