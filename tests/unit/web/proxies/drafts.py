"""Drafts of proxy configurations, with defaults."""

from typing import Any

from spinneret.web.proxies.models import Credentials, RotationStrategy
from spinneret.web.proxies.service import ConfigDraft, ServerDraft

SPIDER = Credentials(username="spider", password="silk")


def server(port: int = 1, **given: Any) -> ServerDraft:
    """Return a draft of `http://proxy.example:<port>`; the port identifies the server."""
    return ServerDraft(**{"url": f"http://proxy.example:{port}", **given})


def draft(*servers: ServerDraft, **given: Any) -> ConfigDraft:
    """Return a draft of a configuration with round robin."""
    values: dict[str, Any] = {
        "name": "main",
        "servers": servers or (server(1), server(2), server(3)),
        "strategy": RotationStrategy.ROUND_ROBIN,
        "is_active": True,
    }
    return ConfigDraft(**values | given)
