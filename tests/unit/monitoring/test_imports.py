"""Imports: each line of a file, or page of a sitemap, becomes a target."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from spinneret.jobs.leases import Remaining
from spinneret.jobs.models import JobRef, JobStatus
from spinneret.jobs.rules import TERMINAL
from spinneret.jobs.service import JobService
from spinneret.jobs.worker import Worker
from spinneret.kernel.errors import ValidationFailed
from spinneret.monitoring.imports import rules
from spinneret.monitoring.imports.pipeline import TargetImport
from spinneret.monitoring.imports.service import ImportService
from spinneret.monitoring.kinds import KINDS, TARGET_IMPORT
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.polite_fetcher import PoliteFetcher
from spinneret.web.politeness.robots_gate import RobotsGate
from tests.fakes.checking import CheckWorld, target_service
from tests.fakes.fetching import FakeFetcher, fetched_page
from tests.fakes.imports import FakeImportStore
from tests.fakes.jobs import FakeJobQueue, FakeJobStore
from tests.fakes.politeness import FakeProgressStore, FakeRobotsStore
from tests.fakes.proxies import Proxies
from tests.fakes.time import plenty
from tests.rows import each_row
from tests.sampling import sampled
from tests.unit.served import Served
from watch import imports_routes

SITEMAP = "https://site.example/sitemap.xml"


class ImportWorld:
    """Route, job and worker over fakes, which are attributes."""

    def __init__(self) -> None:
        self.world = CheckWorld()
        self.clock = self.world.clock
        self.store = FakeJobStore()
        self.imports = FakeImportStore(self.store, self.world.watch)
        self.progress = FakeProgressStore()
        self.robots = FakeRobotsStore()
        self.proxies: Proxies | None = None
        self.fetched: list[str] = []
        self.pages: dict[str, Any] = {}
        numbers = itertools.count(1)
        self.queue = FakeJobQueue()
        jobs = JobService(
            store=self.store,
            queue=self.queue,
            kinds=KINDS,
            clock=self.clock,
            new_id=lambda prefix: f"{prefix}_{next(numbers)}",
        )
        service = ImportService(jobs=jobs, policy=AddressPolicy(), shortest_interval=60)
        self.served = Served(imports_routes.routes.router, service)

    def submit(self, **body: Any) -> JobRef:
        answer = self.served.send("POST", "/v1/targets/import", body)
        assert answer.status == 202, answer.body
        return JobRef(tenant="acme", job_id=answer.body["job_id"])

    def run(self, ref: JobRef, remaining: Remaining = plenty) -> Any:
        proxies = self.proxies = self.proxies or Proxies(self.clock, self.pages)
        direct = FakeFetcher(self.pages)
        direct.hops = self.fetched
        fetcher = PoliteFetcher(
            fetcher=proxies.fetcher(direct),
            hosts=proxies.hosts.service,
            pace=proxies.hosts.pace,
            robots=RobotsGate(store=self.robots, product_token="Spinneret", clock=self.clock),
            progress=self.progress,
            clock=self.clock,
            sleep=self.clock.advance,
        )
        handler = TargetImport(
            targets=self.world.targets,
            store=self.imports,
            fetcher=fetcher,
            clock=self.clock,
            default_interval=15,
        )
        worker = Worker(
            store=self.store,
            queue=self.queue,
            kinds=KINDS,
            handlers={TARGET_IMPORT: handler},
            clock=self.clock,
            random=lambda: 0.5,
            new_owner=lambda: "owner",
        )
        worker.run(ref, remaining)
        return self.store.get(ref)

    def imported(self, **body: Any) -> list[tuple[Any, ...]]:
        """Run an import; return each line's number, outcome and error."""
        job = self.run(self.submit(**body))
        assert job.status is JobStatus.COMPLETED, job.error
        return [
            (each["line"], each["outcome"], each.get("error", "")) for each in job.result["lines"]
        ]


@pytest.fixture
def imports() -> ImportWorld:
    return ImportWorld()


def test_an_interval_below_the_stages_shortest_is_refused_at_submission(
    imports: ImportWorld,
) -> None:
    body = {"sitemap_url": "https://a.example/sitemap.xml", "options": {"interval_seconds": 30}}
    answer = imports.served.send("POST", "/v1/targets/import", body)
    assert answer.status == 422
    assert [each["path"] for each in answer.body["details"]["fields"]] == [
        "options.interval_seconds"
    ]
    assert imports.queue.sent == []


def urls(imports: ImportWorld) -> list[str]:
    found = imports.world.watch.page("acme", None, None, 1000).items
    return [each.target.canonical_url for each in found]


