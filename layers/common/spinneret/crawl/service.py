"""Submit and read crawls: the use cases behind the routes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Final

from spinneret.content.documents.ports import DocumentStore
from spinneret.crawl.checks import CrawlChecks, CrawlTerms
from spinneret.crawl.kinds import CRAWL_BATCH, CRAWL_FILE, PAGE_KINDS
from spinneret.crawl.models import (
    BatchRequest,
    BatchSubmission,
    BatchView,
    CrawlOptions,
    CrawlRequest,
    CrawlView,
    ErrorView,
    Submission,
    UrlOutcome,
)
from spinneret.crawl.ports import PartStore
from spinneret.crawl.reading import batch_view_of, view_of
from spinneret.crawl.tagging import DuplicateTags
from spinneret.events.webhooks.service import WebhookService
from spinneret.jobs import rules
from spinneret.jobs.models import Draft, Job, JobRef, Priority, Reply, RequestKey
from spinneret.jobs.placement import Placed
from spinneret.jobs.service import JobService, Submitted
from spinneret.kernel.canonical import fingerprint
from spinneret.kernel.errors import DomainError, ValidationFailed, field_error
from spinneret.kernel.service import service
from spinneret.web.fetching.urls import Url

_READ: Final = (*PAGE_KINDS, CRAWL_BATCH, CRAWL_FILE)
SubmitDeep = Callable[[str, CrawlRequest, int, RequestKey | None], Submitted]
"""Function of (tenant, request for one URL, depth, key) that submits a deep crawl.

Called for a crawl whose config has a depth (ruling "Defaults").
"""


@dataclass(frozen=True, kw_only=True)
class SourcePages:
    """Pages of one run of a source."""

    source_id: str
    run_id: str
    urls: Sequence[str]
    config_id: str | None
    collection_id: str | None


@dataclass(frozen=True, kw_only=True)
class _Checked:
    """One submitted URL with its draft, or the error that refused it."""

    url: str
    draft: Draft | None
    error: DomainError | None = None


@service
class CrawlService:
    """Submits and reads a tenant's crawls."""

    jobs: JobService
    checks: CrawlChecks
    webhooks: WebhookService
    documents: DocumentStore
    parts: PartStore
    tagging: DuplicateTags
    begin_batch: Callable[[JobRef], None]
    submit_deep: SubmitDeep

    def submit(self, tenant: str, request: CrawlRequest, key: RequestKey | None) -> Submitted:
        """Accept one URL or several.

        A refused single URL raises its error. Among several URLs, each has its own outcome; the
        request raises only if all are refused.
        """
        return self.jobs.replayed_or(key, lambda: self._submit(tenant, request, key))

    def submit_batch(self, tenant: str, request: BatchRequest, key: RequestKey | None) -> Submitted:
        """Accept up to URLS_PER_BATCH URLs as the children of one job.

        The jobs exist when the method returns. If its process dies earlier, a worker creates them a
        little later. Raises the exceptions of `submit` with several URLs.
        """
        return self.jobs.replayed_or(key, lambda: self._submit_batch(tenant, request, key))

    def submit_for_source(
        self, tenant: str, pages: SourcePages
    ) -> tuple[str | None, Mapping[str, str]]:
        """Crawl pages as the children of one job; return its id and the codes of refused URLs.

        Crawls under way and fresh results aren't reused. A repeated call for the same run returns
        the same for IDEMPOTENCY_SECONDS. Without an acceptable page there is no job, and the id is
        None.

        Raises NotFound (config, collection) and ValidationFailed (too many pages, too large).
        """
        terms = self.checks.source_terms(
            tenant, pages.source_id, pages.config_id, pages.collection_id
        )
        refusal = cache(partial(self.checks.refusal, tenant))
        parsed = {url: self.checks.parsed(url, refusal) for url in pages.urls}
        refused = {url: each.code for url, each in parsed.items() if isinstance(each, DomainError)}
        drafts = [terms.draft(each) for each in parsed.values() if isinstance(each, Url)]
        if not drafts:
            return None, refused
        payload = {"source_id": pages.source_id, "run_id": pages.run_id}
        parent = Draft(
            kind=CRAWL_BATCH,
            payload=payload,
            priority=Priority.LOW,
            duplicate_key=None,
        )
        scope = fingerprint(payload)
        submitted = self.jobs.submit_parent(
            tenant,
            parent,
            drafts,
            RequestKey(tenant=tenant, scope=scope, payload=scope),
            lambda job, _: Reply(status=202, body={"batch_id": job.id, "refused": refused}),
        )
        return submitted.reply.body["batch_id"], submitted.reply.body["refused"]

    def ended_for_source(self, tenant: str, batch_id: str) -> list[Job] | None:
        """Return the crawls of a source's job; None while any is under way. Raises NotFound."""
        batch = self.jobs.get(JobRef(tenant=tenant, job_id=batch_id), CRAWL_BATCH)
        counts = self.jobs.counts(batch)
        if batch.status not in rules.TERMINAL or counts is None:
            return None
        crawls = self.jobs.ended_children(batch)
        return crawls if len(crawls) >= counts.created else None

    def get(self, tenant: str, job_id: str) -> CrawlView | BatchView:
        """Return a crawl, or a batch or file of URLs with its counters. Raises NotFound."""
        job = self.jobs.get(JobRef(tenant=tenant, job_id=job_id), *_READ)
        counts = self.jobs.counts(job)
        if counts is not None:
            return batch_view_of(job, counts)
        return view_of(job, self.parts, self.documents)

    def _submit(self, tenant: str, request: CrawlRequest, key: RequestKey | None) -> Submitted:
        notify = self.webhooks.targets(tenant, request.webhook_url, request.webhook_headers)
        terms = self.checks.crawl_terms(tenant, request, notify)
        if request.url is not None:
            url = self.checks.url(tenant, request.url)
            if terms.config is not None and terms.config.options.max_depth:
                self.checks.require_unrendered(terms)
                return self.submit_deep(tenant, request, terms.config.options.max_depth, key)
            drafts = [self.checks.tagged(tenant, request, terms).draft(url)]
            return self.jobs.submit(
                tenant, drafts, key, self._tagging(tenant, drafts, single_reply)
            )
        checked = self._checked(tenant, request, request.urls or (), terms)
        drafts = _acceptable(checked)
        answer = self._tagging(tenant, drafts, lambda placed: _several(checked, placed))
        return self.jobs.submit(tenant, drafts, key, answer)

    def _submit_batch(
        self, tenant: str, request: BatchRequest, key: RequestKey | None
    ) -> Submitted:
        alone = request.model_copy(update={"webhook_url": None, "webhook_headers": {}})
        terms = self.checks.crawl_terms(tenant, alone, ())
        parent = Draft(
            kind=CRAWL_BATCH,
            payload={},
            priority=request.priority,
            notify=self.webhooks.targets(tenant, request.webhook_url, request.webhook_headers),
            duplicate_key=None,
        )
        checked = self._checked(tenant, request, request.urls, terms)
        drafts = _acceptable(checked)

        def answer(job: Job, placed: Sequence[Placed]) -> Reply:
            self.tagging.add(tenant, drafts, placed)
            return _several(checked, placed, job.id)

        return self.jobs.submit_parent(tenant, parent, drafts, key, answer, begin=self.begin_batch)

    def _tagging(
        self, tenant: str, drafts: Sequence[Draft], answer: Callable[[Sequence[Placed]], Reply]
    ) -> Callable[[Sequence[Placed]], Reply]:
        """Return `answer`, which first gives the tags of the drafts to existing jobs."""

        def tagged(placed: Sequence[Placed]) -> Reply:
            self.tagging.add(tenant, drafts, placed)
            return answer(placed)

        return tagged

    def _checked(
        self, tenant: str, options: CrawlOptions, urls: Sequence[str], terms: CrawlTerms
    ) -> list[_Checked]:
        """Validate several URLs.

        Raises ValidationFailed if all are refused or the named config has a depth.
        """
        self.checks.require_listed(options, terms)
        refusal = cache(partial(self.checks.refusal, tenant))  # once per host
        parsed = [self.checks.parsed(url, refusal) for url in urls]
        if all(isinstance(each, DomainError) for each in parsed):
            raise _none_acceptable(parsed)
        terms = self.checks.tagged(tenant, options, terms)
        return [
            _Checked(url=url, draft=None, error=each)
            if isinstance(each, DomainError)
            else _Checked(url=url, draft=terms.draft(each))
            for url, each in zip(urls, parsed, strict=True)
        ]


