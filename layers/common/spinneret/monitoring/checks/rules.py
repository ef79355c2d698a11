"""Evaluate responses and failed requests of a target. All functions are pure."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Final

from spinneret.kernel.clock import to_iso
from spinneret.kernel.errors import (
    DomainBlocked,
    DomainError,
    FetchFailed,
    FetchTimeout,
    SecretUnreadable,
)
from spinneret.monitoring import limits
from spinneret.monitoring.checks.models import CheckError, CheckResult, Outcome
from spinneret.monitoring.conditions.evaluation import failed
from spinneret.monitoring.conditions.language import reads_status
from spinneret.monitoring.conditions.models import Condition, Facts
from spinneret.monitoring.targets.models import Method, Options, RecordType
from spinneret.web.fetching.head import declared_length
from spinneret.web.fetching.models import FetchedPage
from spinneret.web.fetching.rules import decode_text, parse_retry_after

WITHOUT_HEAD: Final = frozenset(
    {HTTPStatus.FORBIDDEN, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.NOT_IMPLEMENTED}
)
"""Status codes by which sites refuse HEAD; the check repeats the request as GET."""

_SHOWN_CHARS: Final = 200  # of the values of a DNS answer
_FINAL_REASONS: Final = frozenset({"tls", "unknown_host"})
_OF_OUR_NETWORK: Final = frozenset({"connection", "dns", "unknown_host"})
"""Failure reasons that also occur when our own network is offline."""
_CERTIFICATE_REASONS: Final[Mapping[object, str]] = {
    9: "its certificate isn't valid yet",
    10: "its certificate has expired",
    18: "its certificate is signed by itself",
    19: "its certificate is signed by an unknown authority",
    20: "its certificate is signed by an unknown authority",
    21: "it sends an incomplete chain of certificates",
    62: "its certificate belongs to another host",
}
"""Messages by OpenSSL verification code (x509_vfy.h)."""
_REASONS: Final[Mapping[object, str]] = {
    "unknown_host": "its name doesn't exist",
    "dns": "no name server answers for it",
    "connection": "it was refused or broke",
    "tls": "it offers no TLS that we support",
}


def is_worth_retrying(page: FetchedPage, now: datetime) -> bool:
    """Return True for 408, 5xx, and 429 without a valid Retry-After.

    A Retry-After of a 5xx is ignored: maintenance pages send it, and an outage is an outage.
    """
    if page.status_code == HTTPStatus.TOO_MANY_REQUESTS:
        return parse_retry_after(page.headers.get("retry-after", ""), now) is None
    return page.status_code == HTTPStatus.REQUEST_TIMEOUT or page.status_code >= 500


def is_final(error: DomainError) -> bool:
    """Return whether a second try would fail in the same way."""
    if isinstance(error, FetchTimeout):
        return False
    return not isinstance(error, FetchFailed) or error.details.get("reason") in _FINAL_REASONS


def may_be_ours(error: DomainError) -> bool:
    """Return whether our own network may have caused the failure."""
    if isinstance(error, FetchTimeout):
        return True
    return isinstance(error, FetchFailed) and error.details.get("reason") in _OF_OUR_NETWORK


def result_of_response(
    asked: CheckResult, page: FetchedPage, options: Options, conditions: Sequence[Condition]
) -> CheckResult:
    """Build the result of a response.

    `asked` holds the fields known before the response, and its latency.
    """
    has_body = options.method != Method.HEAD
    result = replace(
        asked,
        outcome=Outcome.UP,
        status_code=page.status_code,
        final_url=page.url.text,
        redirects=page.redirects,
        phases=page.phases,
        # No view shows the names, of which a CDN has hundreds; they would enlarge each result.
        certificate=None if page.certificate is None else replace(page.certificate, names=()),
        body_sha256=hashlib.sha256(_read_of(page)).hexdigest() if has_body else None,
    )
    if error := _error(result, page, conditions):
        return replace(result, outcome=Outcome.DOWN, error=error)
    return result_of_speed(result, options)


def result_of_speed(result: CheckResult, options: Options) -> CheckResult:
    """Return a good result as up, or as degraded if it took too long."""
    if options.degraded_ms is None or result.latency_ms <= options.degraded_ms:
        return replace(result, outcome=Outcome.UP)
    slow = f"answered in {result.latency_ms} ms, more than {options.degraded_ms} ms"
    return replace(result, outcome=Outcome.DEGRADED, error=CheckError(code="SLOW", message=slow))


def result_of_records(
    result: CheckResult, record_type: RecordType, values: Sequence[str], expected: Sequence[str]
) -> CheckResult:
    """Return a DNS result as down if there is no record, or an expected value is missing."""
    if not values:
        message, cause = f"has no record of type {record_type}", None
    elif missing := [each for each in expected if each not in values]:
        cause = f"without {_listed(missing)}"  # the values may differ at each question
        message = f"answered {_listed(values)} {cause}"
    else:
        return result
    error = CheckError(code="RECORD_MISSING", message=message, cause=cause)
    return replace(result, outcome=Outcome.DOWN, error=error)


def result_of_missing_call(
    asked: CheckResult, called_at: datetime | None, allowed: timedelta
) -> CheckResult:
    """Build the result of a heartbeat that wasn't called within the allowed time."""
    last = "was never called" if called_at is None else f"was last called at {to_iso(called_at)}"
    message = f"{last}; a call is late after {allowed // timedelta(seconds=1)} s"
    error = CheckError(code="CALL_LATE", message=message)
    return replace(asked, outcome=Outcome.DOWN, error=error)


