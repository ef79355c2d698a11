"""Rebuilds of the index, and its reconciliation with rows and bodies."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from random import Random
from threading import Event

import pytest

from spinneret.content import limits as content_limits
from spinneret.content.chunking.models import TokenSpan
from spinneret.content.documents.models import IndexedChunk, Origin, UnusedBody, UrlLease
from spinneret.content.library.rebuilding import RebuildRequests
from spinneret.jobs.models import JobStatus
from spinneret.kernel import bounds
from spinneret.kernel.clock import Remaining
from spinneret.kernel.errors import DependencyUnavailable, NotFound
from tests import factories
from tests.factories import TENANT
from tests.fakes.page_parts import FakePartStore
from tests.fakes.search import FakeEmbedder
from tests.fakes.time import START, plenty
from tests.fakes.upkeep import FakeIndexUpkeep
from tests.metrics import recorded
from tests.sampling import sampled
from tests.unit.content.library.library_world import LibraryWorld

DAY = 24 * 3600


def filled(library: LibraryWorld, count: int = 12) -> list[str]:
    return [library.stored(f"silk number {n}").id for n in range(count)]


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content_limits, "UPKEEP_PAGE", 5)
    monkeypatch.setattr(content_limits, "REBUILD_PAGE", 5)


# ---------------------------------------------------------------- A new index


def test_an_index_that_is_lost_is_made_again_with_the_same_answers(library: LibraryWorld) -> None:
    filled(library)
    before = library.found()
    library.index.lose()
    job = library.rebuild()
    assert job.status is JobStatus.COMPLETED
    assert job.result is not None
    assert (job.result["documents"], job.result["lost"]) == (12, 0)
    assert library.found() == before
    assert list(library.index.held_by_target) == [job.result["index"]]


def test_what_was_cached_before_a_rebuild_is_not_shown_after_it(library: LibraryWorld) -> None:
    filled(library, 3)
    held = library.index.held
    hidden = held.popitem()
    assert len(library.found()) == 2
    held |= [hidden]
    assert len(library.found()) == 2
    assert library.rebuild().status is JobStatus.COMPLETED
    assert len(library.found()) == 3


def running_out(library: LibraryWorld, pages: int) -> Callable[[], float]:
    """Return a function of the time left, which ends after `pages` scanned pages of rows."""
    scan, left = library.scan.scan, [pages]

    def counted(*given: object) -> object:
        left[0] -= 1
        return scan(*given)  # type: ignore[arg-type]  # same arguments

    library.scan.scan = counted  # type: ignore[assignment, method-assign]  # to count its calls
    return lambda: 200.0 if left[0] > 0 else bounds.DEADLINE_MARGIN_SECONDS - 1


def test_a_rebuild_goes_on_where_it_stopped_and_searches_see_the_former_index_until_then(
    library: LibraryWorld, small_pages: None
) -> None:
    filled(library)
    first = library.rebuild(remaining=running_out(library, 2))
    assert first.status is JobStatus.PENDING
    assert first.step is not None
    assert first.step.startswith("indexed 5 documents, 0 lost, up to ")
    assert library.index.read_from == "first"
    new = library.stored("silk that came meanwhile").id
    changed = library.stored("silk number 0", url="upload://other").id
    last = library.rebuild()
    assert (last.id, last.status) == (first.id, JobStatus.COMPLETED)
    assert {new, changed} <= set(library.found(limit=100))
    assert len(library.found(limit=100)) == 14


def test_a_rebuild_that_is_under_way_is_shown_and_a_finished_one_is_followed_by_another(
    library: LibraryWorld,
) -> None:
    filled(library, 1)
    requests = RebuildRequests(jobs=library.job_service)
    begun = requests({}, plenty)
    assert (begun["status"], begun["result"]) == ("pending", None)
    assert requests({}, plenty) == begun
    done = library.rebuild(begun["job_id"])
    assert done.status is JobStatus.COMPLETED
    assert requests({"job_id": done.id}, plenty)["result"] == done.result
    assert requests({}, plenty)["job_id"] != done.id
    with pytest.raises(NotFound):
        requests({"job_id": "job_unknown"}, plenty)


def test_a_document_whose_text_is_gone_is_named(
    library: LibraryWorld, caplog: pytest.LogCaptureFixture
) -> None:
    one, other = filled(library, 2)
    document = library.documents.get(TENANT, one)
    assert document is not None
    library.contents.forget(document.content_key)
    job = library.rebuild()
    assert job.result is not None
    assert job.result["lost"] == 1
    [line] = [vars(each) for each in caplog.records if each.message == "document_lost"]
    assert (line["tenant"], line["document_id"]) == (TENANT, one)
    assert library.found() == [other]


def test_a_rebuild_writes_hundreds_of_chunks_at_once_and_embeds_no_known_text(
    library: LibraryWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(content_limits, "BULK_CHUNKS", 10)
    filled(library, 25)
    library.index.lose()
    library.embedder.embedded.clear()
    sizes: list[int] = []
    write = library.index_upkeep.write

    def counted(chunks: Sequence[IndexedChunk], *rest: object) -> None:
        sizes.append(len(chunks))
        write(chunks, *rest)  # type: ignore[arg-type]  # same arguments

    library.index_upkeep.write = counted  # type: ignore[assignment, method-assign]  # see above
    assert library.rebuild().status is JobStatus.COMPLETED
    assert (sizes, library.embedder.embedded) == ([10, 10, 5], [])


def test_a_rebuild_cuts_the_next_texts_while_it_writes(
    library: LibraryWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(content_limits, "BULK_CHUNKS", 1)
    filled(library, 2)
    library.index.lose()
    texts: list[str] = []
    last = Event()
    tokenize, write = library.embedder.tokenize, library.index_upkeep.write

    def counted(text: str, remaining: Remaining) -> list[TokenSpan]:
        texts.append(text)
        if len(texts) == 2:
            last.set()
        return tokenize(text, remaining)

    def waiting(chunks: Sequence[IndexedChunk], *rest: object) -> None:
        assert last.wait(10), "the second text waits for the first one's bulk"
        write(chunks, *rest)  # type: ignore[arg-type]  # same arguments

    library.embedder.tokenize = counted  # type: ignore[method-assign]  # counts
    library.index_upkeep.write = waiting  # type: ignore[assignment, method-assign]  # see above
    assert library.rebuild().status is JobStatus.COMPLETED


def test_reconciliation_of_a_lost_index_leaves_it_to_a_rebuild(library: LibraryWorld) -> None:
    filled(library, 2)
    library.index.lose()
    with pytest.raises(DependencyUnavailable):
        library.upkeep().reconcile(plenty)
    with pytest.raises(DependencyUnavailable):
        library.found()
    assert library.rebuild().status is JobStatus.COMPLETED
    assert len(library.found()) == 2


def test_a_tenant_s_own_rebuild_is_a_job_that_resumes(
    library: LibraryWorld, small_pages: None
) -> None:
    filled(library)
    before = library.found(limit=100)
    library.index.held.clear()
    answer = library.served.send("POST", "/api/v1/index/rebuild")
    assert answer.status == 202
    job = library.work(
        answer.body["job_id"], remaining=lambda: 0.0 if len(library.index.held) > 5 else 200.0
    )
    assert job.status is JobStatus.PENDING
    so_far = len(library.index.held)
    assert 0 < so_far < 12
    job = library.work(answer.body["job_id"])
    assert job.status is JobStatus.COMPLETED
    assert job.result is not None
    assert job.result["documents"] < 12
    assert library.found(limit=100) == before


# ---------------------------------------------------------------- Reconciliation


def test_where_all_agrees_nothing_is_done(library: LibraryWorld) -> None:
    filled(library)
    held = dict(library.index.held)
    recorded()
    report = library.upkeep().reconcile(plenty)
    assert report.complete
    assert recorded() == {"documents_total": [12], "chunks_total": [12]}
    assert (report.documents, report.reindexed, report.lost, report.without_row) == (12, 0, [], [])
    assert library.index.held == held


def test_an_index_that_was_never_recorded_is_recorded_once(library: LibraryWorld) -> None:
    filled(library, 1)
    for _ in range(2):
        assert library.upkeep().reconcile(plenty).complete
        assert library.documents.indexes == 1


def test_chunks_that_are_missing_are_made_again(library: LibraryWorld) -> None:
    filled(library)
    for key in list(library.index.held)[:5]:
        del library.index.held[key]
    assert library.upkeep().reconcile(plenty).reindexed == 5
    assert len(library.found(limit=100)) == 12


def test_chunks_of_a_version_beyond_its_number_go(library: LibraryWorld) -> None:
    """Another way of cutting the same version leaves such chunks."""
    one, _ = filled(library, 2)
    before = dict(library.index.held)
    [chunk] = [each for each in before.values() if each.document_id == one]
    library.index.write([replace(chunk, index=number) for number in (1, 7)], plenty)
    assert library.upkeep().reconcile(plenty).reindexed == 1
    assert library.index.held == before
    assert library.upkeep().reconcile(plenty).reindexed == 0


def test_texts_and_rows_that_are_lost_are_named(library: LibraryWorld) -> None:
    made = filled(library)
    for each in made[:3]:
        document = library.documents.get(TENANT, each)
        assert document is not None
        library.contents.forget(document.content_key)
    for each in made[3:5]:
        library.documents.lose(TENANT, each)
    library.clock.advance(2 * content_limits.STRAY_SECONDS)
    report = library.upkeep().reconcile(plenty)
    assert sorted(report.lost) == sorted(f"{TENANT}/{each}" for each in made[:3])
    assert sorted(report.without_row) == sorted(f"{TENANT}/{each}" for each in made[3:5])
    assert report.removed_versions == 2
    assert len(library.found(limit=100)) == 10


def test_versions_that_were_never_committed_go_once_their_job_can_not_run_any_more(
    library: LibraryWorld,
) -> None:
    [identity] = filled(library, 1)
    stray = factories.indexed_chunk("silk", document_id=identity, version="000002-x")
    library.index.write([stray], plenty)
    library.index_upkeep.written_at["000002-x"] = library.clock()
    assert library.upkeep().reconcile(plenty).removed_versions == 0
    library.clock.advance(content_limits.STRAY_SECONDS + 1)
    assert library.upkeep().reconcile(plenty).removed_versions == 1
    assert stray.id not in library.index.held


# covers P-14
def test_a_deleted_document_is_gone_from_all_stores_after_thirty_days(
    library: LibraryWorld,
) -> None:
    kept, gone = filled(library, 2)
    library.send("DELETE", f"/{gone}")
    document = library.documents.get(TENANT, gone)
    assert document is not None
    library.clock.advance(29 * DAY)
    assert library.upkeep().reconcile(plenty).removed_documents == 0
    library.clock.advance(DAY + 1)
    assert library.upkeep().reconcile(plenty).removed_documents == 1
    assert library.documents.get(TENANT, gone) is None
    assert {each.document_id for each in library.index.held.values()} == {kept}
    body = UnusedBody(tenant=TENANT, key=document.content_key, since=library.clock())
    library.scan.unused.append(body)
    assert library.upkeep().reconcile(plenty).removed_bodies == 0
    library.clock.advance(DAY + 1)
    assert library.upkeep().reconcile(plenty).removed_bodies == 1
    assert not library.contents.exists(document.content_key)


def test_a_body_of_a_job_that_never_committed_goes_after_a_day(
    library: LibraryWorld, small_pages: None
) -> None:
    filled(library)
    bodies = {each.content_key for each in library.documents.all(TENANT)}
    orphans = [library.contents.put(TENANT, f"silk that failed {n}") for n in range(7)]
    assert library.upkeep().reconcile(plenty).removed_bodies == 0
    library.clock.advance(DAY + 60)
    library.contents.stored_at[orphans[0]] = library.clock()
    assert library.upkeep().reconcile(plenty).removed_bodies == 6
    assert [library.contents.exists(each) for each in orphans] == [True] + [False] * 6
    assert all(map(library.contents.exists, bodies))


def test_expired_leases_of_urls_without_a_document_are_removed(library: LibraryWorld) -> None:
    [stored] = filled(library, 1)
    now = library.clock()
    ends = {"doc_lost": now, "doc_fetched": now + timedelta(seconds=1), stored: now}
    for each, until in ends.items():
        lease = UrlLease(tenant=TENANT, document_id=each, holder="one", until=until)
        library.documents.take_url(lease, now - timedelta(seconds=60))
    library.upkeep().reconcile(plenty)
    assert {each for _, each in library.documents.leases} == {"doc_fetched", stored}


def test_parts_of_a_page_go_with_its_document(library: LibraryWorld) -> None:
    kept, gone = filled(library, 2)
    parts = FakePartStore(library.contents)
    keys = {each: parts.keep(TENANT, each, "{}") for each in (kept, gone)}
    library.send("DELETE", f"/{gone}")
    library.clock.advance(30 * DAY + 1)
    assert library.upkeep().reconcile(plenty).removed_documents == 1
    assert (parts.read(keys[kept]), parts.read(keys[gone])) == ("{}", None)


def test_parts_of_a_page_that_is_crawled_again_meanwhile_stay(library: LibraryWorld) -> None:
    recrawled, gone = filled(library, 2)
    parts = FakePartStore(library.contents)
    for identity in (recrawled, gone):
        library.send("DELETE", f"/{identity}")
    library.clock.advance(30 * DAY + 1)
    keys = [parts.keep(TENANT, each, "{}") for each in (recrawled, gone)]
    library.contents.stored_at[keys[1]] = library.clock()  # stored by a job that commits soon
    remove = library.documents.remove
    library.documents.remove = (  # type: ignore[method-assign]  # its row has been written since
        lambda document, now: document.id != recrawled and remove(document, now)
    )
    assert library.upkeep().reconcile(plenty).removed_documents == 1
    assert [parts.read(each) for each in keys] == ["{}", "{}"]


def test_parts_that_no_document_names_go_once_no_job_can_name_them(
    library: LibraryWorld, small_pages: None
) -> None:
    [identity] = filled(library, 1)
    store = FakePartStore(library.contents)
    named, late, *rest = [store.keep(TENANT, identity, f"[{n}]") for n in range(9)]
    row = library.documents.get(TENANT, identity)
    assert row is not None
    origin = Origin(asked="a", headers={}, media_type="text/html", parts_key=named)
    library.documents.commit(replace(row, sequence=row.sequence + 1, origin=origin), row)
    library.clock.advance(60 * DAY)  # 30 days of a deep crawl, and 30 more of its job's rows
    assert library.upkeep().reconcile(plenty).removed_parts == 0
    library.contents.stored_at[late] = library.clock()
    library.clock.advance(6 * DAY)
    report = library.upkeep().reconcile(plenty)
    assert (report.complete, report.removed_parts, report.removed_bodies) == (True, 7, 0)
    assert [store.read(each) for each in (named, late, *rest)] == ["[0]", "[1]", *[None] * 7]


def test_a_body_that_a_document_has_again_stays(library: LibraryWorld) -> None:
    [identity] = filled(library, 1)
    document = library.documents.get(TENANT, identity)
    assert document is not None
    body = UnusedBody(tenant=TENANT, key=document.content_key, since=START - timedelta(days=3))
    library.scan.unused.append(body)
    library.scan.forget_body = lambda _: False  # type: ignore[method-assign]  # counted again
    assert library.upkeep().reconcile(plenty).removed_bodies == 0
    assert library.contents.exists(document.content_key)


def test_reconciliation_goes_on_where_it_stopped(library: LibraryWorld, small_pages: None) -> None:
    filled(library)
    left = iter([1000.0, 1000.0, 10.0])
    first = library.upkeep().reconcile(lambda: next(left, 10.0))
    assert (first.complete, first.documents) == (False, 5)
    second = library.upkeep().reconcile(plenty)
    assert (second.complete, second.documents) == (True, 7)


def test_a_restored_document_is_never_removed(library: LibraryWorld) -> None:
    [identity] = filled(library, 1)
    library.send("DELETE", f"/{identity}")
    library.clock.advance(31 * DAY)
    remove = library.index.remove_others

    def restored_meanwhile(*given: object, **named: object) -> None:
        current = library.documents.get(TENANT, identity)
        assert current is not None
        again = replace(current, sequence=current.sequence + 1, deleted_at=None)
        library.documents.commit(again, current)
        remove(*given, **named)  # type: ignore[arg-type]  # same arguments

    library.index.remove_others = restored_meanwhile  # type: ignore[method-assign]  # in between
    assert library.upkeep().reconcile(plenty).removed_documents == 0
    library.index.remove_others = remove  # type: ignore[method-assign]  # restored
    library.upkeep().reconcile(plenty)
    assert library.found() == [identity]


# ---------------------------------------------------------------- Labels


def _relabel_that_is_never_committed(library: LibraryWorld, identity: str) -> None:
    current = library.documents.get(TENANT, identity)
    assert current is not None
    changed = replace(current, sequence=current.sequence + 1, collection_id="col_9")
    library.index.relabel(changed, plenty)


def _deletion_that_is_never_taken_back(library: LibraryWorld, identity: str) -> None:
    current = library.documents.get(TENANT, identity)
    assert current is not None
    library.index.relabel(replace(current, deleted_at=START), plenty)


@pytest.mark.parametrize(
    "drift", [_relabel_that_is_never_committed, _deletion_that_is_never_taken_back]
)
def test_chunks_get_the_labels_of_their_row_again(
    library: LibraryWorld, drift: Callable[[LibraryWorld, str], None]
) -> None:
    one, _ = filled(library, 2)
    before = dict(library.index.held)
    drift(library, one)
    assert library.index.held != before
    report = library.upkeep().reconcile(plenty)
    assert (report.relabelled, report.reindexed) == (1, 0)
    assert library.index.held == before
    assert library.upkeep().reconcile(plenty).relabelled == 0


def test_a_label_that_changes_while_its_document_is_written_anew_is_kept(
    library: LibraryWorld,
) -> None:
    [identity] = filled(library, 1)
    collection = library.collections.create(TENANT, "Kept", None).id
    write = library.index_upkeep.write

    def moved_meanwhile(*given: object) -> None:
        library.index_upkeep.write = write  # type: ignore[method-assign]  # once
        moved = library.send("PATCH", f"/{identity}", {"collection_id": collection})
        assert moved.status == 200
        write(*given)  # type: ignore[arg-type]  # same arguments

    library.index_upkeep.write = moved_meanwhile  # type: ignore[assignment, method-assign]  # see above
    assert library.rebuild().status is JobStatus.COMPLETED
    assert {each.labels.collection_id for each in library.index.held.values()} == {collection}


# ---------------------------------------------------------------- Clearing


def test_clearing_goes_on_where_it_stopped(library: LibraryWorld, small_pages: None) -> None:
    filled(library, 3)
    strays = [
        factories.indexed_chunk("silk", document_id=f"doc_never_{n:02}", version="000001-x")
        for n in range(20)
    ]
    library.index.write(strays, plenty)
    library.clock.advance(2 * content_limits.STRAY_SECONDS)
    removed, passes, rows = 0, 0, 0
    while not (report := library.upkeep().reconcile(_two_looks())).complete:
        removed, passes, rows = (
            removed + report.removed_versions,
            passes + 1,
            rows + report.documents,
        )
        assert passes < 20
    assert (removed + report.removed_versions, rows) == (20, 3)
    assert len(library.index.held) == 3


def _two_looks() -> Callable[[], float]:
    """Return a function of the time left, which ends after two pages of a scan."""
    left = iter([1000.0] * 3)  # the first is for the lock of the task
    return lambda: next(left, 10.0)


# ---------------------------------------------------------------- Another model


def _changed_model(library: LibraryWorld) -> None:
    """Change to a model that counts each character as a token, so that the chunks differ."""

    class Spelling(FakeEmbedder):
        def tokenize(self, text: str, remaining: Remaining) -> list[TokenSpan]:
            return [
                TokenSpan(start=n, end=n + 1) for n, each in enumerate(text) if not each.isspace()
            ]

    library.embedder = Spelling("another", max_input_tokens=102)
    library.index = library.index.of_another_model()
    library.index_upkeep = FakeIndexUpkeep(library.index)


@pytest.mark.parametrize(
    "how", [LibraryWorld.rebuild, lambda library: library.upkeep().reconcile(plenty)]
)
def test_after_a_change_of_the_model_rows_say_what_the_new_index_has(
    library: LibraryWorld, how: Callable[[LibraryWorld], object]
) -> None:
    long = library.stored("Spiders weave silk between two branches. " * 20).id
    short = library.stored("silk").id
    _changed_model(library)
    assert set(library.found(limit=100)) == {long, short}  # as long as the former index is read
    how(library)
    assert library.index.former is None
    for identity in (long, short):
        row = library.documents.get(TENANT, identity)
        assert row is not None
        chunks = [each for each in library.index.held.values() if each.document_id == identity]
        assert (row.chunk_count, row.embedding_model) == (len(chunks), "another")
        assert row.token_count == sum(each.token_count for each in chunks)
    assert len(library.index.held) > 5 + 1
    assert library.upkeep().reconcile(plenty).reindexed == 0


def test_a_former_model_s_index_stays_until_all_documents_are_in_the_new_one(
    library: LibraryWorld, small_pages: None
) -> None:
    filled(library)
    first = library.upkeep().reconcile(_two_looks())
    assert (first.complete, first.documents) == (False, 10)
    _changed_model(library)
    library.index.read_from = "second"
    library.index.held_by_target = {"second": {}}
    again = library.upkeep().reconcile(_two_looks())
    assert (again.complete, again.reindexed) == (False, 10)
    assert len(library.found(limit=100)) == 12
    while not library.upkeep().reconcile(plenty).complete:
        pass
    assert (len(library.index.held), library.index.former) == (12, None)


# ---------------------------------------------------------------- Drift


# covers P-14
@pytest.mark.parametrize("seed", sampled(range(3), quick=0, tested=1))
def test_what_was_lost_at_random_is_repaired_or_named(library: LibraryWorld, seed: int) -> None:
    """The test loses 50 index entries, 20 bodies and 20 rows of 120 documents of about 3 chunks."""
    random = Random(seed)
    made = {
        document.id: document
        for n in range(120)
        for document in [library.stored(f"Silk number {n} is strong. " * (10 * (1 + n % 5)))]
    }
    before = dict(library.index.held)
    chunks = random.sample(sorted(before), 50)
    bodies = set(random.sample(sorted(made), 20))
    rows = set(random.sample(sorted(made), 20))
    for each in chunks:
        del library.index.held[each]
    for each in bodies:
        library.contents.forget(made[each].content_key)
    for each in rows:
        library.documents.lose(TENANT, each)
    indexed = {each.document_id for each in library.index.held.values()}
    library.clock.advance(DAY + 60)

    report = library.upkeep().reconcile(plenty)

    maimed = {before[each].document_id for each in chunks}
    assert report.complete
    assert {each.removeprefix(f"{TENANT}/") for each in report.lost} == bodies - rows
    assert {each.removeprefix(f"{TENANT}/") for each in report.without_row} == rows & indexed
    assert report.reindexed == len(maimed - bodies - rows)
    beyond_repair = {each for each in chunks if before[each].document_id in bodies}
    assert library.index.held == {
        key: chunk
        for key, chunk in before.items()
        if chunk.document_id not in rows and key not in beyond_repair
    }
    again = library.upkeep().reconcile(plenty)
    assert (again.reindexed, again.relabelled, again.removed_versions, again.removed_bodies) == (
        0,
        0,
        0,
        0,
    )
    assert sorted(again.lost) == sorted(report.lost)
