"""Secrets and headers of endpoints, sealed for the endpoint that they belong to."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from spinneret.events.webhooks.signing import new_secret
from spinneret.kernel import bounds
from spinneret.kernel.sealing import Sealer
from spinneret.kernel.service import service

DEFAULT: Final = "default"
"""Owner id for the `webhook_url`s of single jobs, instead of an endpoint's id."""


def owner_of_url(url: str) -> str:
    """Return the owner id for the headers of one `webhook_url`; no other URL can unseal them."""
    return f"url {hashlib.sha256(url.encode()).hexdigest()}"


@service
class Vault:
    """Seal for an `owner`: an endpoint's id, DEFAULT or `owner_of_url`.

    All methods raise DependencyUnavailable.
    """

    sealer: Sealer
    random: Callable[[int], bytes]

    def new_secret(self, tenant: str, owner: str) -> tuple[str, bytes]:
        """Return a new secret and its sealed form."""
        secret = new_secret(self.random)
        return secret, self.seal_secret(tenant, owner, secret)

    def seal_secret(self, tenant: str, owner: str, secret: str) -> bytes:
        """Return the sealed form of a secret."""
        return self.sealer.seal(secret.encode(), tenant=tenant, purpose=_of_secrets(owner))

    def secrets(self, tenant: str, owner: str, sealed: Sequence[bytes]) -> list[str]:
        """Return the secrets in their order. Raises SecretUnreadable."""
        purpose = _of_secrets(owner)
        return [
            self.sealer.unseal(each, tenant=tenant, purpose=purpose).decode() for each in sealed
        ]

    def seal_headers(
        self, tenant: str, owner: str, headers: Mapping[str, str]
    ) -> tuple[bytes, ...]:
        """Return the headers, sealed in parts within the sealer's bound; none for no headers."""
        text = json.dumps(headers).encode() if headers else b""
        step = bounds.SEALED_MAX_BYTES
        return tuple(
            self.sealer.seal(
                text[start : start + step], tenant=tenant, purpose=_of_headers(owner, number)
            )
            for number, start in enumerate(range(0, len(text), step))
        )

    def headers(self, tenant: str, owner: str, sealed: Sequence[bytes]) -> dict[str, str]:
        """Unseal the parts of `seal_headers`. Raises SecretUnreadable."""
        parts = [
            self.sealer.unseal(part, tenant=tenant, purpose=_of_headers(owner, number))
            for number, part in enumerate(sealed)
        ]
        return dict(json.loads(b"".join(parts))) if parts else {}


def _of_secrets(owner: str) -> str:
    return f"webhook-secret {owner}"


def _of_headers(owner: str, part: int) -> str:
    return f"webhook-headers {owner} {part}"