def single_reply(placed: Sequence[Placed]) -> Reply:
    """Return the answer to the submission of one job."""
    [only] = placed
    body = Submission(
        job_id=only.job.id,
        status=only.job.status,
        message=message_about(only),
        cached=only.is_answered,
    )
    return Reply(status=202, body=body.model_dump(mode="json"))


def _acceptable(checked: Sequence[_Checked]) -> list[Draft]:
    return [each.draft for each in checked if each.draft]


def _several(
    checked: Sequence[_Checked], placed: Sequence[Placed], batch: str | None = None
) -> Reply:
    remaining = iter(placed)
    outcomes = [
        _refused(each.url, each.error) if each.error else _accepted(each.url, next(remaining))
        for each in checked
    ]
    body = BatchSubmission(
        batch_id=batch or next((each.job.batch for each in placed if not each.duplicate), None),
        jobs=outcomes,
        total_submitted=len(placed),
        failed_count=len(outcomes) - len(placed),
    )
    return Reply(status=202, body=body.model_dump(mode="json"))


def _accepted(url: str, placed: Placed) -> UrlOutcome:
    return UrlOutcome(
        url=url,
        job_id=placed.job.id,
        status=placed.job.status,
        message=message_about(placed),
        cached=placed.is_answered,
    )


def _refused(url: str, error: DomainError) -> UrlOutcome:
    return UrlOutcome(url=url, message="refused", error=_error_view(error))


def _none_acceptable(refused: Sequence[Url | DomainError]) -> ValidationFailed:
    fields = [
        field_error(f"urls.{number}", error.message, code=error.code)
        for number, error in enumerate(refused)
        if isinstance(error, DomainError)
    ]
    return ValidationFailed("none of the URLs can be crawled", details={"fields": fields})


def message_about(placed: Placed) -> str:
    """Return the message about a submitted job."""
    if placed.is_answered:
        return "crawled within the last 24 hours"
    return "already under way" if placed.duplicate else "accepted"


def _error_view(error: DomainError) -> ErrorView:
    return ErrorView(error=error.message, code=error.code, details=error.details)
