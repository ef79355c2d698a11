"""Submission and reading of discoveries: the use cases behind the routes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from spinneret.discovery import rules
from spinneret.discovery.api_models import DiscoverRequest, DiscoverySubmission
from spinneret.discovery.kinds import DISCOVER
from spinneret.discovery.models import DiscoverySource, FoundPage, FoundUrl, Terms
from spinneret.discovery.ports import DiscoveryStore
from spinneret.jobs.models import Draft, Job, JobRef, JobStatus, Priority, Reply, RequestKey
from spinneret.jobs.placement import Placed
from spinneret.jobs.service import JobService, Submitted
from spinneret.kernel import bounds
from spinneret.kernel.errors import DomainError, FeatureDisabled
from spinneret.kernel.service import service
from spinneret.web.exploring.scoring import Relevance
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.rules import require_reachable
from spinneret.web.fetching.urls import parse_url
from spinneret.web.hosts.service import HostService

_WITH_RESULT: Final = frozenset({JobStatus.COMPLETED, JobStatus.PARTIALLY_FAILED})


@dataclass(frozen=True, kw_only=True)
class DiscoveryResult:
    """A finished discovery with all found URLs."""

    status: JobStatus
    urls: tuple[FoundUrl, ...]
    error: str | None
    """Reason why there is no result."""


@service
class DiscoveryService:
    """Discoveries of one tenant. Methods raise FeatureDisabled if the stage doesn't offer them."""

    jobs: JobService
    store: DiscoveryStore
    policy: AddressPolicy
    hosts: HostService
    enabled: bool

    def submit(self, tenant: str, request: DiscoverRequest, key: RequestKey | None) -> Submitted:
        """Submit a discovery. Raises UrlInvalid, UrlBlocked, DomainBlocked, CircuitOpen and
        ValidationFailed.
        """
        return self.jobs.replayed_or(key, lambda: self._submit(tenant, request, key))

    def get(self, tenant: str, job_id: str, after: int, limit: int) -> tuple[Job, FoundPage]:
        """Return a discovery and part of its result. Raises NotFound."""
        self.require_enabled()
        job = self.jobs.get(JobRef(tenant=tenant, job_id=job_id), DISCOVER)
        if job.status not in _WITH_RESULT:
            return job, FoundPage(urls=(), after=None)
        return job, self.store.page(job.ref, after, limit)

    def scores(self, urls: Sequence[str], query: str) -> list[tuple[str, float | DomainError]]:
        """Return each URL's relevance to the query, 0 … 1; an error for an invalid URL."""
        self.require_enabled()
        relevance = Relevance.to_query(query)
        return [(url, _score(relevance, url)) for url in urls]

    def for_source(self, tenant: str, root: str, pattern: str, run_id: str) -> str:
        """Return the job that discovers the pages of a source's pattern; the same for the same run.

        Raises as `submit`.
        """
        request = DiscoverRequest(domain=root, pattern=pattern)
        key = RequestKey(tenant=tenant, scope=f"discovery of {run_id}", payload=run_id)
        return str(self.submit(tenant, request, key).reply.body["job_id"])

    def ended(self, tenant: str, job_id: str) -> DiscoveryResult | None:
        """Return all that a discovery found; None while it isn't finished. Raises NotFound."""
        job = self.jobs.get(JobRef(tenant=tenant, job_id=job_id), DISCOVER)
        if job.finished_at is None:
            return None
        urls: list[FoundUrl] = []
        has_result = job.status in _WITH_RESULT
        after: int | None = 0 if has_result else None
        while after is not None:
            page = self.store.page(job.ref, after, bounds.LIST_LIMIT_MAX)
            urls += page.urls
            after = page.after
        failure = None if has_result else job.last_error
        return DiscoveryResult(
            status=job.status, urls=tuple(urls), error=failure.message if failure else None
        )

    def require_enabled(self) -> None:
        """Raise FeatureDisabled if the stage offers no discovery."""
        if not self.enabled:
            raise FeatureDisabled("URL discovery is disabled")

    def _submit(self, tenant: str, request: DiscoverRequest, key: RequestKey | None) -> Submitted:
        self.require_enabled()
        roots = rules.roots_of(request.domain)
        rules.compiled(request.pattern)
        for root in roots:
            require_reachable(root, self.policy, "domain")
            self.hosts.check_submission(tenant, root.host, root.unusual_port)
        terms = Terms(
            domain=request.domain,
            roots=tuple(root.text for root in roots),
            sources=tuple(dict.fromkeys(map(DiscoverySource, request.sources))),
            pattern=request.pattern,
            max_urls=request.max_urls,
            score_query=request.score_query,
            score_threshold=request.score_threshold,
        )
        draft = Draft(
            kind=DISCOVER,
            payload=terms.payload(),
            priority=Priority.LOW,
            domain=roots[0].host,
            duplicate_key=None,
        )
        return self.jobs.submit(tenant, [draft], key, _accepted)


def _accepted(placed: Sequence[Placed]) -> Reply:
    [only] = placed
    body = DiscoverySubmission(job_id=only.job.id, status=only.job.status, message="accepted")
    return Reply(status=202, body=body.model_dump(mode="json"))


def _score(relevance: Relevance, url: str) -> float | DomainError:
    try:
        return relevance.of(parse_url(url))
    except DomainError as error:
        return error
