"""Contract tests of job stores for the pages of a tenant's jobs (P-16)."""

from itertools import count, islice
from typing import Any

import pytest

from spinneret.jobs import rules
from spinneret.jobs.models import Job, JobFilter, JobStatus
from spinneret.jobs.ports import JobStore
from spinneret.kernel.errors import FetchTimeout, NotFound
from spinneret.kernel.ids import id_maker
from tests import factories
from tests.contract.backends import OF_AWS
from tests.contract.stored_jobs import SECOND, claimed, submit
from tests.fakes.time import START

pytestmark = OF_AWS

ALL = JobFilter()
PAGES_MAX = 50


def numbered(tenant: str, **given: Any) -> list[Job]:
    """Return seven jobs whose ids are in order of time."""
    return [factories.job(tenant=tenant, id=f"job_{n:03d}", **given) for n in range(7)]


def walk(store: JobStore, tenant: str, wanted: JobFilter, limit: int) -> list[Job]:
    """Return the jobs of all pages."""
    found: list[Job] = []
    after: str | None = None
    for _ in range(PAGES_MAX):
        page = store.page(tenant, wanted, after, limit)
        assert len(page.items) <= limit
        found += page.items
        after = page.after
        if after is None:
            return found
    raise AssertionError("the pages don't end")


# covers P-16
@pytest.mark.parametrize("limit", [1, 2, 3, 6, 7, 8, 100])
def test_pages_show_every_job_once_the_newest_first(
    store: JobStore, tenant: str, limit: int
) -> None:
    jobs = numbered(tenant)
    submit(store, *jobs)
    assert walk(store, tenant, ALL, limit) == jobs[::-1]


# covers P-16
@pytest.mark.parametrize("limit", [1, 2, 5])
def test_a_batch_of_publications_is_listed_by_its_time(
    store: JobStore, tenant: str, limit: int
) -> None:
    moments = [START + SECOND * n for n in range(5)]
    ids = [id_maker(lambda moment=moment: moment)("job") for moment in moments]
    ids[1], ids[3] = "update_20260102T120001_0", "publish_20260102T120003_0"
    made = zip(ids, moments, strict=True)
    jobs = [factories.job(tenant=tenant, id=name, created_at=moment) for name, moment in made]
    submit(store, *jobs)
    assert walk(store, tenant, ALL, limit) == jobs[::-1]


def test_a_tenant_without_jobs_has_an_empty_page(store: JobStore, tenant: str) -> None:
    submit(store, *numbered(f"{tenant}x"))
    page = store.page(tenant, ALL, None, 10)
    assert (page.items, page.after) == ((), None)


# covers P-16
def test_jobs_that_are_added_meanwhile_neither_shift_nor_double_the_rest(
    store: JobStore, tenant: str
) -> None:
    jobs = numbered(tenant)
    submit(store, *jobs)
    first = store.page(tenant, ALL, None, 3)
    submit(store, factories.job(tenant=tenant, id="job_999"))
    second = store.page(tenant, ALL, first.after, 3)
    third = store.page(tenant, ALL, second.after, 3)
    assert [*first.items, *second.items, *third.items] == jobs[::-1]


@pytest.mark.parametrize(
    ("wanted", "numbers"),
    [
        (JobFilter(kind="audit"), [6, 0]),
        (JobFilter(domain="b.example"), [5, 1]),
        (JobFilter(batch="batch_1"), [4, 2]),
        (JobFilter(kind="audit", domain="b.example"), []),
        (JobFilter(status=JobStatus.RUNNING), [3]),
        (JobFilter(status=JobStatus.PENDING, kind="crawl", domain="b.example"), [5, 1]),
    ],
)
def test_filters_leave_only_what_matches(
    store: JobStore, tenant: str, wanted: JobFilter, numbers: list[int]
) -> None:
    given = [
        {"kind": "audit"},
        {"domain": "b.example"},
        {"batch": "batch_1"},
        {"status": JobStatus.RUNNING},
        {"batch": "batch_1"},
        {"domain": "b.example"},
        {"kind": "audit"},
    ]
    jobs = [factories.job(tenant=tenant, id=f"job_{n:03d}", **each) for n, each in enumerate(given)]
    submit(store, *jobs)
    for limit in (1, 10):
        assert walk(store, tenant, wanted, limit) == [jobs[n] for n in numbers]


def test_a_list_shows_the_job_as_it_stands(store: JobStore, tenant: str) -> None:
    before = claimed(store, tenant)
    done = rules.complete(before, {"n": 1}, START + SECOND)
    store.transition(before, done)
    assert walk(store, tenant, ALL, 10) == [done]
    assert walk(store, tenant, JobFilter(status=JobStatus.RUNNING), 10) == []


# covers P-08
def test_the_list_of_troubled_jobs_holds_failures_and_redrives_only(
    store: JobStore, tenant: str
) -> None:
    running = [claimed(store, tenant, max_attempts=1, max_redrives=1) for _ in range(3)]
    failed = rules.after_error(running[0], NotFound("gone"), START + SECOND, 0.5)
    waiting = rules.after_error(running[1], FetchTimeout("slow"), START + SECOND, 0.5)
    done = rules.complete(running[2], {}, START + SECOND)
    for before, after in zip(running, (failed, waiting, done), strict=True):
        store.transition(before, after)
    expected = sorted([failed, waiting], key=lambda job: job.id, reverse=True)
    assert walk(store, tenant, JobFilter(troubled=True), 1) == expected
    again = rules.retry(failed, START + 2 * SECOND)
    store.transition(failed, again)
    store.claim(waiting.ref, "two", waiting.due_at, waiting.due_at + SECOND)
    assert walk(store, tenant, JobFilter(troubled=True), 1) == []


@pytest.mark.parametrize("value", ["", "x" * 2000, "\u00fc", "~~", "#"])
def test_a_filter_of_any_form_matches_nothing(store: JobStore, tenant: str, value: str) -> None:
    submit(store, *numbered(tenant))
    for wanted in (JobFilter(kind=value), JobFilter(domain=value), JobFilter(batch=value)):
        assert walk(store, tenant, wanted, 10) == []


def test_the_position_of_another_tenant_s_list_leads_to_the_own_jobs_only(
    store: JobStore, tenant: str
) -> None:
    own, foreign = numbered(tenant), numbered(f"{tenant}x")
    submit(store, *own)
    submit(store, *foreign)
    for wanted in (ALL, JobFilter(troubled=True)):
        page = store.page(f"{tenant}x", wanted, own[3].id, 10)
        assert {job.tenant for job in page.items} <= {f"{tenant}x"}
    assert store.page(f"{tenant}x", ALL, own[3].id, 10).items == tuple(foreign[2::-1])


def test_a_page_reads_a_bounded_number_of_rows_however_rare_the_match(
    store: JobStore, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spinneret.kernel.bounds.LIST_READ", 2)
    monkeypatch.setattr("spinneret.kernel.bounds.LIST_READS", 2)
    ids = (f"job_{n:03d}" for n in count())
    jobs = [factories.job(tenant=tenant, id=each) for each in islice(ids, 9)]
    rare = factories.job(tenant=tenant, id="job_000a", kind="audit")
    submit(store, rare, *jobs)
    assert walk(store, tenant, JobFilter(kind="audit"), 5) == [rare]
