"""Submit and read deep crawls: the use cases behind the routes."""

from collections.abc import Container, Mapping
from typing import Any, Final

from spinneret.content.documents.ports import DocumentStore
from spinneret.crawl import limits
from spinneret.crawl.checks import CrawlChecks
from spinneret.crawl.deep.models import (
    CrawledPageList,
    CrawledPageView,
    DeepCrawlRequest,
    DeepCrawlView,
)
from spinneret.crawl.kinds import DEEP_CRAWL
from spinneret.crawl.models import CrawlOptions, CrawlRequest
from spinneret.crawl.ports import PartStore
from spinneret.crawl.service import SourcePages, single_reply
from spinneret.events.webhooks.service import WebhookService
from spinneret.events.webhooks.targets import shown_webhook_url
from spinneret.jobs import rules
from spinneret.jobs.api_models import job_view
from spinneret.jobs.models import Draft, Job, JobRef, RequestKey
from spinneret.jobs.service import JobService, Submitted
from spinneret.kernel import bounds
from spinneret.kernel.canonical import fingerprint
from spinneret.kernel.clock import to_iso
from spinneret.kernel.errors import FeatureDisabled, NotFound, ValidationFailed
from spinneret.kernel.paging import cursor_of
from spinneret.kernel.service import service
from spinneret.web.exploring.frontier.guide import batch_pages_of, check_plan
from spinneret.web.exploring.frontier.models import (
    Crawl,
    CrawlRef,
    FrontierPage,
    PageState,
    Plan,
    Strategy,
)
from spinneret.web.exploring.frontier.service import Frontier
from spinneret.web.exploring.scope import ScopeKind

HOST_BUSY: Final = "HOST_BUSY"
"""Error code of a page that waits for its host; its message is the reservation there."""
HANDED_BACK: Final = "HANDED_BACK"
"""Error code of a page whose invocation ended before it."""
RECIPE: Final = 2  # increment it when the same crawl would yield another result


@service
class DeepCrawlService:
    """Submits and reads a tenant's deep crawls."""

    jobs: JobService
    frontier: Frontier
    checks: CrawlChecks
    webhooks: WebhookService
    documents: DocumentStore
    parts: PartStore
    enabled: bool
    pages_max: int

    def submit(self, tenant: str, request: DeepCrawlRequest, key: RequestKey | None) -> Submitted:
        """Accept a deep crawl.

        Raises FeatureDisabled, UrlInvalid, UrlBlocked, DomainBlocked, CircuitOpen, and
        ValidationFailed for more pages than the stage allows or for invalid patterns.
        """
        if not self.enabled:
            raise FeatureDisabled("this stage has no deep crawls")
        return self.jobs.replayed_or(key, lambda: self._submit(tenant, request, key))

    def submit_plain(
        self, tenant: str, request: CrawlRequest, max_depth: int, key: RequestKey | None
    ) -> Submitted:
        """Submit a crawl of one URL whose config has a depth. Raises the exceptions of `submit`."""
        shared = request.model_dump(include=set(CrawlOptions.model_fields))
        assert request.url is not None  # the request has a single URL
        return self.submit(
            tenant, DeepCrawlRequest(url=request.url, max_depth=max_depth, **shared), key
        )

    def submit_for_source(self, tenant: str, pages: SourcePages) -> str | None:
        """Crawl a website for one run of a source; return None if its config has no depth.

        A repeated call for the same run returns the same job. Raises NotFound (config, collection)
        and the exceptions of `submit`.
        """
        terms = self.checks.source_terms(
            tenant, pages.source_id, pages.config_id, pages.collection_id
        )
        depth = 0 if terms.config is None else terms.config.options.max_depth
        if not depth:
            return None
        if not self.enabled:
            raise FeatureDisabled("this stage has no deep crawls")
        [text] = pages.urls
        url = self.checks.url(tenant, text)
        most = min(self.pages_max, limits.SOURCE_DEEP_PAGES)
        fields = _plan_fields(DeepCrawlRequest(url=text, max_depth=depth, max_pages=most))
        draft = Draft(
            kind=DEEP_CRAWL,
            payload={**terms.payload(url), **fields},
            priority=terms.priority,
            domain=url.host,
            duplicate_key=None,
        )
        scope = fingerprint({"source_id": pages.source_id, "deep_run_id": pages.run_id})
        key = RequestKey(tenant=tenant, scope=scope, payload=scope)
        return str(self.jobs.submit(tenant, [draft], key, single_reply).reply.body["job_id"])

    def ended_for_source(self, tenant: str, job_id: str) -> tuple[Job, list[FrontierPage]] | None:
        """Return a deep crawl with its crawled and failed pages; None until it has ended.

        Raises NotFound.
        """
        ref = JobRef(tenant=tenant, job_id=job_id)
        job = self.jobs.get(ref, DEEP_CRAWL)
        if job.status not in rules.TERMINAL:
            return None
        found: list[FrontierPage] = []
        for state in (PageState.CRAWLED, PageState.FETCHED, PageState.FAILED):
            after: str | None = None
            while self._found(ref) is not None:
                page = self.frontier.pages(crawl_ref(ref), state, after, bounds.LIST_LIMIT_MAX)
                found += page.pages
                if page.after is None:
                    break
                after = page.after
        return job, found

    def get(self, tenant: str, job_id: str) -> DeepCrawlView | None:
        """Return a deep crawl; None if the job is missing or of another kind."""
        ref = JobRef(tenant=tenant, job_id=job_id)
        try:
            job = self.jobs.get(ref, DEEP_CRAWL)
        except NotFound:
            return None
        return _view(job, self._found(ref))

    def pages(
        self, tenant: str, job_id: str, state: PageState | None, after: str | None, limit: int
    ) -> CrawledPageList:
        """Return the URLs of a deep crawl. Raises NotFound, and ValidationFailed for the cursor."""
        ref = JobRef(tenant=tenant, job_id=job_id)
        self.jobs.get(ref, DEEP_CRAWL)
        if self._found(ref) is None:
            return CrawledPageList(items=[], next_cursor=None, has_more=False)
        found = self.frontier.pages(crawl_ref(ref), state, after, limit)
        ids = sorted({page.document_id for page in found.pages if page.document_id})
        shown = self.documents.shown(tenant, ids) if ids else ()
        return CrawledPageList(
            items=[self._page_view(page, shown) for page in found.pages],
            next_cursor=None if found.after is None else cursor_of(found.after),
            has_more=found.after is not None,
        )

    def _page_view(self, page: FrontierPage, shown: Container[str]) -> CrawledPageView:
        waits_after_error = page.state is PageState.OPEN and page.error_code not in {
            HOST_BUSY,
            HANDED_BACK,
        }
        failed = page.state is PageState.FAILED or waits_after_error
        key = page.parts_key if page.document_id in shown else None
        return CrawledPageView(
            url=page.url,
            depth=page.depth,
            score=page.score,
            status=page.state,
            discovered_at=to_iso(page.discovered_at),
            parent_url=page.parent,
            final_url=page.final_url,
            status_code=page.status_code,
            fetch_ms=page.fetch_ms,
            document_id=page.document_id,
            parts_url=None if key is None else self.parts.link(key, limits.CRAWL_LINK_SECONDS),
            error=(page.error_message or None) if failed else None,
            error_type=page.error_code if failed else None,
        )

    def _found(self, ref: JobRef) -> Crawl | None:
        """Return the crawl; None until it has begun."""
        try:
            return self.frontier.crawl(crawl_ref(ref))
        except NotFound:
            return None

    def _submit(self, tenant: str, request: DeepCrawlRequest, key: RequestKey | None) -> Submitted:
        url = self.checks.url(tenant, request.url)
        if request.max_pages > self.pages_max:
            raise ValidationFailed.of_field(
                "max_pages", f"this stage crawls up to {self.pages_max} pages"
            )
        fields = _plan_fields(request)
        check_plan(plan_of(fields))
        notify = self.webhooks.targets(tenant, request.webhook_url, request.webhook_headers)
        terms = self.checks.crawl_terms(tenant, request, notify)
        self.checks.require_unrendered(terms)
        # A deep crawl's tags are part of its identity: it may have made thousands of documents.
        tags = {"tags": sorted(set(request.tags))} if request.tags else {}
        same = {**terms.identity(DEEP_CRAWL, RECIPE, url), **tags, **fields}
        draft = Draft(
            kind=DEEP_CRAWL,
            payload={**self.checks.tagged(tenant, request, terms).payload(url), **fields},
            priority=request.priority,
            domain=url.host,
            notify=notify,
            duplicate_key=None if request.force else fingerprint(same),
        )
        return self.jobs.submit(tenant, [draft], key, single_reply)


