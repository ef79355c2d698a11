"""A file of URLs: one job creates a crawl per line, reports, and ends with the last crawl."""

import json
from typing import Any

import pytest

from spinneret.content.documents.models import DocumentSource
from spinneret.content.search.models import Filters
from spinneret.crawl.configs.models import ConfigOptions
from spinneret.crawl.configs.service import ConfigDraft
from spinneret.crawl.inbox import limits
from spinneret.crawl.inbox.models import InboxFile
from spinneret.crawl.inbox.service import InboxIngest, InboxService
from spinneret.jobs.models import Job, JobRef, JobStatus, Transition
from spinneret.kernel import bounds
from spinneret.kernel.errors import NotFound
from tests import factories
from tests.fakes.crashes import Crash, CrashPlan, Moment
from tests.fakes.crawling import CrawlWorld, long_page
from tests.fakes.fetching import fetched_page
from tests.sampling import sampled, spread

TENANT = factories.TENANT


@pytest.fixture
def crawl() -> CrawlWorld:
    return CrawlWorld()


@pytest.fixture
def inbox(crawl: CrawlWorld) -> InboxService:
    return InboxService(
        store=crawl.inbox, jobs=crawl.job_service(), clock=crawl.clock, new_id=crawl.new_id
    )


def arrive(crawl: CrawlWorld, name: str, body: str | bytes) -> tuple[InboxFile, JobRef]:
    key = f"T/{TENANT}/inbox/inbox_1/{name}"
    version = crawl.inbox.put(key, body.encode() if isinstance(body, str) else body)
    return InboxFile.arrived(key, version), announce(crawl, key, version)


def announce(crawl: CrawlWorld, key: str, version: str) -> JobRef:
    job_id = InboxIngest(jobs=crawl.job_service())(key, version)
    assert job_id is not None
    return JobRef(tenant=TENANT, job_id=job_id)


def pages(crawl: CrawlWorld, count: int) -> list[str]:
    """Add pages of many hosts, so that none waits for another, and return their URLs."""
    urls = [f"https://site-{n}.example/page" for n in range(count)]
    for url in urls:
        crawl.pages[url] = fetched_page(url, long_page("silk", 20))
    return urls


def report(crawl: CrawlWorld, file: InboxFile) -> list[dict[str, Any]]:
    [body] = crawl.inbox.reports(file)
    return [json.loads(line) for line in body.splitlines()]


def children(crawl: CrawlWorld, ref: JobRef) -> list[Job]:
    found = crawl.store.children(ref, list(JobStatus), None, 10_000)
    return [crawl.job(each) for each in found.items]


# covers C-09
def test_each_line_has_its_crawl_and_its_line_in_the_report(crawl: CrawlWorld) -> None:
    urls = pages(crawl, 50)
    file, ref = arrive(crawl, "list.txt", "\n".join(["# pages", *urls]))
    assert crawl.settle(ref).status is JobStatus.COMPLETED
    lines = report(crawl, file)
    assert [(each["line"], each["url"]) for each in lines] == list(enumerate(urls, start=2))
    assert {each["job_id"] for each in lines} == {job.id for job in children(crawl, ref)}
    assert all(job.status is JobStatus.COMPLETED for job in children(crawl, ref))


# covers C-09
def test_bad_lines_and_duplicates_are_reported_with_their_reasons(crawl: CrawlWorld) -> None:
    [page] = pages(crawl, 1)
    lines = [
        {"url": page},
        {"url": page},
        {"url": "http://10.0.0.1/"},
        {"url": page, "collection_id": "nowhere"},
        {"url": "ftp://site.example/"},
        {"url": page, "force": True},
    ]
    file, ref = arrive(crawl, "list.jsonl", "\n".join(["{", *map(json.dumps, lines)]))
    assert crawl.settle(ref).status is JobStatus.COMPLETED
    broken, first, again, blocked, nowhere, invalid, forced = report(crawl, file)
    assert (first["duplicate"], again["duplicate"], forced["duplicate"]) == (False, True, False)
    assert again["job_id"] == first["job_id"] != forced["job_id"]
    codes = [each["error"]["code"] for each in (broken, blocked, nowhere, invalid)]
    assert codes == ["VALIDATION_ERROR", "URL_BLOCKED", "NOT_FOUND", "URL_INVALID"]


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("list.txt", "{page} # home"),
        ("list.csv", "# home"),
        ("list.jsonl", '{{"url": "{page} # home"}}'),
    ],
)
def test_a_comment_where_none_may_be_is_refused_with_the_rule(
    crawl: CrawlWorld, name: str, line: str
) -> None:
    [page] = pages(crawl, 1)
    first = "url\n" if name.endswith("csv") else ""
    file, ref = arrive(crawl, name, first + line.format(page=page))
    crawl.settle(ref)
    [refused] = report(crawl, file)
    assert refused["error"]["code"] == "URL_INVALID"
    assert "begins with #" in refused["error"]["error"]


