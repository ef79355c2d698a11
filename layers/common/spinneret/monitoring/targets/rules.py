"""Schedule and list positions of targets. All functions are pure."""

import hashlib
import re
from datetime import UTC, datetime, timedelta
from typing import Final

from spinneret.kernel.clock import to_iso
from spinneret.kernel.errors import UrlInvalid, ValidationFailed
from spinneret.kernel.ids import is_id
from spinneret.kernel.sharding import shard_of
from spinneret.monitoring import limits
from spinneret.monitoring.conditions.language import parse_conditions, reads_body
from spinneret.monitoring.targets.models import Method, Options, Target
from spinneret.web.fetching.urls import parse_url

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)
_MORE_THAN_A_HOST: Final = re.compile(r"[/?#@\\]")
_POSITION: Final = re.compile(r"[0-9T:.-]{26}Z#[A-Za-z0-9_-]{1,80}")


def checked(options: Options) -> Options:
    """Return the options. Raises ValidationFailed if they are invalid or incompatible."""
    looks = reads_body(parse_conditions(options.conditions)) or options.watch_content
    if looks and options.method is Method.HEAD:
        raise ValidationFailed.of_field(
            "method", "must be GET for the body", error="an answer to HEAD has no body to look at"
        )
    return options


def require_interval(seconds: int, shortest: int, path: str = "interval_seconds") -> None:
    """Raise ValidationFailed for an interval shorter than the time between ticks.

    `path` names the field of the request.
    """
    if seconds < shortest:
        message = f"must be at least {shortest}, the time between two ticks of this stage"
        raise ValidationFailed.of_field(path, message, error=f"{path} {message}")


def next_slot(target_id: str, interval_seconds: int, after: datetime) -> datetime:
    """Return the target's first check time after this moment.

    A target's check times are an interval apart. Their offset follows from the id, so that targets
    of one interval spread evenly over it. Missed checks aren't made up for.
    """
    interval = 1000 * interval_seconds
    offset = _number(target_id) % interval
    passed = (after - _EPOCH) // _MILLISECOND
    return _EPOCH + (passed - (passed - offset) % interval + interval) * _MILLISECOND


def due_shard_of(target_id: str) -> int:
    """Return the shard of the due index that contains a target."""
    return shard_of(f"shard/{target_id}", limits.CHECK_SHARDS)


def position_of_target(target: Target) -> str:
    """Return a target's position in lists, which sort by creation time and id."""
    return f"{to_iso(target.created_at)}#{target.id}"


def host_named(text: str) -> str:
    """Return the host as targets store it: lower case, IDNA for non-ASCII, IPv6 without brackets.

    Raises ValidationFailed for other text.
    """
    bracketed = f"[{text}]" if ":" in text and not text.startswith("[") else text
    try:
        url = parse_url(f"http://{bracketed}/")
    except UrlInvalid as error:
        raise _no_host() from error
    if url.text != f"{url.origin}/" or _MORE_THAN_A_HOST.search(text):
        raise _no_host()
    return url.host


def _no_host() -> ValidationFailed:
    message = "is not a host"
    return ValidationFailed.of_field("host", message, error=f"host {message}")


def is_position(text: str) -> bool:
    """Return whether `text` has the form of a position in a list."""
    return _POSITION.fullmatch(text) is not None and is_id(text.partition("#")[2])


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
