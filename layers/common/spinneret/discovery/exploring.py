"""Handler of discovery jobs, which reads the site's sitemaps and queries Common Crawl's index.

A discovery that has to wait for a host, or whose invocation ends, stores its progress and continues
there. If its worker dies, it continues from the last stored progress.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from spinneret.discovery import limits
from spinneret.discovery.models import DiscoverySource, Terms, read_terms
from spinneret.discovery.ports import DiscoveryStore
from spinneret.discovery.rules import Candidates
from spinneret.jobs.models import Failure, JobEventKind
from spinneret.jobs.worker import CompletedInPart, Context, Defer, ReleaseJob
from spinneret.kernel import bounds
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import (
    ContentRefused,
    DependencyUnavailable,
    DomainError,
    FetchFailed,
    FetchTimeout,
    HttpUnavailable,
    LeaseLost,
    TransientError,
)
from spinneret.kernel.service import service
from spinneret.web.exploring.common_crawl import (
    Capture,
    CaptureReader,
    capture_query,
    indexes_of,
    newest_first,
)
from spinneret.web.exploring.sitemaps.models import Ending, SitemapEntry, SitemapKind
from spinneret.web.exploring.sitemaps.reader import SitemapReader
from spinneret.web.exploring.sitemaps.walk import SitemapFile, SitemapWalk, first_sitemaps
from spinneret.web.fetching.models import FetchedPage, FetchRequest
from spinneret.web.fetching.rules import require_success, require_success_status
from spinneret.web.fetching.urls import Url, parse_url
from spinneret.web.models import Caller, FetchOptions, WaitUntil
from spinneret.web.polite_fetcher import PoliteFetcher

_EMPTY: Final = SitemapKind.UNKNOWN  # kind of a sitemap without entries
_CAPTURES_PER_URL: Final = 20  # the index has an entry for each fetch of a page
_OF_AN_API: Final = FetchOptions(obey_robots=False)  # an API made for programs

_OUT_OF_TIME: Final = Failure(
    code="OUT_OF_TIME",
    message="the discovery ran out of time before all files were read",
    type="transient",
)


@dataclass(kw_only=True)
class DiscoveryStats:
    """Statistics of what was read; shown in the job's result."""

    files_read: int = 0
    files_failed: int = 0
    files_cut_off: int = 0
    """Files read only in part, because of a bound or because they are broken."""
    captures: int = 0
    notes: list[str] = field(default_factory=list)


@service
class DiscoveryHandler:
    """Handle `discover` jobs."""

    fetcher: PoliteFetcher
    store: DiscoveryStore
    common_crawl_url: str
    """Lists the indexes, newest first (`collinfo.json`)."""
    clock: Clock

    def __call__(self, context: Context) -> Mapping[str, Any]:
        """Return the job's result; store the found URLs under the lease's fence.

        Raises CompletedInPart if the time was up before all files were read.
        """
        job = context.job
        stored = self.store.state(job.ref, job.run)
        discovery = _Discovery(
            context=context,
            fetcher=self.fetcher,
            terms=read_terms(job.payload),
            common_crawl_url=self.common_crawl_url,
            clock=self.clock,
        )
        if stored:
            discovery.resume(json.loads(stored))
        try:
            discovery.run()
        except (Defer, ReleaseJob):
            state = json.dumps(discovery.kept(), ensure_ascii=False)
            self.store.keep_state(context.lease, job.run, state, self.clock())
            raise
        except TransientError:
            if stored:  # so that the next attempt starts from scratch
                self.store.keep_state(context.lease, job.run, "", self.clock())
            raise
        found = discovery.candidates.best()
        self.store.keep_found(context.lease, found, self.clock())
        if discovery.is_out_of_time:
            raise CompletedInPart(discovery.result(), _OUT_OF_TIME)
        return discovery.result()


