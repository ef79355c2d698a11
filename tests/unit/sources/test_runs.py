"""Runs of sources: their start, their crawls and their results."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from spinneret.kernel.errors import CircuitOpen, FeatureDisabled, ValidationFailed
from spinneret.sources.models import PageOutcome, RunPage, RunStage, Source, Trigger
from spinneret.sources.ports import DiscoveryProgress
from spinneret.sources.rules import not_reached, with_returned
from spinneret.sources.service import SourceDraft
from tests.fakes.sources import SourceWorld

URL = "https://site.example/page"
PATTERN = "https://site.example/docs/**"


@pytest.fixture
def world() -> SourceWorld:
    return SourceWorld()


def draft(**given: Any) -> SourceDraft:
    values: dict[str, Any] = {
        "name": "one",
        "url_pattern": URL,
        "crawl_config_id": None,
        "collection_id": None,
        "schedule_cron": "0 * * * *",
        "timezone": "UTC",
        "is_active": True,
    }
    return SourceDraft(**values | given)


def made(world: SourceWorld, **given: Any) -> Source:
    return world.service.create("acme", draft(**given))


def page(url: str = URL, outcome: PageOutcome = PageOutcome.NEW, **given: Any) -> RunPage:
    values: dict[str, Any] = {"document_id": f"doc of {url}", "job_id": f"job of {url}"}
    return RunPage(url=url, outcome=outcome, **values | given)


# ------------------------------------------------------------ Scheduled runs


# covers C-08
def test_a_source_is_crawled_when_its_minute_has_come(world: SourceWorld) -> None:
    source = made(world)  # created at 12:00
    assert source.due_at == datetime(2026, 1, 2, 13, tzinfo=UTC)
    assert world.tick(59 * 60).looked_at == 0
    assert world.tick(60).looked_at == 1
    run = world.run(source.id)
    assert (run.stage, run.trigger) == (RunStage.CRAWLING, Trigger.SCHEDULE)
    assert world.crawls.begun == {run.id: (URL,)}
    world.end(run, page())
    world.tick()
    run, source = world.run(source.id), world.source(source.id)
    assert (run.stage, run.counts, run.finished_at) == (
        RunStage.COMPLETED,
        {PageOutcome.NEW: 1},
        world.clock(),
    )
    assert (source.run_id, source.last_crawled_at) == (None, world.clock())
    assert source.due_at == datetime(2026, 1, 2, 14, tzinfo=UTC)


def test_one_run_at_a_time_and_missed_runs_are_one(world: SourceWorld) -> None:
    source = made(world)
    world.tick(3600)
    first = world.run(source.id)
    for _ in range(5):
        world.tick(3600)
    assert list(world.crawls.begun) == [first.id]
    world.end(first, page())
    world.tick()
    assert world.source(source.id).run_id is None
    world.tick()  # five runs were missed
    assert len(world.crawls.begun) == 2
    second = world.run(source.id)
    world.end(second, page(outcome=PageOutcome.UNCHANGED))
    world.tick()
    world.tick()
    assert len(world.crawls.begun) == 2


def test_a_pass_that_was_missed_is_made_up_for_once(world: SourceWorld) -> None:
    source = made(world, schedule_cron="* * * * *")
    world.tick(10 * 3600)
    world.end(world.run(source.id), page())
    world.tick()
    assert len(world.crawls.begun) == 1
    assert world.source(source.id).run_id is None


@pytest.mark.parametrize("given", [{"is_active": False}, {"schedule_cron": None}])
def test_without_a_schedule_nothing_runs_by_the_clock(
    world: SourceWorld, given: dict[str, Any]
) -> None:
    source = made(world, **given)
    assert source.due_at is None
    world.tick(48 * 3600)
    assert world.crawls.begun == {}


def test_another_schedule_counts_from_its_making(world: SourceWorld) -> None:
    source = made(world, schedule_cron="30 * * * *")
    world.clock.advance(45 * 60)
    changed = world.service.update("acme", source.id, draft(schedule_cron="40 * * * *"))
    assert changed.due_at == datetime(2026, 1, 2, 13, 40, tzinfo=UTC)
    renamed = world.service.update(
        "acme", source.id, draft(schedule_cron="40 * * * *", name="other")
    )
    assert (renamed.due_at, renamed.scheduled_from) == (changed.due_at, changed.scheduled_from)


def test_a_time_zone_s_own_hour_is_meant(world: SourceWorld) -> None:
    source = made(world, schedule_cron="0 9 * * *", timezone="Asia/Tokyo")
    assert source.due_at == datetime(2026, 1, 3, 0, tzinfo=UTC)


def test_a_fault_of_our_own_is_left_to_the_next_pass(world: SourceWorld) -> None:
    source = made(world)
    world.crawls.available = False
    world.tick(3600)
    run = world.run(source.id)
    assert run.stage is RunStage.STARTING
    assert world.tick().failed == 1
    world.crawls.available = True
    world.tick()
    assert world.run(source.id).stage is RunStage.CRAWLING
    assert list(world.crawls.begun) == [run.id]


def test_one_source_s_fault_leaves_the_others_their_pass(world: SourceWorld) -> None:
    sources = [made(world, name=str(number)) for number in range(3)]
    former = sources[1]
    world.store.replace(former, replace(former, timezone="Gone/Zone"))
    assert world.tick(3600).failed == 1
    assert len({world.run(source.id).id for source in (sources[0], sources[2])}) == 2


# ------------------------------------------------------------ Triggered runs


def test_a_triggered_run_begins_at_once_and_is_the_only_one(world: SourceWorld) -> None:
    source = made(world, schedule_cron=None)
    run, begun = world.service.trigger("acme", source.id)
    assert (run.stage, run.trigger, begun) == (RunStage.CRAWLING, Trigger.REQUEST, True)
    again, begun = world.service.trigger("acme", source.id)
    assert (again.id, begun) == (run.id, False)
    world.end(run, page())
    [shown] = world.service.runs("acme", source.id, None, 9).items  # without a tick
    assert shown.stage is RunStage.COMPLETED
    assert world.source(source.id).due_at is None


def test_a_run_that_was_triggered_stands_for_the_schedule_s(world: SourceWorld) -> None:
    source = made(world)
    world.clock.advance(3600)
    world.service.trigger("acme", source.id)
    world.end(world.run(source.id), page())
    world.tick()
    assert world.source(source.id).due_at == datetime(2026, 1, 2, 14, tzinfo=UTC)


# ------------------------------------------------------------ Patterns


# covers C-08
def test_a_pattern_is_discovered_and_then_crawled(world: SourceWorld) -> None:
    source = made(world, url_pattern=PATTERN)
    run, _ = world.service.trigger("acme", source.id)
    assert (run.stage, run.discovery_job_id) == (RunStage.DISCOVERING, f"discovery of {run.id}")
    world.tick()
    assert world.crawls.begun == {}
    urls = ("https://site.example/docs/a", "https://site.example/docs/b")
    world.discoveries.found[run.id] = DiscoveryProgress(urls=urls, error=None)
    world.tick()
    assert world.crawls.begun == {run.id: urls}
    assert world.discoveries.begun == [run.id]


def test_pages_that_are_not_listed_any_more_are_crawled_until_they_are_gone(
    world: SourceWorld,
) -> None:
    source = made(world, url_pattern=PATTERN)
    a, b, c = (f"https://site.example/docs/{name}" for name in "abc")

    def finished(found: tuple[str, ...], *pages: RunPage) -> tuple[str, ...]:
        run, _ = world.service.trigger("acme", source.id)
        world.discoveries.found[run.id] = DiscoveryProgress(urls=found, error=None)
        world.tick()
        world.end(run, *pages)
        world.tick()
        return world.crawls.begun[run.id]

    assert finished((a, b), page(a), page(b)) == (a, b)
    gone = page(b, PageOutcome.GONE, document_id=None, error="HTTP_ERROR")
    failed = page(a, PageOutcome.FAILED, document_id=None, error="FETCH_TIMEOUT")
    assert finished((a, c), failed, page(c), gone) == (a, c, b)
    run = world.run(source.id)
    assert run.counts == {PageOutcome.FAILED: 1, PageOutcome.NEW: 1, PageOutcome.GONE: 1}
    assert run.stage is RunStage.PARTIALLY_FAILED
    _, shown = world.service.run("acme", source.id, run.id)
    assert {each.url: each.document_id for each in shown} == {
        a: f"doc of {a}",
        b: f"doc of {b}",
        c: f"doc of {c}",
    }
    assert finished((c,), page(a), page(c)) == (c, a)


def test_a_pattern_without_pages_is_a_run_that_found_none(world: SourceWorld) -> None:
    source = made(world, url_pattern=PATTERN)
    run, _ = world.service.trigger("acme", source.id)
    world.discoveries.found[run.id] = DiscoveryProgress(urls=(), error=None)
    world.tick()
    ended = world.run(source.id)
    assert (ended.stage, ended.error) == (RunStage.COMPLETED, "no page was found")


def test_a_discovery_that_fails_fails_the_run_and_forgets_no_page(world: SourceWorld) -> None:
    source = made(world, url_pattern=PATTERN)
    run, _ = world.service.trigger("acme", source.id)
    url = "https://site.example/docs/a"
    world.discoveries.found[run.id] = DiscoveryProgress(urls=(url,), error=None)
    world.tick()
    world.end(run, page(url))
    world.tick()
    second, _ = world.service.trigger("acme", source.id)
    world.discoveries.found[second.id] = DiscoveryProgress(
        urls=(), error="site.example answered 503"
    )
    world.tick()
    ended, after = world.run(source.id), world.source(source.id)
    assert (ended.stage, ended.error) == (RunStage.FAILED, "site.example answered 503")
    assert (after.run_id, after.last_run_id) == (None, run.id)


@pytest.mark.parametrize("error", [FeatureDisabled("off"), CircuitOpen("failing")])
def test_a_discovery_that_is_refused_fails_the_run(world: SourceWorld, error: Any) -> None:
    source = made(world, url_pattern=PATTERN)
    world.discoveries.error = error
    run, _ = world.service.trigger("acme", source.id)
    assert (run.stage, run.error) == (RunStage.FAILED, error.code)
    assert world.source(source.id).run_id is None


# ------------------------------------------------------------ Results of a run


def test_pages_that_are_refused_are_failed_pages_of_the_run(world: SourceWorld) -> None:
    source = made(world)
    world.crawls.refused = {URL: "DOMAIN_BLOCKED"}
    run, _ = world.service.trigger("acme", source.id)
    assert (run.stage, run.counts) == (RunStage.FAILED, {PageOutcome.FAILED: 1})
    [shown] = world.service.run("acme", source.id, run.id)[1]
    assert (shown.error, shown.job_id) == ("DOMAIN_BLOCKED", None)


def test_crawls_that_can_not_be_submitted_fail_the_run(world: SourceWorld) -> None:
    source = made(world)
    world.crawls.error = ValidationFailed("too large")
    run, _ = world.service.trigger("acme", source.id)
    assert (run.stage, run.error) == (RunStage.FAILED, "VALIDATION_ERROR")


def test_a_page_that_is_gone_is_no_failure(world: SourceWorld) -> None:
    source = made(world)
    run, _ = world.service.trigger("acme", source.id)
    world.end(run, page(outcome=PageOutcome.GONE, document_id=None, error="HTTP_ERROR"))
    world.tick()
    assert world.run(source.id).stage is RunStage.COMPLETED


def test_a_source_that_is_removed_meanwhile_stays_away(world: SourceWorld) -> None:
    source = made(world)
    run, _ = world.service.trigger("acme", source.id)
    world.service.remove("acme", source.id)
    assert world.webhooks.removed == [source.id]
    world.end(run, page())
    assert world.tick().looked_at == 0


# covers C-08
def test_the_end_of_a_run_is_reported_to_the_source_s_webhooks(world: SourceWorld) -> None:
    source = made(world)
    for outcome in (PageOutcome.NEW, PageOutcome.FAILED):
        run, _ = world.service.trigger("acme", source.id)
        assert len(world.store.events) == len(world.handed_on)
        world.end(run, page(outcome=outcome))
        world.tick()
    completed, failed = world.store.events
    assert (completed.type, failed.type) == ("source.run_completed", "source.run_failed")
    assert completed.sequence < failed.sequence
    assert completed.targets == (f"webhook of {source.id}",)
    assert (completed.data["new"], completed.data["failed"], failed.data["failed"]) == (1, 0, 1)
    assert world.handed_on == [source.id] * 2


@pytest.mark.parametrize(("had", "expected"), [(499, PageOutcome.NEW), (500, PageOutcome.CHANGED)])
def test_a_page_is_new_only_if_the_last_run_had_room_for_it(
    had: int, expected: PageOutcome
) -> None:
    known = [page(f"{URL}/{number}", PageOutcome.UNCHANGED) for number in range(had)]
    [found] = with_returned([page(outcome=PageOutcome.CHANGED)], known)
    assert found.outcome is expected


def test_a_run_has_room_for_as_many_former_pages_as_its_deep_crawl_leaves() -> None:
    reached = [page(f"{URL}/new/{number}") for number in range(100)]
    known = [page(f"{URL}/{number}", PageOutcome.UNCHANGED) for number in range(500)]
    assert not_reached(reached, known) == [each.url for each in known[:400]]
    assert not_reached(known, known) == []