def crawl_ref(ref: JobRef) -> CrawlRef:
    """Return the frontier's reference to a job's crawl."""
    return CrawlRef(ref.tenant, ref.job_id)


def plan_of(payload: Mapping[str, Any]) -> Plan:
    """Parse the plan in a job's payload."""
    strategy = Strategy(payload["strategy"])
    return Plan(
        strategy=strategy,
        batch_pages=batch_pages_of(strategy),
        max_depth=payload["max_depth"],
        max_pages=payload["max_pages"],
        keywords=tuple(payload["keywords"]),
        score_threshold=payload["score_threshold"],
        scope=ScopeKind(payload["scope"]),
        include=tuple(payload["include"]),
        exclude=tuple(payload["exclude"]),
    )


def _plan_fields(request: DeepCrawlRequest) -> dict[str, Any]:
    names = {
        *("strategy", "max_depth", "max_pages", "keywords", "score_threshold"),
        *("scope", "include", "exclude"),
    }
    return request.model_dump(mode="json", include=names)


def _view(job: Job, crawl: Crawl | None) -> DeepCrawlView:
    shared = job_view(job).model_dump(include=set(DeepCrawlView.model_fields))
    ended = crawl.end_reason if crawl else None
    return DeepCrawlView(
        **shared,
        root_url=job.payload["url"],
        strategy=Strategy(job.payload["strategy"]),
        max_depth=job.payload["max_depth"],
        max_pages=job.payload["max_pages"],
        keywords=job.payload["keywords"],
        score_threshold=job.payload["score_threshold"],
        scope=ScopeKind(job.payload["scope"]),
        include=job.payload["include"],
        exclude=job.payload["exclude"],
        webhook_url=shown_webhook_url(job.notify),
        pages_discovered=crawl.discovered if crawl else 0,
        pages_crawled=crawl.crawled if crawl else 0,
        pages_failed=crawl.failed if crawl else 0,
        current_depth=crawl.current_depth if crawl else 0,
        end_reason=ended.value if ended else None,
    )
