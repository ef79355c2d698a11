"""Encryption of request headers, since a value may be a credential."""

import json
from collections.abc import Mapping
from typing import Final

from spinneret.kernel.sealing import Sealer

CRAWL_CONFIGS: Final = "crawl-config-headers"
AUDITS: Final = "audit-headers"


class HeaderSeal:
    """Encrypts headers for the store and for jobs; only fetches decrypt them."""

    def __init__(self, sealer: Sealer, purpose: str) -> None:
        self._sealer = sealer
        self._purpose = purpose

    def close(self, tenant: str, headers: Mapping[str, str]) -> bytes | None:
        """Encrypt the headers; return None for no headers. Raises DependencyUnavailable."""
        if not headers:
            return None
        text = json.dumps(dict(headers)).encode()
        return self._sealer.seal(text, tenant=tenant, purpose=self._purpose)

    def open(self, tenant: str, sealed: bytes | None) -> dict[str, str]:
        """Decrypt the headers. Raises DependencyUnavailable and SecretUnreadable."""
        if sealed is None:
            return {}
        return dict(json.loads(self._sealer.unseal(sealed, tenant=tenant, purpose=self._purpose)))
