"""Client ids and secrets of this application, by marketplace, from one JSON secret."""

from collections.abc import Callable, Mapping
from typing import Any

from spinneret.kernel.errors import Conflict
from spinneret.kernel.service import service
from spinneret.marketplace.connections.models import ClientSecrets


@service
class ConfiguredSecrets:
    """Client credentials of this application, from a secret of the form
    `{"ebay": {"client_id": …, "client_secret": …}, …}`."""

    read: Callable[[], Mapping[str, Any]]

    def client(self, marketplace: str) -> ClientSecrets:
        """Return the credentials. Raises Conflict if the stage has no client for the marketplace,
        and DependencyUnavailable."""
        found = self.read().get(marketplace)
        if not found or not found.get("client_id"):
            raise Conflict.of_field(
                "marketplace",
                f"this stage has no client for {marketplace}",
                f'its operator enters {{"{marketplace}": {{"client_id": …, "client_secret": …, '
                '"redirect_uri": …}} in the secret that the output MarketplaceSecret names '
                "(aws secretsmanager put-secret-value)",
            )
        return ClientSecrets(
            client_id=found["client_id"],
            client_secret=found.get("client_secret", ""),
            redirect_uri=found.get("redirect_uri", ""),
            webhook_secret=found.get("webhook_secret", ""),
        )
