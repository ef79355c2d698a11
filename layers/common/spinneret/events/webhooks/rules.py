"""Rules for the reaction to an endpoint's answer, and for secrets and headers of tenants."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Final

from spinneret.events.webhooks import limits
from spinneret.events.webhooks.models import (
    Action,
    Cooldown,
    Delivered,
    Disable,
    GiveUp,
    Retry,
    SealedSecrets,
)
from spinneret.events.webhooks.signing import signing_key
from spinneret.kernel import bounds
from spinneret.kernel.errors import ValidationFailed

# First delays of the schedule in Standard Webhooks 1.0.0; P-10 allows five attempts.
DELAYS_SECONDS: Final = (5.0, 300.0, 1800.0, 7200.0)
MAX_ATTEMPTS: Final = 1 + len(DELAYS_SECONDS)
JITTER: Final = 0.1  # ± 10 %
RETRY_AFTER_CAP_SECONDS: Final = 24 * 3600.0  # longest delay that an endpoint can request

# A target this slow occupies a worker of the lane that all tenants share. Slack's Events API, for
# example, counts a longer wait as a failure.
SLOW_SECONDS: Final = 3.0
SLOW_COOLDOWN_CAP_SECONDS: Final = 60.0  # so that a thousand a day are still sent

SECRET_MIN_DISTINCT: Final = 12  # different bytes of a secret that a tenant chose
CUSTOM_HEADERS_MAX: Final = 20
CUSTOM_HEADERS_MAX_BYTES: Final = (
    8 * 1024
)  # the size of a whole request head that common servers accept

# Standard Webhooks 1.0.0, "Delivery success and failure", and 503, which means the same.
OVERLOADED: Final = frozenset(
    {
        HTTPStatus.TOO_MANY_REQUESTS,
        HTTPStatus.BAD_GATEWAY,
        HTTPStatus.SERVICE_UNAVAILABLE,
        HTTPStatus.GATEWAY_TIMEOUT,
    }
)

_SIGNATURE_PREFIXES: Final = ("webhook-", "x-webhook-", "svix-")  # includes Svix's own older names
_RESERVED: Final = frozenset(
    {
        # One hop only: RFC 9110, section 7.6.1, and RFC 2616, section 13.5.1
        *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization"),
        *("proxy-connection", "te", "trailer", "trailers", "transfer-encoding", "upgrade"),
        "http2-settings",  # RFC 7540, section 3.2.1
        # Set by the sender: destination of the request, framing and decoding of its body and the
        # answer's, identity of the sender
        *("host", "content-length", "content-type", "content-encoding", "expect", "user-agent"),
        "accept-encoding",
    }
)
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, section 5.6.2
# RFC 9110, section 5.5, without the obsolete bytes beyond ASCII.
_FIELD_VALUE: Final = re.compile(r"(?:[!-~](?:[ \t!-~]*[!-~])?)?")

_MONTHS: Final = (
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
)  # fmt: skip
_MONTH: Final = rf"(?P<month>{'|'.join(_MONTHS)})"
_TIME: Final = r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-5][0-9]|60)"
_SHORT_DAY: Final = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_LONG_DAY: Final = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
# RFC 9110, section 5.6.7: IMF-fixdate, rfc850-date and asctime-date
_HTTP_DATES: Final = tuple(
    re.compile(form)
    for form in (
        rf"{_SHORT_DAY}, (?P<day>[0-9]{{2}}) {_MONTH} (?P<year>[0-9]{{4}}) {_TIME} GMT",
        rf"{_LONG_DAY}, (?P<day>[0-9]{{2}})-{_MONTH}-(?P<year>[0-9]{{2}}) {_TIME} GMT",
        rf"{_SHORT_DAY} {_MONTH} (?P<day>[0-9]{{2}}| [0-9]) {_TIME} (?P<year>[0-9]{{4}})",
    )
)


def next_action(
    status: int | None,
    headers: Mapping[str, str],
    *,
    attempt: int = 1,
    now: datetime | None = None,
    unit_random: float = 0.5,
) -> Action:
    """Return the action after an attempt that was answered with `status`; None for no answer.

    `attempt` counts from 1; `unit_random` is in [0, 1), its default means no jitter. Headers, a
    status and `now` that can't be read count as missing.

    Everything but 2xx and 410 is retried. A 404 or 401 may come from a receiver that is being
    deployed. Redirects are never followed, so the endpoint has time to be corrected.
    """
    if not isinstance(status, int):
        status = None
    if status is not None and HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        return Delivered()
    if status == HTTPStatus.GONE:
        return Disable()
    if attempt >= MAX_ATTEMPTS:
        last = "without an answer" if status is None else f"answered {status}"
        return GiveUp(reason=f"{attempt} attempts failed, the last one {last}")
    requested = retry_after(headers, now) or 0.0
    return Retry(
        after_seconds=max(delay(attempt, unit_random), requested),
        throttle=status in OVERLOADED,
    )


def delay(attempt: int, unit_random: float) -> float:
    """Return the seconds between the end of an attempt (from 1) and the next one, with jitter."""
    base = DELAYS_SECONDS[min(max(attempt, 1), len(DELAYS_SECONDS)) - 1]
    return base * (1 - JITTER + 2 * JITTER * unit_random)


def retry_after(headers: Mapping[str, str], now: datetime | None) -> float | None:
    """Return the seconds that the endpoint asks for, from 0 to the cap; None if absent or
    unreadable.

    RFC 9110, section 10.2.3: whole seconds or a date in one of three formats. A date is compared
    with the answer's own Date, since both come from one clock, or else with `now`.
    """
    text = _header(headers, "retry-after")
    if text.isascii() and text.isdigit():
        return min(float(text), RETRY_AFTER_CAP_SECONDS)  # int() refuses thousands of digits
    now = _in_utc(now)
    since = _http_date(_header(headers, "date"), now) or now
    if since is None or (moment := _http_date(text, since)) is None:
        return None
    return min(max((moment - since).total_seconds(), 0.0), RETRY_AFTER_CAP_SECONDS)


def cooldown_after(
    former: Cooldown | None,
    status: int | None,
    headers: Mapping[str, str],
    *,
    seconds: float,
    now: datetime,
) -> Cooldown | None:
    """Return the cooldown after an attempt of `seconds`; None if there is no reason for one.

    No answer and overload start one, of up to an hour by the answer's own Retry-After. So does a
    slow answer of any status: one delivery at a time then tries, and the rest of a backlog stays
    out of the lane. Every other answer shows that the target is available.
    """
    if status is None or status in OVERLOADED:
        requested = min(retry_after(headers, now) or 0.0, bounds.RETRY_AFTER_MAX_SECONDS)
        return _lengthened(former, limits.WEBHOOK_COOLDOWN_CAP_SECONDS, requested, now)
    if seconds >= SLOW_SECONDS:
        return _lengthened(former, SLOW_COOLDOWN_CAP_SECONDS, 0.0, now)
    return None


def next_check(until: datetime, waited_seconds: float, unit_random: float) -> datetime:
    """Return when a delivery that waits for a target, cooling down `until` then, checks again.

    Only one of all waiting deliveries gets the permit to try, and each check costs the lane some
    time. So the checks are spread over as much time as the delivery has waited, up to a quarter of
    an hour.
    """
    spread = min(waited_seconds, bounds.SQS_MAX_DELAY_SECONDS)
    return until + timedelta(seconds=spread * unit_random)


def _lengthened(former: Cooldown | None, cap: float, at_least: float, now: datetime) -> Cooldown:
    """Double the cooldown with each failure, up to `cap`."""
    failures = 1 if former is None else former.failures + 1
    own = min(cap, limits.WEBHOOK_COOLDOWN_FIRST_SECONDS * 2.0 ** min(failures - 1, 30))
    return Cooldown(failures=failures, until=now + timedelta(seconds=max(own, at_least)))


def rotated(secrets: SealedSecrets | None, newest: bytes, now: datetime) -> SealedSecrets:
    """Return the new secret, and the previous one for one more day; older ones are dropped."""
    if secrets is None:
        return SealedSecrets(newest=newest)
    until = now + timedelta(seconds=limits.WEBHOOK_OLD_SECRET_SECONDS)
    return SealedSecrets(newest=newest, old=secrets.newest, old_until=until)


def in_force(secrets: SealedSecrets, now: datetime) -> tuple[bytes, ...]:
    """Return the secrets that sign at this time, newest first."""
    old = secrets.old_until is not None and now < secrets.old_until and secrets.old
    return (secrets.newest, old) if old else (secrets.newest,)


def check_strength(secret: str) -> None:
    """Raise ValidationFailed for a secret that we don't sign with, or that isn't random.

    24 random bytes have fewer than SECRET_MIN_DISTINCT different ones with a chance below 10^-14.
    """
    try:
        key = signing_key(secret)
    except ValidationFailed as error:
        raise _refused("secret", error.message) from None
    if len(set(key)) < SECRET_MIN_DISTINCT:
        raise _refused("secret", "it repeats itself: generate a random one")


def allowed_headers(given: Mapping[str, str], field: str = "headers") -> dict[str, str]:
    """Return the headers of a request's `field`, if all of them may be sent with deliveries.

    Raises ValidationFailed for signature, hop-by-hop and framing headers, for names and values that
    HTTP doesn't allow, and for too many or too large headers. The message contains no value.
    """
    if len(given) > CUSTOM_HEADERS_MAX:
        raise _refused(field, f"more than {CUSTOM_HEADERS_MAX} headers")
    if sum(len(name) + len(value) for name, value in given.items()) > CUSTOM_HEADERS_MAX_BYTES:
        raise _refused(field, f"more than {CUSTOM_HEADERS_MAX_BYTES} bytes of headers")
    seen: set[str] = set()
    for name, value in given.items():
        if not _TOKEN.fullmatch(name):
            raise _refused(field, "a header's name isn't a token")
        # CGI and WSGI convert both `-` and `_` to `_`, so they would confuse two such headers.
        alike = name.lower().replace("_", "-")
        if alike in _RESERVED or alike.startswith(_SIGNATURE_PREFIXES):
            raise _refused(field, "the sender sets this header itself", name)
        if alike in seen:
            raise _refused(field, "the header is given twice", name)
        if not _FIELD_VALUE.fullmatch(value):
            raise _refused(field, "the value must be printable ASCII without outer blanks", name)
        seen.add(alike)
    return dict(given)


def _header(headers: Mapping[str, str], name: str) -> str:
    """Return the first value that is a text, without outer blanks; empty if there is none."""
    items = headers.items() if hasattr(headers, "items") else ()
    values = (
        value
        for key, value in items
        if isinstance(key, str) and key.lower() == name and isinstance(value, str)
    )
    return next(values, "").strip(" \t")


def _in_utc(now: datetime | None) -> datetime | None:
    """Return the time in UTC; None for a clock that can't be compared with others."""
    if not isinstance(now, datetime) or now.utcoffset() is None:
        return None
    try:
        return now.astimezone(UTC)
    except OverflowError:  # a zone's last hours of the year 9999
        return None


def _http_date(text: str, now: datetime | None) -> datetime | None:
    """Parse an HTTP date; return None if invalid. A two-digit year needs `now` for its century."""
    found = next((match for form in _HTTP_DATES if (match := form.fullmatch(text))), None)
    if found is None:
        return None
    year, day, hour, minute = (int(found[part]) for part in ("year", "day", "hour", "minute"))
    month = _MONTHS.index(found["month"]) + 1
    second = min(int(found["second"]), 59)  # datetime doesn't support leap seconds
    if len(found["year"]) == 2:
        if now is None:
            return None
        year = _full_year(year, (month, day, hour, minute, second), now)
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:  # no such day or time
        return None


def _full_year(two_digits: int, rest: tuple[int, ...], now: datetime) -> int:
    """Return the last such year that isn't more than 50 years ahead; RFC 9110, section 5.6.7."""
    horizon = now.year + 50
    year = horizon - (horizon - two_digits) % 100
    is_beyond = (year, *rest) > (horizon, *now.timetuple()[1:6])
    return year - 100 if is_beyond else year


def _refused(field: str, message: str, name: str | None = None) -> ValidationFailed:
    field = field if name is None else f"{field}.{name}"
    return ValidationFailed.of_field(field, message, error=f"{field}: {message}")
