"""Import job: create a target for each CSV line or each page of a sitemap."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from pydantic import ValidationError

from spinneret.jobs.models import Job
from spinneret.jobs.worker import Context, Defer, ReleaseJob
from spinneret.kernel import bounds
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import Contended, PermanentError
from spinneret.kernel.field_messages import message_of
from spinneret.kernel.races import until_written
from spinneret.kernel.service import service
from spinneret.monitoring import limits
from spinneret.monitoring.imports import rules
from spinneret.monitoring.imports.ports import ImportStore, SliceResult
from spinneret.monitoring.imports.rules import ImportLine
from spinneret.monitoring.targets.api_models import TargetRequest, options_of, subject_of
from spinneret.monitoring.targets.models import TargetWithState
from spinneret.monitoring.targets.service import TargetService
from spinneret.web.exploring.sitemaps.models import SitemapEntry
from spinneret.web.exploring.sitemaps.reader import SitemapReader
from spinneret.web.exploring.sitemaps.walk import SitemapFile, SitemapWalk
from spinneret.web.fetching.models import FetchedPage, FetchRequest
from spinneret.web.fetching.rules import require_success
from spinneret.web.fetching.urls import parse_url
from spinneret.web.models import Caller, WaitUntil
from spinneret.web.polite_fetcher import PoliteFetcher

_FILES: Final = 20  # sitemaps of an index: together up to a million URLs
_RACES: Final = 8  # others may create targets of the same URLs
_SHOWN_CHARS: Final = 120  # per URL and message: 500 lines must fit in one result

Line = tuple[ImportLine, TargetWithState | str]
"""A line with its new target, or with the reason of its refusal."""


@service
class TargetImport:
    """Handle `target_import` jobs.

    Outcomes are stored with their targets, slice by slice; the next attempt continues after them.
    """

    targets: TargetService
    store: ImportStore
    fetcher: PoliteFetcher
    clock: Clock
    default_interval: int

    def __call__(self, context: Context) -> Mapping[str, Any]:
        """Return the job's result. Raises Defer while a sitemap's host is busy."""
        job = context.job
        outcomes = self.store.outcomes(job.ref)
        context.checkpoint("reading", 5)
        payload = job.payload
        lines = rules.lines_of(payload["csv"]) if "csv" in payload else self._listed(context)
        while left := lines[len(outcomes) : len(outcomes) + limits.IMPORT_SLICE_LINES]:
            context.checkpoint("importing", 10 + 90 * len(outcomes) // len(lines))
            drafts = [(line, self._draft(job.tenant, line)) for line in left]
            outcomes += self._written(context, len(outcomes), drafts)
        counts = Counter(each["outcome"] for each in outcomes)
        return {
            "lines": outcomes,
            "created": counts["created"],
            "existing": counts["exists"],
            "refused": counts["refused"],
        }

    def _draft(self, tenant: str, line: ImportLine) -> TargetWithState | str:
        """Return the line's new target, or the reason of its refusal."""
        if line.refusal is not None:
            return line.refusal
        try:
            request = TargetRequest.model_validate(line.values)
            seal = partial(self.targets.sealed, tenant)
            options = options_of(request, self.default_interval, seal)
            return self.targets.draft(tenant, subject_of(request), options)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"]))
            return f"{where} {message_of(first)}".lstrip()
        except PermanentError as error:
            return error.message

    def _written(
        self, context: Context, first: int, lines: Sequence[Line]
    ) -> Sequence[Mapping[str, Any]]:
        """Store the outcomes of lines and their new targets; return the outcomes.

        Raises LeaseLost and Contended.
        """

        def written() -> Sequence[Mapping[str, Any]] | None:
            outcomes, targets = self._outcomes(context.job.tenant, lines)
            result = self.store.write(
                context.lease, first, outcomes, targets, self.targets.most, self.clock()
            )
            if result is SliceResult.WRITTEN:
                return outcomes
            if result is SliceResult.TOO_MANY:
                return self._written_singly(context, first, lines)
            return None

        busy = Contended("the tenant's targets are being changed by others")
        return until_written(written, busy, _RACES)

    def _written_singly(
        self, context: Context, first: int, lines: Sequence[Line]
    ) -> Sequence[Mapping[str, Any]]:
        """Store the lines one by one, so that those beyond the maximum are refused."""
        if len(lines) == 1:
            return self._written(context, first, [(lines[0][0], self.targets.too_many)])
        done: list[Mapping[str, Any]] = []
        for number, line in enumerate(lines, start=first):
            done += self._written(context, number, [line])
        return done

    def _outcomes(
        self, tenant: str, lines: Sequence[Line]
    ) -> tuple[list[dict[str, Any]], list[TargetWithState]]:
        """Return the outcomes of lines, and the targets that they create."""
        drafts = [draft for _, draft in lines if not isinstance(draft, str)]
        ids = dict(self.store.known(tenant, [draft.target.canonical_url for draft in drafts]))
        outcomes: list[dict[str, Any]] = []
        targets: list[TargetWithState] = []
        for line, draft in lines:
            shown = {"line": line.number, "url": str(line.values.get("url", ""))[:_SHOWN_CHARS]}
            if isinstance(draft, str):
                outcomes.append({**shown, "outcome": "refused", "error": draft[:_SHOWN_CHARS]})
                continue
            url, outcome = draft.target.canonical_url, "exists"
            if url not in ids:
                ids[url], outcome = draft.target.id, "created"
                targets.append(draft)
            outcomes.append({**shown, "outcome": outcome, "target_id": ids[url]})
        return outcomes, targets

    def _listed(self, context: Context) -> list[ImportLine]:
        """Return the pages of a sitemap in order, read once by all attempts together."""
        payload = context.job.payload
        stored = self.store.listing(context.job.ref)
        state: dict[str, Any] = {"urls": [], "walk": None} if stored is None else json.loads(stored)
        if stored is None or state["walk"] is not None:
            state = self._read(context, state)
        return [
            ImportLine(number, {"url": url, **payload["options"]})
            for number, url in enumerate(state["urls"], start=1)
        ]

    def _read(self, context: Context, state: Mapping[str, Any]) -> dict[str, Any]:
        """Read a sitemap, and the files that an index names, one by one; return the final state.

        A state with a walk is unfinished. It is stored whenever the attempt ends early.
        """
        job, limit = context.job, context.job.payload["limit"]
        first = [job.payload["sitemap_url"]]
        kept = state["walk"]
        walk = SitemapWalk(first, _FILES) if kept is None else SitemapWalk.resumed(kept)
        urls = dict.fromkeys(state["urls"])
        try:
            while len(urls) < limit and (file := walk.next_file()) is not None:
                try:
                    context.checkpoint("reading", 5)
                    page = self._fetched(job, file)
                except (Defer, ReleaseJob):
                    walk.put_back(file)
                    raise
                for entry in _entries(page):
                    if entry.is_sitemap:
                        walk.found(file, entry)
                    else:
                        urls.setdefault(entry.url)
                    if len(urls) == limit:
                        break
        except (Defer, ReleaseJob):
            self._keep(context, {"urls": list(urls), "walk": walk.kept()})
            raise
        done = {"urls": list(urls), "walk": None}
        self._keep(context, done)
        return done

    def _keep(self, context: Context, state: Mapping[str, Any]) -> None:
        self.store.keep_listing(context.lease, json.dumps(state), self.clock())

    def _fetched(self, job: Job, file: SitemapFile) -> FetchedPage:
        answer = self.fetcher.fetch(
            Caller(
                tenant=job.tenant,
                id=f"{job.id}/{job.run}/{file.number}",
                reservation=job.waiting_for,
            ),
            FetchRequest(url=parse_url(file.url)),
        )
        if isinstance(answer, WaitUntil):
            raise Defer(answer.until, answer.waiting_for)
        require_success(answer, self.clock())
        return answer


def _entries(page: FetchedPage) -> Iterator[SitemapEntry]:
    reader = SitemapReader(page.url.text, max_urls=bounds.SITEMAP_MAX_URLS)
    return reader.read([page.body])
