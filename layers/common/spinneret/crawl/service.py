"""Submitting and reading crawls: the use cases behind the routes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final

from spinneret.crawl.kinds import CRAWL, CRAWL_BATCH
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
from spinneret.jobs import rules
from spinneret.jobs.api_models import job_view
from spinneret.jobs.models import ChildCounts, Draft, Job, JobRef, Reply, RequestKey
from spinneret.jobs.placement import Placed
from spinneret.jobs.service import JobService, Submitted
from spinneret.kernel.canonical import fingerprint
from spinneret.kernel.errors import (
    CircuitOpen,
    DomainBlocked,
    DomainError,
    PermanentError,
    ValidationFailed,
)
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.rules import check_url_at_submission
from spinneret.web.fetching.urls import Url, cache_url, canonical_url
from spinneret.web.hosts.service import HostService

RECIPE: Final = 1  # goes up when the same page would be processed to another result

Targets = Callable[[str, str | None, Mapping[str, str]], tuple[str, ...]]
"""(tenant, webhook_url, webhook_headers): the targets to notify of a job's end (`Draft.notify`)."""
RequireProxy = Callable[[str, str], None]
"""(tenant, config id): raises where no crawl may go by these proxies."""


@dataclass(frozen=True, kw_only=True)
class _Checked:
    """One submitted URL: its draft, or why it was refused."""

    url: str
    draft: Draft | None
    error: DomainError | None = None


class CrawlService:
    """Crawls of one tenant."""

    def __init__(
        self,
        *,
        jobs: JobService,
        policy: AddressPolicy,
        hosts: HostService,
        targets: Targets,
        require_proxy: RequireProxy,
        begin_batch: Callable[[JobRef], None],
    ) -> None:
        self._jobs = jobs
        self._policy = policy
        self._hosts = hosts
        self._targets = targets
        self._require_proxy = require_proxy
        self._begin_batch = begin_batch

    def submit(self, tenant: str, request: CrawlRequest, key: RequestKey | None) -> Submitted:
        """Accept one URL or several.

        A single URL that is refused raises; among several, each has its own outcome, and only a
        request without any acceptable URL raises.
        """
        return self._jobs.replayed_or(key, lambda: self._submit(tenant, request, key))

    def submit_batch(self, tenant: str, request: BatchRequest, key: RequestKey | None) -> Submitted:
        """Accept up to URLS_PER_BATCH URLs as the children of one job.

        The jobs exist as the answer is given, but for a process that dies meanwhile: then they do a
        little later. Raises as `submit` of several.
        """
        return self._jobs.replayed_or(key, lambda: self._submit_batch(tenant, request, key))

    def get(self, tenant: str, job_id: str) -> CrawlView | BatchView:
        """A crawl, or a batch with its counters. Raises NotFound."""
        job = self._jobs.get(JobRef(tenant=tenant, job_id=job_id), CRAWL, CRAWL_BATCH)
        counts = self._jobs.counts(job)
        return _view(job) if counts is None else _batch_view(job, counts)

    def _submit(self, tenant: str, request: CrawlRequest, key: RequestKey | None) -> Submitted:
        self._check_options(tenant, request)
        refusal = cache(partial(self._refusal, tenant))  # of each host, once per request
        notify = self._targets(tenant, request.webhook_url, request.webhook_headers)
        if request.url is not None:
            url = check_url_at_submission(request.url, self._policy)
            draft = self._draft(url, request, notify)
            if error := refusal(url.host, url.unusual_port):
                raise error
            return self._jobs.submit(tenant, [draft], key, _single)
        checked = [self._check(url, request, notify, refusal) for url in request.urls or ()]
        drafts = _acceptable(checked)
        return self._jobs.submit(tenant, drafts, key, lambda placed: _several(checked, placed))

    def _submit_batch(
        self, tenant: str, request: BatchRequest, key: RequestKey | None
    ) -> Submitted:
        self._check_options(tenant, request)
        refusal = cache(partial(self._refusal, tenant))
        alone = request.model_copy(update={"webhook_url": None, "webhook_headers": {}})
        checked = [self._check(url, alone, (), refusal) for url in request.urls]
        parent = Draft(
            kind=CRAWL_BATCH,
            payload={},
            priority=request.priority,
            notify=self._targets(tenant, request.webhook_url, request.webhook_headers),
            duplicate_key=None,
        )
        return self._jobs.submit_parent(
            tenant,
            parent,
            _acceptable(checked),
            key,
            lambda job, placed: _several(checked, placed, job.id),
            begin=self._begin_batch,
        )

    def _check_options(self, tenant: str, options: CrawlOptions) -> None:
        """Raises what the proxies' own check raises."""
        if options.proxy_config_id is not None:
            self._require_proxy(tenant, options.proxy_config_id)

    def _check(
        self,
        url: str,
        request: CrawlOptions,
        notify: tuple[str, ...],
        refusal: Callable[[str, int | None], DomainError | None],
    ) -> _Checked:
        try:
            parsed = check_url_at_submission(url, self._policy)
        except PermanentError as error:
            return _Checked(url=url, draft=None, error=error)
        draft = self._draft(parsed, request, notify)
        refused = refusal(parsed.host, parsed.unusual_port)
        return _Checked(url=url, draft=None if refused else draft, error=refused)

    def _refusal(self, tenant: str, host: str, port: int | None) -> DomainError | None:
        """Why the host isn't crawled for the tenant now."""
        try:
            self._hosts.check_submission(tenant, host, port)
        except (DomainBlocked, CircuitOpen) as error:
            return error
        return None

    def _draft(self, url: Url, request: CrawlOptions, notify: tuple[str, ...]) -> Draft:
        same: dict[str, Any] = {"kind": CRAWL, "recipe": RECIPE, "url": cache_url(url)}
        if request.webhook_url is not None:  # a job without it would not notify that URL
            same["webhook_url"] = request.webhook_url
            same["webhook_headers"] = request.webhook_headers
        payload = {"url": canonical_url(url).text}
        if request.proxy_config_id is not None:  # a host may answer others differently
            same["proxy_config_id"] = payload["proxy_config_id"] = request.proxy_config_id
        return Draft(
            kind=CRAWL,
            payload=payload,
            priority=request.priority,
            domain=url.host,
            notify=notify,
            duplicate_key=None if request.force else fingerprint(same),
        )


