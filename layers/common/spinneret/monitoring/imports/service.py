"""Submit imports: the use case behind the route."""

from spinneret.jobs.models import Draft, Priority, Reply, RequestKey
from spinneret.jobs.service import JobService, Submitted
from spinneret.kernel.canonical import fingerprint
from spinneret.kernel.service import service
from spinneret.monitoring.imports import rules
from spinneret.monitoring.imports.api_models import ImportRequest, ImportSubmission, payload_of
from spinneret.monitoring.kinds import TARGET_IMPORT
from spinneret.monitoring.targets.rules import require_interval
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.rules import check_url_at_submission


@service
class ImportService:
    """Submits a tenant's imports."""

    jobs: JobService
    policy: AddressPolicy
    shortest_interval: int
    """Minimum check interval in seconds."""

    def submit(self, tenant: str, request: ImportRequest, key: RequestKey | None) -> Submitted:
        """Submit a file or a sitemap's URL as a job; an identical import under way is reused.

        Raises ValidationFailed, UrlInvalid, UrlBlocked and IdempotencyMismatch.
        """
        return self.jobs.replayed_or(key, lambda: self._submit(tenant, request, key))

    def _submit(self, tenant: str, request: ImportRequest, key: RequestKey | None) -> Submitted:
        host = None
        if request.csv is not None:
            rules.lines_of(request.csv)
        elif request.sitemap_url is not None:
            if (seconds := request.options.interval_seconds) is not None:
                require_interval(seconds, self.shortest_interval, "options.interval_seconds")
            url = check_url_at_submission(request.sitemap_url, self.policy, "sitemap_url")
            host = url.host
        payload = payload_of(request)
        draft = Draft(
            kind=TARGET_IMPORT,
            payload=payload,
            priority=Priority.NORMAL,
            domain=host,
            duplicate_key=fingerprint({"kind": TARGET_IMPORT, **payload}),
        )
        return self.jobs.submit(
            tenant,
            [draft],
            key,
            lambda placed: Reply(
                status=202,
                body=ImportSubmission(
                    job_id=placed[0].job.id,
                    status=placed[0].job.status,
                    message="already under way" if placed[0].duplicate else "accepted",
                ).model_dump(mode="json"),
            ),
        )
