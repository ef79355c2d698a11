"""Import job: create a target for each CSV line or each page of a sitemap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import islice
from typing import Any, Final

from pydantic import ValidationError

from spinneret.jobs.models import Job
from spinneret.jobs.worker import Context, Defer
from spinneret.kernel import bounds
from spinneret.kernel.canonical import fingerprint
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import PermanentError
from spinneret.kernel.service import service
from spinneret.monitoring.imports import rules
from spinneret.monitoring.imports.rules import ImportLine
from spinneret.monitoring.targets.api_models import TargetRequest, options_of
from spinneret.monitoring.targets.service import Created, RequestId, TargetService
from spinneret.web.exploring.sitemaps.reader import SitemapReader
from spinneret.web.exploring.sitemaps.walk import SitemapFile, SitemapWalk
from spinneret.web.fetching.models import FetchedPage, FetchRequest
from spinneret.web.fetching.rules import require_success
from spinneret.web.fetching.urls import parse_url
from spinneret.web.models import Caller, WaitUntil
from spinneret.web.polite_fetcher import PoliteFetcher

_FILES: Final = 20  # sitemaps of an index: together up to a million URLs
_CHECKPOINT: Final = 25  # lines
_SHOWN_CHARS: Final = 120  # per URL and message: 500 lines must fit in one result


@service
class TargetImport:
    """Handle `target_import` jobs.

    Each line uses its own idempotency key, so that a restarted job returns the same outcomes.
    """

    targets: TargetService
    fetcher: PoliteFetcher
    clock: Clock
    default_interval: int

    def __call__(self, context: Context) -> Mapping[str, Any]:
        """Return the job's result. Raises Defer while a sitemap's host is busy."""
        payload = context.job.payload
        context.checkpoint("reading", 5)
        lines = rules.lines_of(payload["csv"]) if "csv" in payload else self._listed(context)
        outcomes: list[dict[str, Any]] = []
        for number, line in enumerate(lines):
            if number % _CHECKPOINT == 0:
                context.checkpoint("importing", 10 + 90 * number // len(lines))
            outcomes.append(self._one(context.job, line))
        counts = Counter(each["outcome"] for each in outcomes)
        return {
            "lines": outcomes,
            "created": counts["created"],
            "existing": counts["exists"],
            "refused": counts["refused"],
        }

    def _one(self, job: Job, line: ImportLine) -> dict[str, Any]:
        shown = {"line": line.number, "url": str(line.values.get("url", ""))[:_SHOWN_CHARS]}
        try:
            created = self._created(job, line)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"]))
            message = f"{where}: {first['msg']}" if where else first["msg"]
            return {**shown, "outcome": "refused", "error": message[:_SHOWN_CHARS]}
        except PermanentError as error:
            return {**shown, "outcome": "refused", "error": error.message[:_SHOWN_CHARS]}
        outcome = "created" if created.status == 201 else "exists"
        return {**shown, "outcome": outcome, "target_id": created.target_id}

    def _created(self, job: Job, line: ImportLine) -> Created:
        request = TargetRequest.model_validate(line.values)
        key = RequestId(
            scope=fingerprint([job.id, line.number]), payload=fingerprint(dict(line.values))
        )
        options = options_of(request, self.default_interval)
        return self.targets.create(job.tenant, request.url, options, key)

    def _listed(self, context: Context) -> list[ImportLine]:
        """Return the pages of a sitemap in order; an index is read file by file."""
        payload, walk = (
            context.job.payload,
            SitemapWalk([context.job.payload["sitemap_url"]], _FILES),
        )
        urls: dict[str, None] = {}
        while len(urls) < payload["limit"] and (file := walk.next_file()) is not None:
            context.checkpoint("reading", 5)
            page = self._fetched(context.job, file)
            reader = SitemapReader(page.url.text, max_urls=bounds.SITEMAP_MAX_URLS)
            for entry in reader.read([page.body]):
                if entry.is_sitemap:
                    walk.found(file, entry)
                else:
                    urls.setdefault(entry.url)
                    if len(urls) == payload["limit"]:
                        break
        return [
            ImportLine(number, {"url": url, **payload["options"]})
            for number, url in enumerate(islice(urls, payload["limit"]), start=1)
        ]

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