def test_a_fragment_is_part_of_its_url(crawl: CrawlWorld) -> None:
    [page] = pages(crawl, 1)
    file, ref = arrive(crawl, "list.txt", f"  # pages\n{page}#silk")
    crawl.settle(ref)
    [only] = report(crawl, file)
    assert (only["line"], only["url"]) == (2, f"{page}#silk")
    assert [job.payload["url"] for job in children(crawl, ref)] == [page]


def test_options_of_a_line_are_those_of_its_crawl(crawl: CrawlWorld) -> None:
    [page] = pages(crawl, 1)
    line = {"url": page, "priority": "high", "tags": ["Silk"]}
    _, ref = arrive(crawl, "list.jsonl", json.dumps(line))
    crawl.run(ref)
    [child] = children(crawl, ref)
    assert child.priority == "high"
    assert child.payload["tag_ids"] == list(crawl.tag_ids(TENANT, ["silk"]))


def test_lines_of_one_page_give_it_the_tags_of_all(crawl: CrawlWorld) -> None:
    first, second = pages(crawl, 2)
    under_way = crawl.submit(second, TENANT, tags=("a",))
    lines = [{"url": each, "tags": [tag]} for each in (first, second) for tag in "bc"]
    _, ref = arrive(crawl, "list.jsonl", "\n".join(map(json.dumps, lines)))
    crawl.settle(ref)
    crawl.settle(under_way)
    tags = {each.url: set(each.tag_ids) for each in crawl.documents.all(TENANT)}
    assert tags[first] == set(crawl.tag_ids(TENANT, ["b", "c"]))
    assert tags[second] == set(crawl.tag_ids(TENANT, ["a", "b", "c"]))


def test_documents_of_a_file_are_found_by_their_source(crawl: CrawlWorld) -> None:
    listed, other = pages(crawl, 2)
    _, ref = arrive(crawl, "list.txt", listed)
    crawl.settle(ref)
    crawl.settle(crawl.submit(other, TENANT))
    sources = {each.url: each.source for each in crawl.documents.all(TENANT)}
    assert sources == {listed: DocumentSource.S3, other: DocumentSource.CRAWL}
    found = crawl.search("silk", TENANT, Filters(sources=(DocumentSource.S3,)))
    assert {hit.chunk.url for hit in found} == {listed}


def test_a_line_whose_config_goes_deeper_than_its_page_is_refused(crawl: CrawlWorld) -> None:
    [page] = pages(crawl, 1)
    draft = ConfigDraft(name="deep", options=ConfigOptions(max_depth=1))
    config = crawl.configs.service.create(TENANT, draft)
    lines = [{"url": page, "config_id": config.id}, {"url": page}]
    file, ref = arrive(crawl, "list.jsonl", "\n".join(map(json.dumps, lines)))
    assert crawl.settle(ref).status is JobStatus.COMPLETED
    refused, accepted = report(crawl, file)
    assert refused["error"]["code"] == "VALIDATION_ERROR"
    assert [each["path"] for each in refused["error"]["details"]["fields"]] == ["config_id"]
    assert "job_id" in accepted


def test_a_line_that_the_stage_can_no_longer_render_is_refused(crawl: CrawlWorld) -> None:
    [page] = pages(crawl, 1)
    config = crawl.configs.service.create(
        TENANT, ConfigDraft(name="rendered", options=ConfigOptions(render=True))
    )
    crawl.configs.service.has_browser = False
    lines = [{"url": page, "config_id": config.id}, {"url": page}]
    file, ref = arrive(crawl, "list.jsonl", "\n".join(map(json.dumps, lines)))
    assert crawl.settle(ref).status is JobStatus.COMPLETED
    refused, accepted = report(crawl, file)
    assert refused["error"]["code"] == "DEPENDENCY_UNAVAILABLE"
    assert "job_id" in accepted


def test_the_same_version_twice_is_one_job(crawl: CrawlWorld) -> None:
    file, ref = arrive(crawl, "list.txt", "http://10.0.0.1/")
    assert announce(crawl, file.key, file.version) == ref
    crawl.settle(ref)
    assert announce(crawl, file.key, file.version) == ref
    other, again = arrive(crawl, "list.txt", "http://10.0.0.2/")
    assert (other.key, again != ref) == (file.key, True)