def test_lines_beyond_what_a_tenant_may_have_are_refused_by_name(imports: ImportWorld) -> None:
    imports.world.targets = target_service(imports.world, most=2)
    csv = "url\n" + "".join(f"https://site.example/{name}\n" for name in ("a", "b", "c", "a"))
    assert imports.imported(csv=csv) == [
        (2, "created", ""),
        (3, "created", ""),
        (4, "refused", "a tenant has at most 2 targets"),
        (5, "exists", ""),
    ]


def test_each_line_of_a_file_has_an_outcome(imports: ImportWorld) -> None:
    imports.world.target("https://site.example/known")
    csv = (
        "URL,Name,interval_seconds,public\r\n"
        "https://site.example/a,Ä,60,true\r\n"
        "\r\n"
        "https://site.example/known,,,\r\n"
        "ftp://site.example/,,,\r\n"
        "http://127.0.0.1/,,,\r\n"
        "https://site.example/b,,soon,\r\n"
        '"https://site.example/c","a,b",,\r\n'
        ",nameless,,\r\n"
        "https://site.example/d,,,,more\r\n"
    )
    lines = imports.imported(csv=csv)
    assert [(number, outcome) for number, outcome, _ in lines] == [
        (2, "created"),
        (4, "exists"),
        (5, "refused"),
        (6, "refused"),
        (7, "refused"),
        (8, "created"),
        (9, "refused"),
        (10, "refused"),
    ]
    assert [told for _, _, told in (lines[4], *lines[6:])] == [
        "interval_seconds must be a whole number",
        "url is required for a target of kind http",
        "has 5 cells for 4 columns",
    ]
    first = imports.world.watch.page("acme", None, None, 9).items[1].target
    assert (first.options.name, first.options.interval_seconds, first.options.public) == (
        "Ä",
        60,
        True,
    )
    assert urls(imports)[1:] == ["https://site.example/a", "https://site.example/c"]


@pytest.mark.parametrize(
    "csv", ["url,,\nhttps://a.example/,,\n", "https://a.example/,\n", "url\rhttps://a.example/\r"]
)
def test_a_spreadsheets_commas_and_line_ends_are_no_fault(csv: str) -> None:
    assert [each.values for each in rules.lines_of(csv)] == [{"url": "https://a.example/"}]


def test_a_file_of_urls_needs_no_columns(imports: ImportWorld) -> None:
    lines = imports.imported(csv="\ufeffhttps://site.example/a\nhttps://site.example/b\n")
    assert lines == [(1, "created", ""), (2, "created", "")]


REFUSED = [
    ("empty", "\n\n"),
    ("no url column", "name,interval_seconds\na,15\n"),
    ("an unknown column", "url,colour\nhttps://a.example,red\n"),
    ("a column twice", "url,url\na,b\n"),
    ("too long", "url\n" + "https://a.example\n" * 501),
    ("an open quote", 'url\n"https://a.example\n'),
]


@each_row(REFUSED)
def test_what_is_no_file_of_targets_is_refused(text: str) -> None:
    with pytest.raises(ValidationFailed):
        rules.lines_of(text)


def test_a_file_that_cannot_be_read_makes_no_job(imports: ImportWorld) -> None:
    for body in (
        {"csv": "name\na,b\n"},
        {},
        {"csv": "https://a.example", "sitemap_url": SITEMAP},
        {"csv": "https://a.example", "options": {"public": True}},
    ):
        assert imports.served.send("POST", "/v1/targets/import", body).status == 422
    answer = imports.served.send("POST", "/v1/targets/import", {"sitemap_url": "http://10.0.0.1/"})
    assert answer.status == 403
    assert answer.body["details"]["fields"][0]["path"] == "sitemap_url"


def sitemap(*locations: str, kind: str = "urlset", entry: str = "url") -> str:
    listed = "".join(f"<{entry}><loc>{each}</loc></{entry}>" for each in locations)
    return f'<?xml version="1.0"?><{kind} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{listed}</{kind}>'


def test_a_sitemap_and_the_files_that_it_names_are_targets(imports: ImportWorld) -> None:
    site = "https://site.example"
    index = sitemap(f"{site}/1.xml", f"{site}/2.xml", kind="sitemapindex", entry="sitemap")
    imports.pages = {
        SITEMAP: fetched_page(SITEMAP, index, media_type="application/xml"),
        f"{site}/1.xml": fetched_page(f"{site}/1.xml", sitemap(f"{site}/a", f"{site}/b")),
        f"{site}/2.xml": fetched_page(f"{site}/2.xml", sitemap(f"{site}/b", f"{site}/c")),
    }
    lines = imports.imported(sitemap_url=SITEMAP, options={"interval_seconds": 300})
    assert [outcome for _, outcome, _ in lines] == ["created"] * 3
    assert urls(imports) == [f"{site}/a", f"{site}/b", f"{site}/c"]
    found = imports.world.watch.page("acme", None, None, 9).items
    assert {each.target.options.interval_seconds for each in found} == {300}


