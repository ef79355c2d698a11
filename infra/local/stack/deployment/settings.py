"""Settings of an instance's stage, from the environment and stored with the instance.

A later `deploy` uses the stored value of a setting that isn't given. An empty value resets it to
the default.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from spinneret.marketplace.registry import PLATFORMS
from stack.errors import UsageError
from stack.files import write_json
from stack.instance import Instance

FETCH_ALLOWED: Final = "SPINNERET_FETCH_ALLOWED"
SITE_PORT: Final = "SPINNERET_SITE_PORT"
EMBEDDER: Final = "SPINNERET_EMBEDDER"
"""`server` (the instance's own part) or `function` (as on AWS without a URL)."""
SERVER: Final = "server"
DEFAULT_SITE_PORT: Final = "8484"
MARKET_PORT: Final = 8486  # next to the benchmarks' port
"""Loopback port of the demonstration's marketplaces."""
MARKET_HOSTS: Final = tuple(
    sorted(name for platform in PLATFORMS.values() for name in platform.hosts)
)
# Template parameters that the environment may set.
PARAMETERS: Final = {
    "SPINNERET_CACHE__CRAWL_TTL_S": "CacheCrawlTtlS",
    "SPINNERET_CACHE__EMBED_TTL_S": "CacheEmbedTtlS",
    "SPINNERET_CACHE__QUERY_EMBED_TTL_S": "CacheQueryEmbedTtlS",
    "SPINNERET_CACHE__QUERY_TTL_S": "CacheQueryTtlS",
    "SPINNERET_CIRCUIT_BREAKER__THRESHOLD": "CircuitBreakerThreshold",
    "SPINNERET_CIRCUIT_BREAKER__TIMEOUT_S": "CircuitBreakerTimeoutS",
    "SPINNERET_COMMON_CRAWL_URL": "CommonCrawlUrl",
    "SPINNERET_CRAWL_TIMEOUT": "CrawlWorkerTimeout",
    "SPINNERET_DOMAIN_BURST": "DomainBurst",
    "SPINNERET_ENABLE_PROXY_ROTATION": "EnableProxyRotation",
    "SPINNERET_ENABLE_WEBHOOKS": "EnableWebhooks",
    "SPINNERET_INDEX_REPLICAS": "IndexReplicas",
    "SPINNERET_INDEX_SHARDS": "IndexShards",
    "SPINNERET_JOB__MAX_RETRIES": "JobMaxRetries",
    "SPINNERET_JOB__RESULT_TTL_S": "JobResultTtlS",
    "SPINNERET_JOB__RETRY_DELAYS_S": "JobRetryDelaysS",
    "SPINNERET_JOB__TIMEOUT_S": "JobTimeoutS",
    "SPINNERET_LOG_LEVEL": "LogLevel",
    "SPINNERET_RATE_LIMIT__API_RPM": "RateLimitApiRpm",
    "SPINNERET_RATE_LIMIT__DEFAULT_RPS": "RateLimitDefaultRps",
    "SPINNERET_TEI__BATCH_SIZE": "TeiBatchSize",
    "SPINNERET_TEI__TIMEOUT_S": "TeiTimeoutS",
    "SPINNERET_MARKETPLACE_HOSTS": "MarketplaceHosts",
    "SPINNERET_ORDER_POLLING_ENABLED": "OrderPollingEnabled",
    "SPINNERET_USER_AGENT": "UserAgent",
}
_NAMES: Final = (FETCH_ALLOWED, SITE_PORT, EMBEDDER, *PARAMETERS)


def wanted(instance: Instance, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the settings to deploy: the environment's override the stored ones."""
    settings = kept(instance) | {name: environ[name] for name in _NAMES if name in environ}
    return {name: value for name, value in settings.items() if value}


def keep(instance: Instance, settings: Mapping[str, str]) -> None:
    """Store the settings after their deployment, so that rejected or failed ones aren't reused."""
    write_json(instance.folder / "settings.json", dict(settings))


def kept(instance: Instance) -> dict[str, str]:
    """Return the settings of the last deployment."""
    try:
        found: dict[str, str] = json.loads((instance.folder / "settings.json").read_text())
    except FileNotFoundError:
        return {}
    return found


def site_port(settings: Mapping[str, str]) -> int:
    """Return the loopback port of the demonstration's website, a default for allowed fetches."""
    return int(settings.get(SITE_PORT) or DEFAULT_SITE_PORT)


def embedder(settings: Mapping[str, str]) -> str:
    """Return which embedder to use. Raises UsageError for an unknown value."""
    chosen = settings.get(EMBEDDER) or SERVER
    if chosen not in {SERVER, "function"}:
        raise UsageError(f"{EMBEDDER} is {chosen!r} instead of server or function")
    return chosen


def parameters(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the template's parameters that the settings name."""
    allowed = settings.get(FETCH_ALLOWED) or ",".join(
        f"127.0.0.1:{port}" for port in (site_port(settings), MARKET_PORT)
    )
    chosen = {
        name: settings[variable] for variable, name in PARAMETERS.items() if variable in settings
    }
    # Products of a laptop go to local marketplaces (`make demo-publish`), never to real ones. These
    # exist only while a demonstration or a test runs, so order polling is disabled.
    hosts = market_hosts(f"http://127.0.0.1:{MARKET_PORT}", chosen.get("MarketplaceHosts", ""))
    own = {"OrderPollingEnabled": "false", **chosen, "MarketplaceHosts": hosts}
    return {"FetchAllowedEndpoints": allowed, **own}


def market_hosts(origin: str, given: str = "") -> str:
    """Return all marketplace hosts at one origin, in the format of the template's parameter.

    `given` are pairs of that format that replace single ones.
    """
    named = dict(pair.partition("=")[::2] for pair in given.split(",") if pair)
    hosts = {**dict.fromkeys(MARKET_HOSTS, origin), **named}
    return ",".join(f"{name}={at}" for name, at in hosts.items())