def _single(placed: Sequence[Placed]) -> Reply:
    [only] = placed
    body = Submission(
        job_id=only.job.id,
        status=only.job.status,
        message=message_about(only),
        cached=only.is_answered,
    )
    return Reply(status=202, body=body.model_dump(mode="json"))


def _acceptable(checked: Sequence[_Checked]) -> list[Draft]:
    """Raises ValidationFailed when there are none."""
    drafts = [each.draft for each in checked if each.draft]
    if not drafts:
        raise _none_acceptable(checked)
    return drafts


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


def _none_acceptable(checked: Sequence[_Checked]) -> ValidationFailed:
    fields = [
        {"field": f"urls.{number}", "message": each.error.message, "code": each.error.code}
        for number, each in enumerate(checked)
        if each.error
    ]
    return ValidationFailed("none of the URLs can be crawled", details={"fields": fields})


def message_about(placed: Placed) -> str:
    """What the answer to a submission says of a job."""
    if placed.is_answered:
        return "crawled within the last 24 hours"
    return "already under way" if placed.duplicate else "accepted"


def _error_view(error: DomainError) -> ErrorView:
    return ErrorView(error=error.message, code=error.code, details=error.details)


def _view(job: Job) -> CrawlView:
    shared = job_view(job).model_dump(include=set(CrawlView.model_fields))
    return CrawlView(url=job.payload["url"], **shared)


def _batch_view(job: Job, counts: ChildCounts) -> BatchView:
    shared = job_view(job).model_dump(include=set(BatchView.model_fields))
    shared["progress"] = rules.progress_of(job, counts)
    return BatchView(**shared, **rules.summary(counts))
