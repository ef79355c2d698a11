"""Checks of URLs before a fetch, and of responses after it."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final

from spinneret.kernel import bounds
from spinneret.kernel.errors import (
    ContentRefused,
    HttpRefused,
    HttpUnavailable,
    UrlBlocked,
    UrlInvalid,
)
from spinneret.web.fetching.addresses import AddressPolicy, allowance, parse_address
from spinneret.web.fetching.charsets import decode_text
from spinneret.web.fetching.models import FetchedPage
from spinneret.web.fetching.urls import Url, parse_url

__all__ = [
    "check_url_at_submission",
    "decode_text",
    "is_blocked",
    "parse_field",
    "parse_retry_after",
    "require_reachable",
    "require_success",
    "require_success_status",
]

# Internal names by convention (RFC 6761, RFC 6762, RFC 8375, ICANN's `internal`). They include the
# metadata services of Google and AWS (`metadata.google.internal`, `instance-data.ec2.internal`).
_INSIDE_SUFFIXES: Final = ("localhost", "local", "internal", "home.arpa")
# Other names of metadata services: as the clouds document them, and as search domains complete
# them. Their addresses are rejected as well, but a name server may return others.
_METADATA_SUFFIXES: Final = (
    *("metadata.azure.com", "metadata.goog", "metadata.tencentyun.com"),
    *("metadata", "instance-data", "rancher-metadata"),
)
_TRY_AGAIN: Final = frozenset(
    {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS}
)
_WITHOUT_CONTENT: Final = frozenset({HTTPStatus.NO_CONTENT, HTTPStatus.RESET_CONTENT})


def check_url_at_submission(text: str, policy: AddressPolicy, field: str = "url") -> Url:
    """Parse a submitted URL, and reject URLs that need no name resolution for it.

    Raises UrlInvalid and UrlBlocked, which name the field of the request. DNS answers are checked
    when the page is fetched.
    """
    url = parse_field(text, field)
    require_reachable(url, policy, field)
    return url


def parse_field(text: str, field: str) -> Url:
    """Parse the URL in a field of the request. Raises UrlInvalid, which names the field."""
    try:
        return parse_url(text)
    except UrlInvalid as error:
        fields = [{**each, "path": field} for each in error.details["fields"]]
        raise UrlInvalid(error.message, details={**error.details, "fields": fields}) from error


def require_reachable(url: Url, policy: AddressPolicy, field: str) -> None:
    """Raise UrlBlocked unless the URL may be fetched.

    It names the field of the request, and the parameter of the stage that would allow the URL.
    """
    if not policy.permits_port(url.host, url.port):
        message = f"port {url.port} of {url.host} must not be reached"
        raise UrlBlocked.of_field(field, message, allowance(_pair(url)))
    if is_blocked(url, policy):
        raise UrlBlocked.of_field(field, f"{url.host} must not be reached", allowance(_pair(url)))


def _pair(url: Url) -> str:
    return f"[{url.host}]:{url.port}" if ":" in url.host else f"{url.host}:{url.port}"


def is_blocked(url: Url, policy: AddressPolicy) -> bool:
    """Whether a URL is rejected without a lookup: non-public address, internal name, bad port."""
    if not policy.permits_port(url.host, url.port):
        return True
    if parse_address(url.host) is not None:
        return not policy.permits(url.host, url.port, url.host)
    name = url.host.removesuffix(".")
    inside = any(
        name == suffix or name.endswith(f".{suffix}")
        for suffix in (*_INSIDE_SUFFIXES, *_METADATA_SUFFIXES)
    )
    return inside and not policy.allows_pair(url.host, url.port)


def require_success(page: FetchedPage, now: datetime) -> None:
    """Require a 2xx response with a body. Raises like `require_success_status`."""
    require_success_status(page, now)
    if not page.body:
        host, status = page.requested.host, page.status_code
        details = {"status_code": status}
        raise ContentRefused(f"{host} answered {status} with an empty body", details=details)


def require_success_status(page: FetchedPage, now: datetime) -> None:
    """Require a 2xx response that may have a body, which was read on arrival.

    Raises HttpUnavailable (408, 425, 429, 5xx) with the host's Retry-After in seconds from `now`,
    HttpRefused for any other status (including an unusable redirect), and ContentRefused.
    """
    host, status = page.requested.host, page.status_code
    details = {"status_code": status}
    if status in _TRY_AGAIN or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise HttpUnavailable(
            f"{host} answered {status}",
            details=details,
            retry_after=parse_retry_after(page.headers.get("retry-after", ""), now),
        )
    if not HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        raise HttpRefused(f"{host} answered {status}", details=details)
    if status in _WITHOUT_CONTENT:
        phrase = HTTPStatus(status).phrase
        raise ContentRefused(f"{host} answered {status} {phrase}", details=details)


def parse_retry_after(
    value: str, now: datetime, most: float = bounds.RETRY_AFTER_MAX_SECONDS
) -> float | None:
    """Return the seconds to wait, from 0 to `most`, or None for a missing or malformed value."""
    text = value.strip()
    if text.isascii() and text.isdigit():
        # Ten digits already exceed any cap, and int() rejects thousands of digits.
        return min(float(text[:10]), most)
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):  # the latter for a time zone out of any range
        return None
    if moment.tzinfo is None:  # "-0000": UTC of an unknown place
        moment = moment.replace(tzinfo=UTC)
    return min(max((moment - now).total_seconds(), 0.0), most)
