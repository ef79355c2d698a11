"""Rules for choosing the server of a request."""

from collections.abc import Sequence
from typing import Final

from spinneret.kernel.errors import UrlInvalid, ValidationFailed
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.models import Proxy
from spinneret.web.fetching.rules import require_reachable
from spinneret.web.fetching.urls import Url, parse_url
from spinneret.web.proxies import limits
from spinneret.web.proxies.models import Credentials, ProxyConfig, Usage

_MEMORY_SECONDS: Final = round(limits.PROXY_MEMORY_SECONDS)


def server_url(text: str, policy: AddressPolicy, field: str) -> str:
    """Return the canonical form of a server's URL: scheme, host and port.

    Raises ValidationFailed and UrlBlocked, which name the field and never the text, since people
    paste credentials.
    """
    try:
        url = parse_url(text)
    except UrlInvalid as error:
        raise ValidationFailed.about(field, str(error.details["reason"])) from error
    if url.target != "/":
        raise ValidationFailed.about(field, "has a path or a query")
    require_reachable(url, policy, field)
    return _text(url)


def proxy_of(url: str, credentials: Credentials | None) -> Proxy:
    """Return a server in the form that the fetcher takes."""
    parts = parse_url(url)
    if credentials is None:
        return Proxy(scheme=parts.scheme, host=parts.host, port=parts.port)
    return Proxy(
        scheme=parts.scheme,
        host=parts.host,
        port=parts.port,
        username=credentials.username,
        password=credentials.password,
    )


def failures_of(usage: Usage, position: int, now: int) -> int:
    """Return the consecutive failures that haven't expired."""
    failures = usage.failures.get(position)
    if failures is None or failures.last_at <= now - _MEMORY_SECONDS:
        return 0
    return failures.count


def is_resting(usage: Usage, position: int, now: int) -> bool:
    """Whether a server is skipped for its failures while others are available."""
    return failures_of(usage, position, now) >= limits.PROXY_FAILURES


def candidates(config: ProxyConfig, usage: Usage, now: int) -> tuple[int, ...]:
    """Return the positions to choose from: all that aren't resting, or all if every one is."""
    everyone = range(len(config.servers))
    fit = tuple(position for position in everyone if not is_resting(usage, position, now))
    return fit or tuple(everyone)


def round_robin(positions: Sequence[int], picks: int) -> int:
    """Return the next position; `picks` counts from 1."""
    return positions[(picks - 1) % len(positions)]


def at_random(positions: Sequence[int], chance: float) -> int:
    """Return a random position; `chance` is from 0 to below 1."""
    return positions[int(chance * len(positions))]


def least_used(positions: Sequence[int], usage: Usage, now: int, chance: float) -> int:
    """Return one of the positions with the fewest uses in the current hour.

    Chance decides between equals, so that workers that choose at the same time rarely conflict.
    """
    uses = {position: uses_of(usage, position, now) for position in positions}
    fewest = min(uses.values())
    return at_random([each for each in positions if uses[each] == fewest], chance)


def uses_of(usage: Usage, position: int, now: int) -> int:
    """Return the uses of a server in the current hour."""
    return 0 if hour_is_over(usage, now) else usage.uses.get(position, 0)


def hour_is_over(usage: Usage, now: int) -> bool:
    """Whether counting restarts, so that a recovered server isn't flooded to catch up."""
    return usage.counted_since is None or usage.counted_since <= now - _MEMORY_SECONDS


def _text(url: Url) -> str:
    host = f"[{url.host}]" if ":" in url.host else url.host
    return f"{url.scheme}://{host}:{url.port}"
