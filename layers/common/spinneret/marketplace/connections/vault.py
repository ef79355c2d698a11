"""Seal tokens for their tenant, marketplace and use (T-05)."""

from collections.abc import Sequence

from spinneret.kernel import bounds
from spinneret.kernel.sealing import Sealer
from spinneret.kernel.service import service


@service
class TokenVault:
    """Seals tokens in parts within the sealer's bound, because eBay's tokens have thousands of
    characters. All methods raise DependencyUnavailable."""

    sealer: Sealer

    def seal(self, tenant: str, marketplace: str, use: str, secret: str) -> tuple[bytes, ...]:
        """Seal the secret and return its parts."""
        raw, step = secret.encode(), bounds.SEALED_MAX_BYTES
        return tuple(
            self.sealer.seal(
                raw[start : start + step],
                tenant=tenant,
                purpose=f"marketplace-{use} {marketplace} {number}",
            )
            for number, start in enumerate(range(0, len(raw), step))
        )

    def unseal(self, tenant: str, marketplace: str, use: str, parts: Sequence[bytes]) -> str:
        """Return the secret of sealed parts. Raises SecretUnreadable."""
        return b"".join(
            self.sealer.unseal(
                part, tenant=tenant, purpose=f"marketplace-{use} {marketplace} {number}"
            )
            for number, part in enumerate(parts)
        ).decode()
