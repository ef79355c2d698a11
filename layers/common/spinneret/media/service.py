"""Submit and read media jobs: the use cases behind the routes."""

from collections.abc import Callable, Sequence
from functools import partial

from spinneret.events.webhooks.service import WebhookService
from spinneret.jobs.models import Draft, JobRef, Priority, Reply, RequestKey
from spinneret.jobs.placement import Placed
from spinneret.jobs.service import JobService, Submitted
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import (
    BrowserMissing,
    DependencyUnavailable,
    DomainError,
    ValidationFailed,
    field_error,
)
from spinneret.kernel.ids import NewId
from spinneret.kernel.service import service
from spinneret.media.api_models import (
    MediaBatch,
    MediaError,
    MediaOutcome,
    MediaRequest,
    MediaSubmission,
    MediaView,
    PdfRequest,
    ScreenshotRequest,
    ScriptsRequest,
)
from spinneret.media.kinds import PDF, SCREENSHOT, SCRIPTS
from spinneret.media.models import Terms
from spinneret.media.ports import MediaStore
from spinneret.media.reading import media_view
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.rules import check_url_at_submission
from spinneret.web.fetching.urls import Url
from spinneret.web.hosts.service import HostService


@service
class MediaService:
    """Media of one tenant. Submissions raise BrowserMissing in a stage without one."""

    jobs: JobService
    store: MediaStore
    webhooks: WebhookService
    policy: AddressPolicy
    hosts: HostService
    clock: Clock
    new_id: NewId
    has_browser: bool

    def screenshot(
        self, tenant: str, request: ScreenshotRequest, key: RequestKey | None
    ) -> Submitted:
        """Accept one URL or several, each with a job of its own.

        Raises UrlInvalid, UrlBlocked, DomainBlocked and CircuitOpen for a single URL, and
        ValidationFailed if all of several URLs are refused.
        """
        if request.url is not None:
            return self._one(tenant, request, SCREENSHOT, request.url, request.terms, key)
        return self._submitted(key, lambda: self._several(tenant, request, key))

    def pdf(self, tenant: str, request: PdfRequest, key: RequestKey | None) -> Submitted:
        """Accept a page to print. Raises as `screenshot` for a single URL."""
        return self._one(tenant, request, PDF, request.url, request.terms, key)

    def scripts(self, tenant: str, request: ScriptsRequest, key: RequestKey | None) -> Submitted:
        """Store scripts, and accept the page in which to run them. Raises as `pdf`."""

        def terms(url: str) -> Terms:
            scripts_id = self.new_id("scripts")
            self.store.keep_scripts(tenant, scripts_id, request.scripts)
            return request.terms(url, scripts_id)

        return self._one(tenant, request, SCRIPTS, request.url, terms, key)

    def get(self, tenant: str, job_id: str) -> MediaView:
        """Return a job. Raises NotFound."""
        job = self.jobs.get(JobRef(tenant=tenant, job_id=job_id), SCREENSHOT, PDF, SCRIPTS)
        return media_view(job, self.store, self.clock())

    def _submitted(self, key: RequestKey | None, submit: Callable[[], Submitted]) -> Submitted:
        if not self.has_browser:
            raise BrowserMissing
        return self.jobs.replayed_or(key, submit)

    def _one(
        self,
        tenant: str,
        request: MediaRequest,
        kind: str,
        url: str,
        terms: Callable[[str], Terms],
        key: RequestKey | None,
    ) -> Submitted:
        def submit() -> Submitted:
            notify = self._notify(tenant, request)
            checked = self._checked(tenant, url)
            draft = _draft(kind, checked, terms(checked.text), notify)
            return self.jobs.submit(tenant, [draft], key, _single)

        return self._submitted(key, submit)

    def _several(
        self, tenant: str, request: ScreenshotRequest, key: RequestKey | None
    ) -> Submitted:
        urls = request.urls or ()
        notify = self._notify(tenant, request)
        checked = [self._checked_or_error(tenant, url) for url in urls]
        refused = [each for each in checked if isinstance(each, DomainError)]
        if len(refused) == len(checked):
            raise _none_acceptable(refused)
        drafts = [
            _draft(SCREENSHOT, each, request.terms(each.text), notify)
            for each in checked
            if isinstance(each, Url)
        ]
        return self.jobs.submit(tenant, drafts, key, partial(_batch, urls, checked))

    def _notify(self, tenant: str, request: MediaRequest) -> tuple[str, ...]:
        return self.webhooks.targets(tenant, request.webhook_url, request.webhook_headers)

    def _checked(self, tenant: str, url: str) -> Url:
        parsed = check_url_at_submission(url, self.policy)
        self.hosts.check_submission(tenant, parsed.host, parsed.unusual_port)
        return parsed

    def _checked_or_error(self, tenant: str, url: str) -> Url | DomainError:
        try:
            return self._checked(tenant, url)
        except DependencyUnavailable:
            raise
        except DomainError as error:
            return error


def _draft(kind: str, url: Url, terms: Terms, notify: tuple[str, ...]) -> Draft:
    return Draft(
        kind=kind,
        payload=terms.payload(),
        priority=Priority.NORMAL,
        domain=url.host,
        notify=notify,
        duplicate_key=None,  # a page may look different now
    )


def _single(placed: Sequence[Placed]) -> Reply:
    [only] = placed
    body = MediaSubmission(job_id=only.job.id, status=only.job.status, message="accepted")
    return Reply(status=202, body=body.model_dump(mode="json"))


def _batch(
    urls: Sequence[str], checked: Sequence[Url | DomainError], placed: Sequence[Placed]
) -> Reply:
    remaining = iter(placed)
    outcomes = [
        _refused(url, each) if isinstance(each, DomainError) else _accepted(url, next(remaining))
        for url, each in zip(urls, checked, strict=True)
    ]
    body = MediaBatch(
        batch_id=placed[0].job.batch,
        jobs=outcomes,
        total_submitted=len(placed),
        failed_count=len(outcomes) - len(placed),
    )
    return Reply(status=202, body=body.model_dump(mode="json"))


def _accepted(url: str, placed: Placed) -> MediaOutcome:
    return MediaOutcome(url=url, job_id=placed.job.id, status=placed.job.status, message="accepted")


def _refused(url: str, error: DomainError) -> MediaOutcome:
    shown = MediaError(error=error.message, code=error.code, details=error.details)
    return MediaOutcome(url=url, message="refused", error=shown)


def _none_acceptable(refused: Sequence[DomainError]) -> ValidationFailed:
    fields = [
        field_error(f"urls.{number}", error.message, code=error.code)
        for number, error in enumerate(refused)
    ]
    return ValidationFailed("none of the pages may be opened", details={"fields": fields})
