"""Contract tests of source stores: the fake, moto, and DynamoDB Local."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Any

import pytest

from spinneret.content.collections.dynamo import DynamoCollectionStore
from spinneret.crawl.configs.dynamo import DynamoConfigStore
from spinneret.kernel.errors import Conflict, NotFound
from spinneret.outbox.dynamo import DynamoOutboxStore
from spinneret.outbox.models import DomainEvent, SubjectRef
from spinneret.sources import limits
from spinneret.sources.dynamo import DynamoSourceStore
from spinneret.sources.models import (
    PageOutcome,
    Run,
    RunPage,
    RunStage,
    Source,
    SourceRef,
    Trigger,
)
from spinneret.sources.rules import event_of
from tests.contract.backends import OF_AWS, Tables
from tests.contract.named import collections, configs
from tests.fakes.named import FakeNamedStore
from tests.fakes.sources import FakeSourceStore
from tests.fakes.time import START

pytestmark = OF_AWS
_numbers = count()


@pytest.fixture
def config_rows(tables: Tables | None) -> Any:
    if tables is None:
        return FakeNamedStore(configs.page_of)
    return DynamoConfigStore(tables.client, tables.names["CrawlDefinitions"])


@pytest.fixture
def collection_rows(tables: Tables | None) -> Any:
    if tables is None:
        return FakeNamedStore(collections.page_of)
    names = tables.names
    return DynamoCollectionStore(tables.client, names["TagsAndCollections"], names["Documents"])


@pytest.fixture
def store(tables: Tables | None, config_rows: Any, collection_rows: Any) -> Any:
    if tables is None:
        return FakeSourceStore(config_rows, collection_rows)
    names = tables.names
    return DynamoSourceStore(
        tables.client, names["CrawlDefinitions"], names["TagsAndCollections"], names["Events"]
    )


@pytest.fixture
def new(tenant: str) -> Callable[..., Source]:
    """Provide a function that returns a source of the test's tenant, in the order of the calls."""

    def make(**given: Any) -> Source:
        values: dict[str, Any] = {
            "tenant": tenant,
            "id": f"source_{next(_numbers):06}",
            "name": "one",
            "url_pattern": "https://site.example/**",
            "crawl_config_id": None,
            "collection_id": None,
            "schedule_cron": None,
            "timezone": "UTC",
            "is_active": True,
            "created_at": START,
            "updated_at": START,
            "scheduled_from": START,
            "due_at": None,
        }
        return Source(**values | given)

    return make


def run_of(source: Source, **given: Any) -> Run:
    values: dict[str, Any] = {
        "tenant": source.tenant,
        "source_id": source.id,
        "id": f"run_{next(_numbers):06}",
        "trigger": Trigger.SCHEDULE,
        "stage": RunStage.STARTING,
        "started_at": START,
    }
    return Run(**values | given)


def changed(source: Source, **changes: Any) -> Source:
    return replace(source, version=source.version + 1, **changes)


def test_a_source_is_read_back_as_it_was_stored(store: Any, new: Callable[..., Source]) -> None:
    bare = new()
    full = new(
        schedule_cron="0 * * * *",
        timezone="Europe/Berlin",
        is_active=False,
        due_at=START,
        run_id="run_1",
        last_run_id="run_0",
        last_crawled_at=START,
    )
    for source in (bare, full):
        store.add(source)
        assert store.get(source.tenant, source.id) == source
    assert store.get("other", bare.id) is None
    assert store.get(bare.tenant, "x" * 3000) is None
    page = store.page(bare.tenant, None, 1)
    assert (page.items, page.after) == ((full,), full.id)
    assert store.page(bare.tenant, full.id, 1).items == (bare,)


def test_a_source_is_replaced_with_its_run_where_it_stands_as_it_was_read(
    store: Any, new: Callable[..., Source]
) -> None:
    source = new()
    store.add(source)
    run = run_of(source)
    after = changed(source, run_id=run.id)
    assert store.replace(source, after, run)
    late = run_of(source)
    assert not store.replace(source, changed(source, run_id=late.id), late)
    assert store.get(source.tenant, source.id) == after
    assert store.runs(source.tenant, source.id, None, 9).items == (run,)


def test_what_is_reported_is_stored_with_the_change(
    store: Any, new: Callable[..., Source], tables: Tables | None
) -> None:
    source = new()
    store.add(source)
    run = run_of(source, stage=RunStage.COMPLETED, finished_at=START)
    after = changed(source)
    event = event_of(after, run, ("wh_1",))
    assert not store.replace(changed(source), changed(after), run, event)
    assert stored_events(store, tables, event) == []
    assert store.replace(source, after, run, event)
    assert stored_events(store, tables, event) == [event]