@pytest.mark.parametrize(
    "key",
    [
        "T/acme/inbox/inbox_1/list.txt.report.ndjson",
        "T/acme/other/list.txt",
        "parts/T/acme/job_1/list.txt",
        "T/ac me/inbox/list.txt",
        "list.txt",
    ],
)
def test_other_objects_start_nothing(crawl: CrawlWorld, key: str) -> None:
    assert InboxIngest(jobs=crawl.job_service())(key, "v1") is None


@pytest.mark.parametrize(
    ("name", "body", "code"),
    [
        ("list.txt", b"\x89PNG\x00", "CONTENT_REFUSED"),
        ("list.csv", b"name,size\nOne,2\n", "CONTENT_REFUSED"),
        ("list.txt", None, "NOT_FOUND"),
        ("ü" * 500 + ".txt", b"https://site.example/", "CONTENT_REFUSED"),
    ],
)
def test_a_file_that_cannot_be_read_fails_its_job(
    crawl: CrawlWorld, name: str, body: bytes | None, code: str
) -> None:
    file, ref = arrive(crawl, name, body or b"")
    if body is None:
        crawl.inbox.remove(file)
    job = crawl.settle(ref)
    assert job.status is JobStatus.FAILED
    assert job.last_error is not None
    assert job.last_error.code == code
    assert children(crawl, ref) == []


def test_a_file_that_is_too_large_fails_its_job(
    crawl: CrawlWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "INBOX_MAX_BYTES", 10)
    _, ref = arrive(crawl, "list.txt", "https://site.example/")
    failure = crawl.settle(ref).last_error
    assert failure is not None
    assert failure.code == "BODY_TOO_LARGE"


def test_an_empty_file_ends_at_once_with_an_empty_report(crawl: CrawlWorld) -> None:
    file, ref = arrive(crawl, "list.csv", "")
    assert crawl.settle(ref).status is JobStatus.COMPLETED
    assert report(crawl, file) == []


def test_lines_beyond_the_bound_are_not_read(
    crawl: CrawlWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "INBOX_LINES_MAX", 3)
    urls = pages(crawl, 6)
    file, ref = arrive(crawl, "list.txt", "\n".join(urls))
    crawl.settle(ref)
    lines = report(crawl, file)
    assert [each["line"] for each in lines] == [1, 2, 3, 4]
    assert lines[-1]["error"]["code"] == "VALIDATION_ERROR"
    assert len(children(crawl, ref)) == 3


LINES = "\n".join(
    [f"https://site-{n % 40}.example/page" for n in range(45)] + ["http://10.0.0.1/"] * 25
)


def crashes() -> list[tuple[int, Moment]]:
    crawl = CrawlWorld()
    _, ref = arrive(crawl, "list.txt", LINES)
    plan = CrashPlan()
    crawl.run(ref, plan.wrap)
    return plan.points()


@pytest.mark.parametrize("point", sampled(spread(crashes(), 15), quick=0, tested=15), ids=str)
def test_a_kill_at_any_call_loses_and_doubles_nothing(
    crawl: CrawlWorld, point: tuple[int, Moment]
) -> None:
    pages(crawl, 40)
    file, ref = arrive(crawl, "list.txt", LINES)
    plan = CrashPlan(*point)
    with pytest.raises(Crash):
        crawl.run(ref, plan.wrap)
    crawl.settle(ref)
    lines = report(crawl, file)
    assert [each["line"] for each in lines] == list(range(1, 71))
    assert {each["job_id"] for each in lines[:45]} == {job.id for job in children(crawl, ref)}
    assert len(children(crawl, ref)) == 40
    assert len(crawl.inbox.reports(file)) == 1


def test_a_hand_back_goes_on_where_it_was(crawl: CrawlWorld) -> None:
    """Each slice of the file runs under its own claim."""
    pages(crawl, 40)
    file, ref = arrive(crawl, "list.txt", LINES)
    worker = crawl.worker()
    for _ in range(20):
        left = iter([60.0] * 4)
        worker.run(ref, lambda left=left: next(left, 0.0))
    crawl.settle(ref)
    lines = report(crawl, file)
    assert [each["line"] for each in lines] == list(range(1, 71))
    assert {each["job_id"] for each in lines[:45]} == {job.id for job in children(crawl, ref)}


def test_a_form_is_for_a_file_below_the_tenants_prefix(inbox: InboxService) -> None:
    inbox_id, form = inbox.begin(TENANT, "list.txt")
    assert form.fields["key"] == form.key == f"T/{TENANT}/inbox/{inbox_id}/list.txt"
    assert InboxFile.arrived(form.key, "v1").tenant == TENANT


