"""Handler of a file of URLs: creates crawls while reading, writes the report, and waits."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache, partial
from itertools import islice
from typing import Any

from spinneret.content.documents.models import DocumentSource
from spinneret.crawl.checks import CrawlChecks, CrawlTerms
from spinneret.crawl.inbox import limits
from spinneret.crawl.inbox.formats import check_text, columns_of, entries_of, lines_of
from spinneret.crawl.inbox.models import UPLOAD, FileEntry, FileLine, Format, InboxFile
from spinneret.crawl.inbox.outcomes import FileCursor, OutcomeWriter, joined
from spinneret.crawl.inbox.ports import InboxStore
from spinneret.crawl.service import message_about
from spinneret.crawl.tagging import DuplicateTags, with_joined_tags
from spinneret.jobs.children import Children
from spinneret.jobs.models import Draft
from spinneret.jobs.placement import Placed
from spinneret.jobs.worker import Context, Defer
from spinneret.kernel import bounds
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import (
    BodyTooLarge,
    ContentRefused,
    DomainError,
    NotFound,
    PermanentError,
    UrlInvalid,
    ValidationFailed,
)
from spinneret.kernel.service import service

Checked = tuple[FileEntry, Draft | DomainError]


@service
class FileHandler:
    """Handle `crawl_file` jobs.

    A file that is missing, too large or not text fails its job.
    """

    store: InboxStore
    checks: CrawlChecks
    children: Children
    tagging: DuplicateTags
    clock: Clock

    def __call__(self, context: Context) -> Mapping[str, Any]:
        """Create the crawls, write the report, and wait.

        Never returns: raises the exceptions of `Children.create`, NotFound, BodyTooLarge,
        ContentRefused, Defer while the upload may still arrive, or AwaitChildren at the end.
        """
        job = context.job
        if "version" not in job.payload:
            arrives_by = datetime.fromisoformat(job.payload["arrives_by"])
            if self.clock() < arrives_by:
                raise Defer(arrives_by, UPLOAD, appointed=True)
            raise NotFound("no file was uploaded")
        assert job.family is not None  # a parent
        if job.family.cursor is not None:
            file = InboxFile.of(job.tenant, job.payload)
            place = self._read(context, file, FileCursor.of(job.family.cursor))
            context.checkpoint("report", job.progress)
            self.store.report(file, joined(self.store, job.ref, place))
            self.children.create(context, [], None)
        self.children.await_all(context)

    def _read(self, context: Context, file: InboxFile, place: FileCursor) -> FileCursor:
        """Create the crawls of the unread lines; return the position after them."""
        if len(file.report_key.encode()) > limits.INBOX_REPORT_KEY_MAX_BYTES:
            raise ContentRefused("the file's key is too long for the key of its report")
        size = self.store.size(file)
        if size > bounds.INBOX_MAX_BYTES:
            raise BodyTooLarge(f"a file has at most {bounds.INBOX_MAX_BYTES} bytes")
        if place.offset >= size:
            return place
        context.checkpoint("reading", context.job.progress)
        entries = self._entries(file, size, place)
        writer = OutcomeWriter(self.store, context.job.ref, context.lease.fence)
        while chosen := list(islice(entries, bounds.CHILDREN_PER_WRITE)):
            checked = list(self._checked(context.job.tenant, chosen))
            last = chosen[-1]
            after = place.moved(context.lease.fence, last.next_line, last.next_offset)
            drafts = with_joined_tags([each for _, each in checked if isinstance(each, Draft)])
            record = partial(self._record, context.job.tenant, drafts, writer, checked)
            placed = self.children.create(context, drafts, after.cursor, record)
            writer.done(_outcomes(checked, placed))
            place = after
        return place

    def _record(
        self,
        tenant: str,
        drafts: Sequence[Draft],
        writer: OutcomeWriter,
        checked: Sequence[Checked],
        placed: Sequence[Placed],
    ) -> None:
        self.tagging.add(tenant, drafts, placed)
        writer.keep(_outcomes(checked, placed))

    def _entries(self, file: InboxFile, size: int, place: FileCursor) -> Iterator[FileEntry]:
        """Yield entries up to INBOX_LINES_MAX lines, then an error entry if more lines follow."""
        head = self.store.read(file, 0, min(size, limits.INBOX_HEAD_BYTES))
        check_text(head)
        columns = columns_of(head) if file.format is Format.CSV else None
        lines = lines_of(partial(self.store.read, file), size, place.line, place.offset)
        for entry in entries_of(file.format, lines, columns):
            if entry.number > limits.INBOX_LINES_MAX:
                yield _too_many(entry, size)
                return
            yield entry

    def _checked(self, tenant: str, entries: Sequence[FileEntry]) -> Iterator[Checked]:
        refusal = cache(partial(self.checks.refusal, tenant))
        known: dict[str, CrawlTerms | DomainError] = {}
        for entry in entries:
            if entry.asked is None:
                assert entry.problem is not None  # an entry has either a page or a problem
                yield entry, entry.problem
                continue
            url = self.checks.parsed(entry.asked.url, refusal)
            if isinstance(url, DomainError):
                yield entry, _explained(entry.asked.url, url)
                continue
            options = entry.asked.model_dump_json(exclude={"url"})
            if options not in known:
                known[options] = self._terms(tenant, entry.asked)
            terms = known[options]
            yield entry, terms if isinstance(terms, DomainError) else terms.draft(url)

    def _terms(self, tenant: str, asked: FileLine) -> CrawlTerms | DomainError:
        try:
            terms = self.checks.terms(tenant, asked, ())
            self.checks.require_listed(asked, terms)
            tagged = self.checks.tagged(tenant, asked, terms)
        except PermanentError as error:
            return error
        return replace(tagged, source=DocumentSource.S3)


def _explained(text: str, error: DomainError) -> DomainError:
    """Add the rule for comments to the error of a line that may end in one."""
    if not isinstance(error, UrlInvalid) or "#" not in text:
        return error
    rule = "a comment is a line of a txt file that begins with #"
    return UrlInvalid(f"{error.message}; {rule}", details=error.details)


def _outcomes(checked: Sequence[Checked], placed: Sequence[Placed]) -> list[dict[str, Any]]:
    jobs = iter(placed)
    return [
        _accepted(entry, next(jobs)) if isinstance(each, Draft) else _refused(entry, each)
        for entry, each in checked
    ]


def _accepted(entry: FileEntry, placed: Placed) -> dict[str, Any]:
    return {
        "line": entry.number,
        "url": entry.url,
        "job_id": placed.job.id,
        "duplicate": placed.duplicate,
        "message": message_about(placed),
    }


def _refused(entry: FileEntry, error: DomainError) -> dict[str, Any]:
    view = {"error": error.message, "code": error.code, "details": error.details}
    return {"line": entry.number, "url": entry.url, "error": view}


def _too_many(entry: FileEntry, size: int) -> FileEntry:
    return FileEntry(
        number=entry.number,
        asked=None,
        problem=ValidationFailed(
            f"a file has at most {limits.INBOX_LINES_MAX} lines; later lines were not read"
        ),
        next_line=entry.number + 1,
        next_offset=size,
    )