def stored_events(store: Any, tables: Tables | None, event: DomainEvent) -> list[DomainEvent]:
    if tables is None:
        return list(store.events)
    outbox = DynamoOutboxStore(tables.client, tables.names["Events"])
    found = outbox.pending(SubjectRef(tenant=event.tenant, subject=event.subject), None, 9)
    return [each.event for each in found.events]


def test_a_removed_source_is_gone(store: Any, new: Callable[..., Source]) -> None:
    source = new()
    store.add(source)
    assert not store.remove(changed(source))
    assert store.remove(source)
    assert not store.remove(source)
    assert store.get(source.tenant, source.id) is None
    assert not store.replace(source, changed(source))


def test_runs_are_read_back_newest_first(store: Any, new: Callable[..., Source]) -> None:
    source = new()
    store.add(source)
    runs = [
        run_of(source),
        run_of(
            source,
            stage=RunStage.PARTIALLY_FAILED,
            trigger=Trigger.REQUEST,
            finished_at=START,
            discovery_job_id="job_1",
            batch_id="job_2",
            refused={"https://site.example/Ελλάδα": "URL_BLOCKED"},
            counts={PageOutcome.NEW: 3, PageOutcome.GONE: 1},
            error="no page was found",
        ),
    ]
    for run in runs:
        after = changed(source)
        assert store.replace(source, after, run)
        source = after
    page = store.runs(source.tenant, source.id, None, 1)
    assert (page.items, page.after) == ((runs[1],), runs[1].id)
    assert store.runs(source.tenant, source.id, page.after, 9).items == (runs[0],)
    assert store.run(source.tenant, source.id, runs[1].id) == runs[1]
    assert store.run(source.tenant, source.id, "run_unknown") is None
    assert store.run("other", source.id, runs[1].id) is None


@pytest.mark.parametrize("amount", [0, 1, 100, 101, limits.SOURCE_PAGES_MAX])
def test_the_pages_of_a_run_are_read_back(
    store: Any, new: Callable[..., Source], amount: int
) -> None:
    run = run_of(new())
    pages = tuple(
        RunPage(
            url=f"https://site.example/{number}/Ελλάδα",
            outcome=list(PageOutcome)[number % 5],
            document_id=None if number % 2 else f"doc_{number}",
            job_id=None if number % 3 else f"job_{number}",
            error=None if number % 7 else "HTTP_ERROR",
        )
        for number in range(amount)
    )
    for _ in range(2):
        store.keep_pages(run, pages, START)
    assert store.pages(run.tenant, run.id) == pages
    assert store.pages("other", run.id) == ()


def test_sources_that_are_due_are_found_by_time(store: Any, new: Callable[..., Source]) -> None:
    hour = timedelta(hours=1)
    due = [new(due_at=START - hour * n) for n in range(9)]
    later, never, paused = new(due_at=START + hour), new(), new(due_at=START)
    for source in (*due, later, never, paused):
        store.add(source)
    assert store.replace(paused, changed(paused, due_at=None))
    mine = {ref for ref in store.due(START, 100) if ref.tenant == never.tenant}
    assert mine == {SourceRef(tenant=each.tenant, source_id=each.id) for each in due}


# ------------------------------------------------------------ Config and collection


def test_what_a_source_refers_to_is_there_and_stays(
    store: Any,
    new: Callable[..., Source],
    config_rows: Any,
    collection_rows: Any,
    tenant: str,
) -> None:
    config, other = (configs.row(tenant, f"config_{n}", n) for n in ("a", "b"))
    collection = collections.row(tenant, "col_a", "a")
    for row in (config, other):
        config_rows.add(row)
    collection_rows.add(collection)
    source = new(crawl_config_id=config.id, collection_id=collection.id)
    store.add(source)
    for rows, row in ((config_rows, config), (collection_rows, collection)):
        with pytest.raises(Conflict):
            rows.remove(row)
    after = changed(source, crawl_config_id=other.id)
    assert store.replace(source, after)
    assert config_rows.remove(config)
    with pytest.raises(Conflict):
        config_rows.remove(other)
    assert store.remove(after)
    assert config_rows.remove(other)
    assert collection_rows.remove(collection)


def test_a_source_can_not_refer_to_what_does_not_exist(
    store: Any, new: Callable[..., Source], config_rows: Any, tenant: str
) -> None:
    foreign = configs.row(f"{tenant}-2", "config_foreign", "a")
    config_rows.add(foreign)
    for given, what in (
        ({"crawl_config_id": foreign.id}, "crawl config"),
        ({"collection_id": "col_unknown"}, "collection"),
    ):
        source = new(**given)
        with pytest.raises(NotFound, match=f"no such {what}"):
            store.add(source)
        assert store.get(tenant, source.id) is None
    source = new()
    store.add(source)
    with pytest.raises(NotFound):
        store.replace(source, changed(source, collection_id="col_unknown"))
    assert store.get(tenant, source.id) == source