def test_a_file_shows_its_report_when_all_its_lines_are_read(
    crawl: CrawlWorld, inbox: InboxService
) -> None:
    pages(crawl, 1)
    file, ref = arrive(crawl, "list.txt", "https://site-0.example/page")
    assert inbox.get(TENANT, ref.job_id).report_url is None
    crawl.run(ref)
    view = inbox.get(TENANT, ref.job_id)
    assert (view.name, view.total_count, view.status) == ("list.txt", 1, JobStatus.RUNNING)
    assert view.report_url is not None
    assert file.report_key in view.report_url
    with pytest.raises(NotFound):
        inbox.get("other", ref.job_id)


def begun(inbox: InboxService, name: str = "list.txt") -> tuple[JobRef, str]:
    """Create a form for an upload; return its job and the key to which it uploads."""
    job_id, form = inbox.begin(TENANT, name)
    return JobRef(tenant=TENANT, job_id=job_id), form.key


# covers C-09
def test_a_form_s_job_waits_for_its_file_from_the_first_moment(
    crawl: CrawlWorld, inbox: InboxService
) -> None:
    ref, key = begun(inbox)
    view = inbox.get(TENANT, ref.job_id)
    assert (view.status, view.waiting_for, view.name) == ("pending", "upload", "list.txt")
    assert (view.total_count, view.report_url) == (0, None)
    assert crawl.queue.take() == []
    [page] = pages(crawl, 1)
    version = crawl.inbox.put(key, page.encode())
    assert announce(crawl, key, version) == ref
    assert announce(crawl, key, version) == ref  # a duplicate event
    assert crawl.settle(ref).status is JobStatus.COMPLETED
    view = inbox.get(TENANT, ref.job_id)
    assert (view.completed_count, view.waiting_for) == (1, None)
    assert [event.message for event in crawl.store.events(ref, None, 3)][:2] == ["pending"] * 2


def test_another_file_of_the_same_form_has_a_job_of_its_own(
    crawl: CrawlWorld, inbox: InboxService
) -> None:
    ref, key = begun(inbox)
    first, second = (crawl.inbox.put(key, b"x") for _ in range(2))
    assert announce(crawl, key, first) == ref
    other = announce(crawl, key, second)
    assert other != ref
    assert announce(crawl, key, second) == other
    assert crawl.job(other).payload["version"] == second


def test_a_form_without_a_file_fails_its_job_after_an_hour(
    crawl: CrawlWorld, inbox: InboxService
) -> None:
    ref, key = begun(inbox)
    crawl.clock.advance(limits.INBOX_ARRIVAL_SECONDS - 60)
    crawl.sweeper().sweep()
    assert crawl.job(ref).status is JobStatus.PENDING
    job = crawl.settle(ref)
    assert job.last_error is not None
    assert (job.status, job.last_error.code) == (JobStatus.FAILED, "NOT_FOUND")
    assert announce(crawl, key, crawl.inbox.put(key, b"x")) != ref  # a late file gets a new job


def test_a_cancelled_form_s_file_is_not_crawled(crawl: CrawlWorld, inbox: InboxService) -> None:
    ref, key = begun(inbox)
    crawl.control().move(ref, Transition.CANCEL)
    assert announce(crawl, key, crawl.inbox.put(key, b"x")) == ref
    assert crawl.job(ref).status is JobStatus.CANCELLED
    assert crawl.queue.take() == []


def test_a_paused_form_s_file_is_crawled_after_the_resume(
    crawl: CrawlWorld, inbox: InboxService
) -> None:
    [page] = pages(crawl, 1)
    ref, key = begun(inbox)
    crawl.control().move(ref, Transition.PAUSE)
    announce(crawl, key, crawl.inbox.put(key, page.encode()))
    assert (crawl.job(ref).status, crawl.queue.take()) == (JobStatus.PAUSED, [])
    crawl.control().move(ref, Transition.RESUME)
    assert crawl.settle(ref).status is JobStatus.COMPLETED


def test_a_form_that_is_resumed_before_its_file_waits_on(
    crawl: CrawlWorld, inbox: InboxService
) -> None:
    ref, key = begun(inbox)
    for move in (Transition.PAUSE, Transition.RESUME):
        crawl.control().move(ref, move)
    job = crawl.run(ref)
    assert (job.status, job.waiting_for) == (JobStatus.PENDING, "upload")
    [page] = pages(crawl, 1)
    announce(crawl, key, crawl.inbox.put(key, page.encode()))
    assert crawl.settle(ref).status is JobStatus.COMPLETED
