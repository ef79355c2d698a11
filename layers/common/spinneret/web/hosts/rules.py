"""Resolve the settings that apply to a host.

A block applies to its host and all names below it: a block of `example.com` covers
`www.example.com` and `shop.example.com` too. An override applies only to its own host: another host
of the registrable domain is another server, and bucket and breaker are stored per host.
"""

import operator
import re
from collections.abc import Iterable
from typing import Final

from spinneret.kernel.errors import UrlBlocked, UrlInvalid, ValidationFailed, field_error
from spinneret.web import limits
from spinneret.web.fetching.addresses import AddressPolicy, parse_address
from spinneret.web.fetching.rules import is_blocked
from spinneret.web.fetching.urls import parse_url
from spinneret.web.hosts.models import EffectiveSettings, HostSettings, Override
from spinneret.web.politeness.models import BreakerLimits, PaceLimits
from spinneret.web.politeness.rules import host_key, slowest

_LABEL: Final = re.compile(r"[a-z0-9_-]{1,63}")
_MORE_THAN_A_HOST: Final = re.compile(r"[/?#@\\]|:(?=\d*$)|\s")

USUAL: Final = PaceLimits()


def parse_host(text: str, policy: AddressPolicy) -> str:
    """Return the name for stored settings: IDNA, lower case, without `www.` and root dot.

    An IP address is its own name. Raises ValidationFailed for anything but a host (a URL, a port, a
    pattern) and for a single label, and UrlBlocked for a host that no fetch may reach. A host that
    the stage allows may be either.
    """
    literal = parse_address(text)
    bracketed = f"[{text}]" if literal is not None and ":" in text else text
    if not text or (literal is None and _MORE_THAN_A_HOST.search(text)):
        raise _invalid("expected a host name without scheme, port and path")
    try:
        url = parse_url(f"http://{bracketed}/")
    except UrlInvalid as error:
        raise _invalid("is not a valid host name") from error
    host = host_key(url.host)
    if policy.allows_host(url.host):
        return host
    if is_blocked(url, policy):
        raise UrlBlocked.of_field("domain", f"{url.host} must not be reached")
    if parse_address(host) is None:
        _require_name(host)
    return host


def host_and_parents(host: str) -> tuple[str, ...]:
    """Return the hosts whose settings may affect a host: itself first, then its parents.

    The last parent has two labels, since a top-level domain can't be blocked with all names below
    it. Public suffixes aren't excluded, so that `github.io` can be blocked.
    """
    if parse_address(host) is not None:
        return (host,)
    labels = host.split(".")[-limits.DOMAIN_LABELS_MAX :]
    return tuple(".".join(labels[start:]) for start in range(max(1, len(labels) - 1)))


def effective(
    tenant: str, host: str, stored: Iterable[HostSettings], default: PaceLimits = USUAL
) -> EffectiveSettings:
    """Apply the stored settings of a host and its parents; `default` is the stage's pace."""
    by_host = {each.host: each for each in stored}
    own = by_host.get(host) or HostSettings(tenant=tenant, host=host)
    found = (by_host.get(each) for each in host_and_parents(host))
    return EffectiveSettings(
        settings=own,
        blocked_by=next((each for each in found if each and each.block), None),
        pace=pace_of(own.override, default),
    )


def pace_of(override: Override, default: PaceLimits = USUAL) -> PaceLimits:
    """Return the default pace slowed down by the override, never a faster one."""
    own = PaceLimits(
        rate=override.requests_per_second or default.rate,
        burst=override.burst or default.burst,
        own_gap_seconds=override.min_gap_seconds,
        breaker=BreakerLimits(
            threshold=override.breaker_failures or default.breaker.threshold,
            open_seconds=override.breaker_seconds or default.breaker.open_seconds,
        ),
    )
    return slowest(default, own)


def require_slower(override: Override, default: PaceLimits) -> None:
    """Raise ValidationFailed for settings that make requests more frequent than by default."""
    faster = [
        (field, f"is {bound} by default and can only be {side}")
        for field, own, bound, side, is_faster in (
            ("rate_limit_rps", override.requests_per_second, default.rate, "lower", operator.gt),
            ("burst", override.burst, default.burst, "lower", operator.gt),
            (
                "circuit_breaker_threshold",
                override.breaker_failures,
                default.breaker.threshold,
                "lower",
                operator.gt,
            ),
            (
                "circuit_breaker_timeout_s",
                override.breaker_seconds,
                default.breaker.open_seconds,
                "longer",
                operator.lt,
            ),
        )
        if own is not None and is_faster(own, bound)
    ]
    if faster:
        raise ValidationFailed(
            "settings can only lower the rate of requests",
            details={"fields": [field_error(field, text) for field, text in faster]},
        )


def _require_name(host: str) -> None:
    labels = host.split(".")
    if not all(map(_LABEL.fullmatch, labels)):
        raise _invalid("is not a valid host name")
    if not 2 <= len(labels) <= limits.DOMAIN_LABELS_MAX:
        raise _invalid(f"needs 2 to {limits.DOMAIN_LABELS_MAX} labels")


def _invalid(reason: str) -> ValidationFailed:
    return ValidationFailed.of_field("domain", reason, error=f"the domain {reason}")