@service
class _Discovery:
    """One discovery in progress."""

    context: Context
    fetcher: PoliteFetcher
    terms: Terms
    common_crawl_url: str
    clock: Clock

    def __post_init__(self) -> None:
        self.candidates = Candidates(self.terms)
        self.is_out_of_time = False
        self._began = self.clock()
        self._root = 0
        self._walk: SitemapWalk | None = None
        self._guesses = False
        """Whether the site names no sitemap, so that the usual locations are read."""
        self._done: list[DiscoverySource] = []
        self._tally = DiscoveryStats()
        self._failures: dict[DiscoverySource, DomainError] = {}

    def run(self) -> None:
        """Query all sources. Raises Defer and ReleaseJob, and the first failure if no source has
        answered.
        """
        ways: Mapping[DiscoverySource, Callable[[], None]] = {
            DiscoverySource.SITEMAP: self._read_sitemaps,
            DiscoverySource.COMMON_CRAWL: self._ask_common_crawl,
        }
        for source in self.terms.sources:
            if source in self._done or self.candidates.is_full:
                continue
            try:
                ways[source]()
            except (LeaseLost, DependencyUnavailable):
                raise
            except DomainError as error:
                self._failures[source] = error
                self._note(f"{source}: {error.message}")
            self._done.append(source)
        if self._failures and not self.candidates.count and not self._tally.files_read:
            raise next(iter(self._failures.values()))
        if not self.candidates.count and not self._tally.notes:
            self._note("no matching pages were found")

    def kept(self) -> dict[str, Any]:
        """Return the progress as JSON."""
        return {
            "root": self._root,
            "walk": None if self._walk is None else self._walk.kept(),
            "guesses": self._guesses,
            "done": self._done,
            "tally": asdict(self._tally),
            "candidates": self.candidates.kept(),
        }

    def resume(self, kept: Mapping[str, Any]) -> None:
        """Continue from stored progress."""
        self._root = kept["root"]
        self._walk = None if kept["walk"] is None else SitemapWalk.resumed(kept["walk"])
        self._guesses = kept["guesses"]
        self._done = list(map(DiscoverySource, kept["done"]))
        self._tally = DiscoveryStats(**kept["tally"])
        self.candidates.resume(kept["candidates"])

    def result(self) -> dict[str, Any]:
        """Return the job's result."""
        dropped = 0 if self._walk is None else self._walk.dropped
        return {
            "urls_found": self.candidates.count,
            "has_more": self.candidates.has_more,
            **asdict(self._tally),
            "files_left_out": dropped,
        }

    # ------------------------------------------------------------ Sitemaps

    def _read_sitemaps(self) -> None:
        """Read the sitemaps. Raises the first failure if none could be read."""
        while True:
            failure = self._walk_from(self.terms.roots[self._root])
            if self._tally.files_read:
                return
            silent = isinstance(failure, FetchFailed | FetchTimeout)
            if not silent or self._root + 1 == len(self.terms.roots):
                break
            self._root, self._walk = self._root + 1, None
        if failure is not None:
            raise failure
        self._note("the site has no sitemap")

    def _walk_from(self, root: str) -> DomainError | None:
        """Return the first failure of a file that may exist."""
        site, error = parse_url(root), None
        if self._walk is None:
            named = self._awaited(self.fetcher.sitemaps(self._caller, site))
            self._walk, self._guesses = SitemapWalk(named or first_sitemaps(site, None)), not named
        while not self.candidates.is_full and not self._is_over():
            self._go_on_or_hand_back()
            file = self._walk.next_file()
            if file is None:
                break
            try:
                self._read(file, self._walk)
            except (Defer, ReleaseJob):
                self._walk.put_back(file)
                raise
            except (LeaseLost, DependencyUnavailable):
                raise
            except DomainError as failure:
                self._tally.files_failed += 1
                if not (self._guesses and not file.nesting and _is_missing(failure)):
                    self._note_file(file, failure.message)
                if isinstance(failure, TransientError):
                    error = error or failure
        return error

    def _read(self, file: SitemapFile, walk: SitemapWalk) -> None:
        """Read one file; entries before a broken end are used."""
        readers: list[SitemapReader] = []

        def read_body(url: Url, pieces: Iterator[bytes]) -> None:
            reader = SitemapReader(url.text, may_go_on=self._has_time)
            readers.append(reader)
            self._take(file, walk, reader.read(pieces))

        request = FetchRequest(
            url=parse_url(file.url),
            max_bytes=bounds.SITEMAP_MAX_BYTES,
            left_seconds=self._left_for_fetch,
            read_body=read_body,
        )
        page = self._awaited(self.fetcher.fetch(self._caller, request))
        require_success_status(page, self.clock())
        endings = {reader.ending for reader in readers}
        if endings <= {Ending.COMPLETE} and {reader.kind for reader in readers} <= {_EMPTY}:
            raise ContentRefused(f"{page.requested.host} has an empty sitemap")
        self._tally.files_read += 1
        if not endings <= {Ending.COMPLETE, None}:
            self._tally.files_cut_off += 1
            cut = ", ".join(sorted(ending for ending in endings if ending))
            self._note_file(file, f"read in part: {cut}")

    def _take(self, file: SitemapFile, walk: SitemapWalk, entries: Iterator[SitemapEntry]) -> None:
        for entry in entries:
            if entry.is_sitemap:
                walk.found(file, entry)
            else:
                self.candidates.offer(entry.url, entry.last_modified, DiscoverySource.SITEMAP)
                if self.candidates.is_full:
                    self.candidates.has_more = True  # there may be more
                    return

    # ------------------------------------------------------------ Common Crawl

    def _ask_common_crawl(self) -> None:
        self._go_on_or_hand_back()
        listed = self._of_common_crawl(self.common_crawl_url)
        require_success(listed, self.clock())
        endpoints = indexes_of(listed.body)
        if not endpoints:
            raise HttpUnavailable("Common Crawl lists no index")
        host = parse_url(self.terms.roots[0]).host
        limit = min(bounds.CDX_CAPTURES_MAX, _CAPTURES_PER_URL * self.terms.max_urls)
        reader = CaptureReader(may_go_on=self._has_time)
        captures: list[Capture] = []
        query = capture_query(endpoints[0], host, limit)
        answer = self._of_common_crawl(
            query, lambda _, pieces: captures.extend(reader.read(pieces))
        )
        if answer.status_code == 404:  # the index has no capture of the site
            return
        require_success_status(answer, self.clock())
        for capture in newest_first(captures):
            self._tally.captures += 1
            self.candidates.offer(
                capture.url.text, capture.fetched_at, DiscoverySource.COMMON_CRAWL
            )
        if reader.is_cut_off:
            self.candidates.has_more = True

    def _of_common_crawl(
        self, url: str, read_body: Callable[[Url, Iterator[bytes]], None] | None = None
    ) -> FetchedPage:
        """Fetch from Common Crawl. Raises HttpUnavailable if the index asks for a long wait."""
        request = FetchRequest(
            url=parse_url(url),
            max_bytes=bounds.CDX_MAX_BYTES,
            left_seconds=self._left_for_fetch,
            read_body=read_body,
        )
        answer = self.fetcher.fetch(self._caller, request, _OF_AN_API)
        if isinstance(answer, WaitUntil):
            seconds = (answer.until - self.clock()).total_seconds()
            if seconds > limits.COMMON_CRAWL_WAIT_SECONDS:
                raise HttpUnavailable("Common Crawl's index is busy")
        return self._awaited(answer)

    # ------------------------------------------------------------ Time

    @property
    def _caller(self) -> Caller:
        job = self.context.job
        return Caller(tenant=job.tenant, id=f"{job.id}/{job.run}", reservation=job.waiting_for)

    def _awaited[T](self, answer: T | WaitUntil) -> T:
        """Return the answer. Raises Defer if it has to wait."""
        if isinstance(answer, WaitUntil):
            raise Defer(answer.until, answer.waiting_for)
        return answer

    def _go_on_or_hand_back(self) -> None:
        """Write the progress before a file; raise ReleaseJob to continue in another invocation."""
        if self.context.remaining() < limits.DISCOVERY_FILE_SECONDS and self._did_something():
            raise ReleaseJob
        done = self._tally.files_read + self._tally.files_failed
        self.context.checkpoint("reading", min(90, 5 + done))

    def _left_for_fetch(self) -> float:
        """Return the seconds for a fetch, after the waits and the robots.txt before it.

        Raises ReleaseJob to fetch in another invocation.
        """
        left = self.context.remaining() - bounds.DEADLINE_MARGIN_SECONDS
        if left < limits.DISCOVERY_FETCH_SECONDS and self._did_something():
            raise ReleaseJob
        return left

    def _did_something(self) -> bool:
        """Whether this invocation has done any work yet."""
        return self.clock() > self._began

    def _has_time(self) -> bool:
        return self.context.remaining() > 2 * bounds.DEADLINE_MARGIN_SECONDS

    def _is_over(self) -> bool:
        """Return whether the discovery's time is used up."""
        worked = self.context.job.worked_ms / 1000
        over = worked + (self.clock() - self._began).total_seconds() > limits.DISCOVERY_SECONDS
        if over:
            self.is_out_of_time = True
            self._note(_OUT_OF_TIME.message)
            self.candidates.has_more = True
        return over

    def _note_file(self, file: SitemapFile, message: str) -> None:
        url = parse_url(file.url).text[: limits.DISCOVERY_NOTE_URL_CHARS]
        self._note(f"{url}: {message[: limits.DISCOVERY_NOTE_CHARS]}")

    def _note(self, message: str) -> None:
        self._tally.notes.append(message)
        self.context.note(JobEventKind.WARNING, message)


def _is_missing(error: DomainError) -> bool:
    return error.details.get("status_code") in {404, 410}