def test_a_sitemap_is_cut_at_the_limit(imports: ImportWorld) -> None:
    listed = sitemap(*(f"https://site.example/{number}" for number in range(9)))
    imports.pages = {SITEMAP: fetched_page(SITEMAP, listed)}
    assert len(imports.imported(sitemap_url=SITEMAP, limit=4)) == 4


def test_a_line_that_repeats_another_names_its_target(imports: ImportWorld) -> None:
    csv = "https://site.example/a\nHTTPS://site.example/a#top\n"
    job = imports.run(imports.submit(csv=csv))
    first, second = job.result["lines"]
    assert (first["outcome"], second["outcome"]) == ("created", "exists")
    assert first["target_id"] == second["target_id"]


def test_targets_that_others_create_meanwhile_exist(imports: ImportWorld) -> None:
    ref = imports.submit(csv="https://site.example/a\nhttps://site.example/b\n")

    def create_another() -> None:
        imports.imports.before = lambda: None
        imports.world.target("https://site.example/b")

    imports.imports.before = create_another
    job = imports.run(ref)
    assert [each["outcome"] for each in job.result["lines"]] == ["created", "exists"]


LINES = 500
FILE = "url\n" + "".join(f"https://site.example/{number}\n" for number in range(LINES))


@pytest.mark.parametrize("moment", sampled(["after", "before"]))
@pytest.mark.parametrize("kills", sampled([(5, 25), (1, 1), (1, 2), (20, 1), (32,)]))
@pytest.mark.heavy
def test_a_killed_import_continues_behind_what_it_stored(
    imports: ImportWorld, moment: str, kills: tuple[int, ...]
) -> None:
    """Attempts are killed before or after one of their writes; a job has three attempts."""
    ref = imports.submit(csv=FILE)
    for kill in kills:
        setattr(imports.imports, moment, dying_at(kill))
        with pytest.raises(KeyboardInterrupt):
            imports.run(ref)
        imports.clock.advance(1000)
    setattr(imports.imports, moment, lambda: None)
    job = imports.run(ref)
    assert job.status is JobStatus.COMPLETED, job.last_error
    assert [each["line"] for each in job.result["lines"]] == list(range(2, LINES + 2))
    assert {each["outcome"] for each in job.result["lines"]} == {"created"}
    assert len(urls(imports)) == len(set(urls(imports))) == LINES
    positions = [first for first, _ in imports.imports.slices]
    assert positions == sorted(set(positions)), "no line is done twice"


def dying_at(call: int) -> Callable[[], None]:
    """Return a function that kills the process when it is called for the `call`-th time."""
    calls = itertools.count(1)

    def die() -> None:
        if next(calls) == call:
            raise KeyboardInterrupt

    return die


@pytest.mark.heavy
def test_an_import_whose_invocations_are_short_goes_on_where_it_was(imports: ImportWorld) -> None:
    ref = imports.submit(csv=FILE)
    for _ in range(LINES):
        calls = itertools.count(1)
        imports.run(ref, lambda calls=calls: 100.0 if next(calls) <= 6 else 0.0)
        if imports.store.get(ref).status in TERMINAL:
            break
    job = imports.store.get(ref)
    assert (job.status, job.result["created"]) == (JobStatus.COMPLETED, LINES)
    positions = [first for first, _ in imports.imports.slices]
    assert positions == sorted(set(positions))


def test_a_sitemap_is_read_once_by_all_attempts_together(imports: ImportWorld) -> None:
    """The host allows one request in ten seconds, so each file needs its own attempt."""
    site = "https://site.example"
    names = [f"{site}/{number}.xml" for number in range(5)]
    index = sitemap(*names, kind="sitemapindex", entry="sitemap")
    imports.pages = {
        f"{site}/robots.txt": fetched_page(f"{site}/robots.txt", "User-agent: *\nCrawl-delay: 10"),
        SITEMAP: fetched_page(SITEMAP, index, media_type="application/xml"),
        **{
            name: fetched_page(name, sitemap(f"{site}/{number}", f"{site}/all"))
            for number, name in enumerate(names)
        },
    }
    ref = imports.submit(sitemap_url=SITEMAP)
    for _ in range(20):
        job = imports.run(ref)
        if job.status in TERMINAL:
            break
        imports.clock.now = max(imports.clock(), job.due_at)
    assert job.status is JobStatus.COMPLETED, job.last_error
    assert len(urls(imports)) == 6
    assert sorted(imports.fetched) == sorted([f"{site}/robots.txt", SITEMAP, *names])