def unanswered(asked: CheckResult, error: DomainError, *, is_online: bool) -> CheckResult:
    """Build the result of a check without a response."""
    tells = is_online and not isinstance(error, DomainBlocked | SecretUnreadable)
    outcome = Outcome.DOWN if tells else Outcome.UNKNOWN
    message = _explained(error)
    if not is_online:
        message = f"our own network is down: {message}"
    return replace(asked, outcome=outcome, error=CheckError(code=error.code, message=message))


def _error(
    result: CheckResult, page: FetchedPage, conditions: Sequence[Condition]
) -> CheckError | None:
    if not reads_status(conditions) and not 200 <= page.status_code < 400:
        return CheckError(code="HTTP_ERROR", message=f"answered {page.status_code}")
    certificate = page.certificate
    left = None if certificate is None else certificate.not_after - result.checked_at
    size, is_whole = len(page.body), len(page.body) <= limits.CHECK_BODY_BYTES
    declared = 0 if is_whole else _declared_size(page)
    facts = Facts(
        status=page.status_code,
        time_ms=result.latency_ms,
        size=max(size, declared),
        size_is_known=is_whole or declared > 0,
        certificate_seconds=None if left is None else left.total_seconds(),
        headers=page.headers,
        body=lambda: decode_text(_read_of(page), page.charset),
        body_is_whole=is_whole,
    )
    unmet = failed(conditions, facts)
    if unmet is None:
        return None
    return CheckError(code="CONDITION_FAILED", message=unmet.message, cause=unmet.cause)


def _read_of(page: FetchedPage) -> bytes:
    """Return the part of the body that is hashed and checked by conditions."""
    return page.body[: limits.CHECK_BODY_BYTES]


def _declared_size(page: FetchedPage) -> int:
    """Return the declared body length in bytes; 0 if it is undeclared or the body is encoded."""
    return 0 if page.headers.get("content-encoding") else declared_length(page.headers)


def _listed(values: Sequence[str]) -> str:
    shown = ", ".join(map(json.dumps, sorted(values)))
    return shown if len(shown) <= _SHOWN_CHARS else f"{shown[:_SHOWN_CHARS]}…"


def _explained(error: DomainError) -> str:
    details = error.details
    reason = _CERTIFICATE_REASONS.get(details.get("verify_code")) or _REASONS.get(
        details.get("reason")
    )
    return f"{error.message}: {reason}" if reason else error.message


def longest_seconds(timeout: float) -> float:
    """Return the longest duration of a check in seconds: tries, pauses and rate-limit waits."""
    tries = len(limits.CHECK_RETRIES) + 1
    return tries * timeout + sum(limits.CHECK_RETRIES) + limits.CHECK_WAITS_SECONDS
