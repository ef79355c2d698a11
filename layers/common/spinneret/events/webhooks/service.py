"""Webhook endpoints of a tenant, their deliveries, and the targets of a job's notifications."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from spinneret.events.webhooks import limits, rules
from spinneret.events.webhooks.chats import require_form
from spinneret.events.webhooks.kinds import DELIVERY
from spinneret.events.webhooks.messages import (
    ID_PREFIX,
    draft_of,
    message_of,
    redelivery_key,
    trial_message,
)
from spinneret.events.webhooks.models import (
    Delivery,
    Endpoint,
    EndpointKind,
    Message,
    RequestedEndpoint,
    SealedSecrets,
)
from spinneret.events.webhooks.ports import DeliveryLog, EndpointStore
from spinneret.events.webhooks.subscriptions import require_readable
from spinneret.events.webhooks.targets import UrlTarget, target_text
from spinneret.events.webhooks.vault import DEFAULT, Vault, owner_of_url
from spinneret.jobs.models import Draft, JobRef, Reply, RequestKey
from spinneret.jobs.placement import Placed
from spinneret.jobs.rules import TERMINAL
from spinneret.jobs.service import JobService, Submitted
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import Conflict, FeatureDisabled, NotFound, ValidationFailed, existing
from spinneret.kernel.ids import NewId
from spinneret.kernel.paging import Page
from spinneret.kernel.races import until_written
from spinneret.kernel.service import service
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.rules import check_url_at_submission
from spinneret.web.headers.rules import require_same_origin

_JOB_HEADERS: Final = "webhook_headers"


@service
class WebhookService:
    """Webhooks of one tenant.

    `targets`, `test` and `redeliver` check themselves that the feature is on, because a stored
    answer is replayed even if it is off. Before all other methods, callers must call
    `require_enabled`.
    """

    endpoints: EndpointStore
    log: DeliveryLog
    jobs: JobService
    vault: Vault
    policy: AddressPolicy
    clock: Clock
    new_id: NewId
    enabled: bool = True

    def require_enabled(self) -> None:
        """Raise FeatureDisabled if the stage offers no webhooks."""
        if not self.enabled:
            raise FeatureDisabled("webhooks are disabled")

    # ------------------------------------------------------------ For submitters of jobs

    def targets(
        self, tenant: str, webhook_url: str | None, webhook_headers: Mapping[str, str]
    ) -> tuple[str, ...]:
        """Return the webhooks of one job that is submitted now (`Draft.notify`).

        This is its own URL, if any, with its headers, sealed. The tenant's endpoints are looked up
        when the job ends. Raises FeatureDisabled, UrlInvalid, UrlBlocked, ValidationFailed
        (headers), and Conflict if there is no secret to sign with.
        """
        headers = rules.allowed_headers(webhook_headers, _JOB_HEADERS)
        if headers and webhook_url is None:
            raise ValidationFailed.of_field(_JOB_HEADERS, "webhook_headers require a webhook_url")
        if webhook_url is None:
            return ()
        self.require_enabled()
        url = check_url_at_submission(webhook_url, self.policy, "webhook_url").text
        if self.endpoints.default_secrets(tenant) is None:
            raise Conflict.of_field(
                "webhook_url",
                "a webhook_url requires the tenant's default secret, which doesn't exist yet",
                "create it with POST /api/v1/webhooks/default-secret (scope admin)",
            )
        sealed = self.vault.seal_headers(tenant, owner_of_url(url), headers)
        return (target_text(UrlTarget(url=url, sealed_headers=sealed)),)

    def source_targets(self, tenant: str, source_id: str) -> tuple[str, ...]:
        """Return the active webhooks of a source, which are notified of its runs."""
        if not self.enabled:
            return ()
        return tuple(each.id for each in self.of_source(tenant, source_id) if each.is_active)

    def of_source(self, tenant: str, source_id: str) -> tuple[Endpoint, ...]:
        """Return the webhooks of a source, newest first."""
        page = self.endpoints.page(tenant, None, limits.WEBHOOK_ENDPOINTS_MAX)
        return tuple(each for each in page.items if each.source_id == source_id)

    def remove_of_source(self, tenant: str, source_id: str) -> None:
        """Remove the webhooks of a source."""
        for each in self.of_source(tenant, source_id):
            self.endpoints.remove(tenant, each.id)

    # ------------------------------------------------------------ Endpoints

    def create(
        self, tenant: str, requested: RequestedEndpoint, secret: str | None = None
    ) -> tuple[Endpoint, str]:
        """Return a new endpoint and its secret, which is generated unless given.

        Raises UrlInvalid, UrlBlocked, ValidationFailed (headers, secret), Forbidden for events that
        the caller may not read, and Conflict for too many endpoints.
        """
        require_readable(requested)
        endpoint_id = self.new_id("wh")
        headers = rules.allowed_headers(requested.headers or {})
        kind = requested.kind or EndpointKind.WEBHOOK
        url = check_url_at_submission(requested.url, self.policy).text
        require_form(kind, url)
        if secret is None:
            secret, sealed = self.vault.new_secret(tenant, endpoint_id)
        else:
            rules.check_strength(secret)
            sealed = self.vault.seal_secret(tenant, endpoint_id, secret)
        now = self.clock()
        endpoint = Endpoint(
            tenant=tenant,
            id=endpoint_id,
            name=requested.name,
            url=url,
            kind=kind,
            events=requested.events,
            secrets=SealedSecrets(newest=sealed),
            header_names=tuple(headers),
            sealed_headers=self.vault.seal_headers(tenant, endpoint_id, headers),
            without_accounts=requested.without_accounts,
            source_id=requested.source_id,
            is_active=requested.is_active,
            created_at=now,
            updated_at=now,
        )
        self.endpoints.add(endpoint, limits.WEBHOOK_ENDPOINTS_MAX)
        return endpoint, secret

    def get(self, tenant: str, endpoint_id: str) -> Endpoint:
        """Return the endpoint. Raises NotFound."""
        return existing(self.endpoints.get(tenant, endpoint_id), "webhook")

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Endpoint]:
        """See EndpointStore.page."""
        return self.endpoints.page(tenant, after, limit)

    def update(self, tenant: str, endpoint_id: str, requested: RequestedEndpoint) -> Endpoint:
        """Replace all but the secrets. Raises NotFound and the errors of `create`."""
        require_readable(requested)
        changes: dict[str, Any] = {
            "name": requested.name,
            "url": check_url_at_submission(requested.url, self.policy).text,
            "events": requested.events,
            "is_active": requested.is_active,
            "without_accounts": requested.without_accounts,
            "disabled_reason": None,
        }
        if requested.headers is not None:
            headers = rules.allowed_headers(requested.headers)
            changes["header_names"] = tuple(headers)
            changes["sealed_headers"] = self.vault.seal_headers(tenant, endpoint_id, headers)

        def changed(former: Endpoint) -> Endpoint:
            kind = requested.kind or former.kind
            require_form(kind, changes["url"])
            if former.header_names and requested.headers is None:
                require_same_origin(former.url, changes["url"])
            return replace(former, **changes, kind=kind)

        return self._change(tenant, endpoint_id, changed)

    def remove(self, tenant: str, endpoint_id: str) -> None:
        """Remove an endpoint; its pending deliveries fail. Raises NotFound."""
        if not self.endpoints.remove(tenant, endpoint_id):
            raise NotFound("no such webhook")

    def rotate(self, tenant: str, endpoint_id: str) -> tuple[Endpoint, str]:
        """Create a new secret; the previous one signs for one more day. Raises NotFound."""
        self.get(tenant, endpoint_id)
        secret, sealed = self.vault.new_secret(tenant, endpoint_id)

        def with_new(former: Endpoint) -> Endpoint:
            return replace(former, secrets=rules.rotated(former.secrets, sealed, self.clock()))

        return self._change(tenant, endpoint_id, with_new), secret

    def rotate_default(self, tenant: str) -> tuple[SealedSecrets, str]:
        """Create a new default secret; any previous one signs for one more day."""
        secret, sealed = self.vault.new_secret(tenant, DEFAULT)

        def rotated() -> SealedSecrets | None:
            former = self.endpoints.default_secrets(tenant)
            secrets = rules.rotated(former, sealed, self.clock())
            return secrets if self.endpoints.replace_default(tenant, former, secrets) else None

        return until_written(rotated, Conflict("the secret is changing; try again")), secret

    # ------------------------------------------------------------ Deliveries

    def deliveries(
        self, tenant: str, endpoint_id: str, after: str | None, limit: int
    ) -> Page[Delivery]:
        """Return the log of an endpoint, or with DEFAULT that of the `webhook_url`s of single jobs.

        Raises NotFound.
        """
        return self.log.page(tenant, self._logged_under(tenant, endpoint_id), after, limit)

    def test(self, tenant: str, endpoint_id: str, key: RequestKey | None) -> Submitted:
        """Send `webhook.test`. Raises NotFound, and Conflict if the endpoint is inactive."""
        return self.jobs.replayed_or(key, lambda: self._test(tenant, endpoint_id, key))

    def _test(self, tenant: str, endpoint_id: str, key: RequestKey | None) -> Submitted:
        self.require_enabled()
        endpoint = self.get(tenant, endpoint_id)
        if not endpoint.is_active:
            raise Conflict("the webhook is inactive")
        message = trial_message(self.new_id(ID_PREFIX), endpoint.id, self.clock())
        return self._submit(tenant, message, draft_of(message, endpoint.url, None), key)

    def redeliver(
        self, tenant: str, endpoint_id: str, delivery_id: str, key: RequestKey | None
    ) -> Submitted:
        """Send the same message again, in a new series of attempts to the endpoint's current URL.

        Raises NotFound, also after the body's retention has ended. Raises Conflict while the
        message is being delivered, or if the endpoint is inactive.
        """
        return self.jobs.replayed_or(
            key, lambda: self._redeliver(tenant, endpoint_id, delivery_id, key)
        )

    def _redeliver(
        self, tenant: str, endpoint_id: str, delivery_id: str, key: RequestKey | None
    ) -> Submitted:
        self.require_enabled()
        logged_under = self._logged_under(tenant, endpoint_id)
        line = existing(self.log.get(tenant, logged_under, delivery_id), "delivery")
        job = self.jobs.get(JobRef(tenant=tenant, job_id=line.delivery_job_id), DELIVERY)
        if job.status not in TERMINAL:
            raise Conflict("the delivery is under way", details={"job_id": job.id})
        message = message_of(job.payload)
        url = message.url
        if url is None:
            endpoint = self.get(tenant, endpoint_id)
            if not endpoint.is_active:
                raise Conflict("the webhook is inactive")
            url = endpoint.url
        draft = draft_of(message, url, redelivery_key(message, job.id))
        return self._submit(tenant, message, draft, key)

    def _logged_under(self, tenant: str, endpoint_id: str) -> str | None:
        return None if endpoint_id == DEFAULT else self.get(tenant, endpoint_id).id

    def _submit(
        self, tenant: str, message: Message, draft: Draft, key: RequestKey | None
    ) -> Submitted:
        def accepted(placed: Sequence[Placed]) -> Reply:
            [only] = placed
            body = {
                "delivery_id": message.id,
                "job_id": only.job.id,
                "status": only.job.status,
                "message": "already under way" if only.duplicate else "accepted",
            }
            return Reply(status=202, body=body)

        return self.jobs.submit(tenant, [draft], key, accepted)

    def _change(
        self, tenant: str, endpoint_id: str, change: Callable[[Endpoint], Endpoint]
    ) -> Endpoint:
        def changed() -> Endpoint | None:
            former = self.get(tenant, endpoint_id)
            after = replace(change(former), updated_at=self.clock(), version=former.version + 1)
            return after if self.endpoints.replace(former, after) else None

        return until_written(changed, Conflict("the webhook is changing; try again"))
