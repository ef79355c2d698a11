"""Settings of an instance's stage, from `set` or the environment, and stored with the instance.

They are named like the template's parameters. A later `deploy` uses the stored value of a setting
that isn't given. An empty value resets it to the default.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from spinneret.marketplace.registry import PLATFORMS
from spinneret.web.fetching.addresses import AddressPolicy
from stack.deployment import template_parameters
from stack.deployment.template_parameters import Parameter
from stack.errors import UsageError
from stack.files import write_json
from stack.instance import Instance
from stack.ports import HOST, Ports

FETCH_PARAMETER: Final = "FetchAllowedEndpoints"
EMBEDDER: Final = "SPINNERET_EMBEDDER"
"""`server` (the instance's own part) or `function` (as on AWS without a URL)."""
SERVER: Final = "server"
_WEBSITE: Final = f"http://{HOST}:{Ports.website}"
_MARKETS: Final = f"http://{HOST}:{Ports.markets}"
MARKET_HOSTS: Final = tuple(
    sorted(name for platform in PLATFORMS.values() for name in platform.hosts)
)
# Documented variables of `deploy`, and the parameters that they set.
PARAMETERS: Final = {
    "SPINNERET_FETCH_ALLOWED": FETCH_PARAMETER,
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
STACK_OWN: Final = ("Stage", "OpenSearchUrl", "EmbedderUrl", "WebSocketUrl")
"""Template parameters whose values follow from the instance."""
_OWN: Final = {
    EMBEDDER: (SERVER, "server, or function: embed in a function of the stack, as on AWS."),
}


@dataclass(frozen=True)
class Setting:
    """A setting of the stage: a parameter of the template, or one of the stack itself."""

    name: str
    default: str
    meaning: str
    variable: str | None
    """Environment variable that gives it to `deploy`."""
    parameter: Parameter | None

    @property
    def needs_deployment(self) -> bool:
        """Whether a change needs more than new variables of functions."""
        if self.parameter is None:
            return self.name == EMBEDDER
        return self.parameter.changes_resources

    def check(self, value: str) -> None:
        """Raise UsageError for a value that the deployment or the functions would reject."""
        if self.name == EMBEDDER:
            embedder({EMBEDDER: value})
        elif self.name == FETCH_PARAMETER:
            _check_endpoints(value)
        if self.parameter is not None:
            self.parameter.check(value)


def known(template: Path) -> dict[str, Setting]:
    """Return all settings by name, with the template's meanings and this stack's defaults."""
    declared = template_parameters.read(template)
    defaults = parameters({})
    variables = {name: variable for variable, name in PARAMETERS.items()}
    found = {
        name: Setting(
            name, defaults.get(name, each.default), each.meaning, variables.get(name), each
        )
        for name, each in declared.items()
        if name not in STACK_OWN
    }
    return found | {
        name: Setting(name, default, meaning, name, None)
        for name, (default, meaning) in _OWN.items()
    }


def find(name: str, among: Mapping[str, Setting]) -> Setting:
    """Return the setting with this name, in any spelling of its parameter or variable.

    Raises UsageError, with the most similar name, if there is none.
    """
    spelled = {_plain(each): each for each in among}
    spelled |= {_plain(each.variable): each.name for each in among.values() if each.variable}
    if _plain(name) in spelled:
        return among[spelled[_plain(name)]]
    similar = get_close_matches(_plain(name), spelled, n=1)
    advice = f"did you mean {spelled[similar[0]]}?" if similar else "`make settings` lists all"
    raise UsageError(f"no setting is named {name}: {advice}")


def check(settings: Mapping[str, str], among: Mapping[str, Setting]) -> None:
    """Raise UsageError for an unknown setting or an invalid value."""
    for name, value in settings.items():
        find(name, among).check(value)


def _plain(name: str) -> str:
    return name.removeprefix("SPINNERET_").replace("_", "").lower()


def _check_endpoints(value: str) -> None:
    try:
        AddressPolicy(frozenset(value.split(",")))
    except ValueError as error:
        raise UsageError(f"{FETCH_PARAMETER} is {value!r}: {error}") from error


def wanted(instance: Instance, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the settings to deploy by name: the environment's override the stored ones."""
    given = {name: environ[name] for name in _OWN if name in environ}
    given |= {name: environ[each] for each, name in PARAMETERS.items() if each in environ}
    return merge(kept(instance), given)


def merge(former: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """Return former settings with the given ones; an empty value removes a setting."""
    return {name: value for name, value in {**former, **given}.items() if value}


def keep(instance: Instance, settings: Mapping[str, str]) -> None:
    """Store the settings after their deployment, so that rejected or failed ones aren't reused."""
    write_json(instance.folder / "settings.json", dict(settings))


def kept(instance: Instance) -> dict[str, str]:
    """Return the settings of the last deployment by name."""
    try:
        found: dict[str, str] = json.loads((instance.folder / "settings.json").read_text())
    except FileNotFoundError:
        return {}
    found.pop("SPINNERET_SITE_PORT", None)  # an earlier version's: now a port of the instance
    # Earlier versions stored the names of variables.
    return {PARAMETERS.get(name, name): value for name, value in found.items()}


def embedder(settings: Mapping[str, str]) -> str:
    """Return which embedder to use. Raises UsageError for an unknown value."""
    chosen = settings.get(EMBEDDER) or SERVER
    if chosen not in {SERVER, "function"}:
        raise UsageError(f"{EMBEDDER} is {chosen!r} instead of server or function")
    return chosen


def parameters(
    settings: Mapping[str, str], website: str = _WEBSITE, markets: str = _MARKETS
) -> dict[str, str]:
    """Return the template's parameters that follow from the settings.

    `website` and `markets` are the URLs of the demonstration's servers.
    """
    chosen = {name: value for name, value in settings.items() if name not in _OWN}
    # A user's endpoints are added to the demonstration's, which would fail otherwise.
    own_site = ",".join(url.removeprefix("http://") for url in (website, markets))
    allowed = ",".join(filter(None, (own_site, chosen.get(FETCH_PARAMETER))))
    # Products of a laptop go to local marketplaces, never to real ones. Nobody buys there, so order
    # polling is disabled.
    hosts = market_hosts(markets, chosen.get("MarketplaceHosts", ""))
    own = {"OrderPollingEnabled": "false", **chosen, "MarketplaceHosts": hosts}
    return {**own, FETCH_PARAMETER: allowed}


def market_hosts(origin: str, given: str = "") -> str:
    """Return all marketplace hosts at one origin, in the format of the template's parameter.

    `given` are pairs of that format that replace single ones.
    """
    named = dict(pair.partition("=")[::2] for pair in given.split(",") if pair)
    hosts = {**dict.fromkeys(MARKET_HOSTS, origin), **named}
    return ",".join(f"{name}={at}" for name, at in hosts.items())
