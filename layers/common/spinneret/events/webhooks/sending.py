"""One attempt of a delivery: a signed POST, and its answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from spinneret.events.webhooks import limits, rules
from spinneret.events.webhooks.chats import outgoing
from spinneret.events.webhooks.excerpts import excerpt_of
from spinneret.events.webhooks.models import Endpoint, EndpointKind, Message, SealedSecrets
from spinneret.events.webhooks.signing import sign
from spinneret.events.webhooks.vault import DEFAULT, Vault, owner_of_url
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import FetchFailed, FetchTimeout
from spinneret.kernel.service import service
from spinneret.web.fetching.models import FetchRequest
from spinneret.web.fetching.ports import Fetcher
from spinneret.web.fetching.urls import parse_url


@dataclass(frozen=True, kw_only=True)
class Destination:
    """Current destination of a message."""

    url: str = field(repr=False)
    secrets: SealedSecrets
    sealed_headers: tuple[bytes, ...] = field(repr=False)
    endpoint: Endpoint | None

    @property
    def owner(self) -> str:
        """Owner id under which the secrets are sealed."""
        return DEFAULT if self.endpoint is None else self.endpoint.id

    @property
    def owner_of_headers(self) -> str:
        """Owner id under which the headers are sealed."""
        return owner_of_url(self.url) if self.endpoint is None else self.endpoint.id

    @property
    def kind(self) -> EndpointKind:
        """Format of the message."""
        return EndpointKind.WEBHOOK if self.endpoint is None else self.endpoint.kind

    @property
    def target(self) -> str:
        """Key of the target's cooldown."""
        return self.url if self.endpoint is None else self.endpoint.id

    @property
    def host(self) -> str:
        """Host to show in messages, since a URL may contain a credential."""
        return parse_url(self.url).host


@dataclass(frozen=True, kw_only=True)
class EndpointResponse:
    """Result of one attempt; `status` is None if there was no answer."""

    status: int | None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    text: str | None = field(default=None, repr=False)
    sent_at: datetime
    error: str
    """Error message if the attempt counts as failed."""
    duration_ms: int | None = None


@service
class Sender:
    """Send messages, each within WEBHOOK_SECONDS; follow no redirects."""

    fetcher: Fetcher
    vault: Vault
    clock: Clock

    def send(self, tenant: str, message: Message, to: Destination) -> EndpointResponse:
        """Send the message once. Raises UrlInvalid, UrlBlocked, SecretUnreadable."""
        url, body = outgoing(to.kind, to.url, message.body)
        now = self.clock()
        request = FetchRequest(
            url=parse_url(url),
            method="POST",
            body=body,
            headers=self._headers(tenant, message.id, body, to, now),
            follow_redirects=False,
            excerpt_bytes=limits.WEBHOOK_EXCERPT_BYTES,
            total_seconds=limits.WEBHOOK_SECONDS,
            read_seconds=limits.WEBHOOK_SECONDS,
        )
        try:
            page = self.fetcher.fetch(request)
        except (FetchTimeout, FetchFailed) as error:
            return EndpointResponse(status=None, sent_at=now, error=error.message)
        return EndpointResponse(
            status=page.status_code,
            headers=page.headers,
            text=excerpt_of(page.body),
            sent_at=now,
            error=f"{to.host} answered {page.status_code}",
            duration_ms=page.duration_ms,
        )

    def _headers(
        self, tenant: str, message_id: str, body: bytes, to: Destination, now: datetime
    ) -> Mapping[str, str]:
        custom = self.vault.headers(tenant, to.owner_of_headers, to.sealed_headers)
        keys = self.vault.secrets(tenant, to.owner, rules.in_force(to.secrets, now))
        signed = sign(body, id=message_id, timestamp=now, secrets=keys)
        return {**custom, "Content-Type": "application/json", **signed}
