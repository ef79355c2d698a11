"""Selection and rotation of signing keys, as pure functions."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from spinneret.access import limits
from spinneret.access.tokens.models import KeySet, SigningKey

_LIFETIME: Final = timedelta(seconds=limits.SIGNING_KEY_SECONDS)
_NOTICE: Final = timedelta(seconds=limits.SIGNING_KEY_NOTICE_SECONDS)
# The last token of a key ends so long after its successor's first one.
_LAST_TOKEN: Final = timedelta(
    seconds=limits.ACCESS_TOKEN_SECONDS + limits.ACCESS_TOKEN_LEEWAY_SECONDS
)


@dataclass(frozen=True)
class Rotation:
    """Keys that a pass of the rotation keeps and deletes, and whether it needs a new one."""

    kept: tuple[SigningKey, ...]
    ended: tuple[SigningKey, ...]
    needs_key: bool


def signing_key(keys: KeySet, now: datetime) -> SigningKey | None:
    """Return the youngest key that may sign now."""
    active = [key for key in keys.keys if key.active_from <= now]
    return active[-1] if active else None


def rotation(keys: KeySet, now: datetime, *, at_once: bool) -> Rotation:
    """Return what is due; `at_once` adds a key before the youngest one is old."""
    successors = {one.kid: two for one, two in zip(keys.keys, keys.keys[1:], strict=False)}
    ended = tuple(
        key
        for key in keys.keys
        if key.kid in successors and successors[key.kid].active_from + _LAST_TOKEN <= now
    )
    kept = tuple(key for key in keys.keys if key not in ended)
    is_old = not kept or kept[-1].active_from + _LIFETIME <= now
    return Rotation(kept, ended, needs_key=is_old or at_once)


def active_from(kept: tuple[SigningKey, ...], now: datetime) -> datetime:
    """Return the first use of a new key: at once for the first one, else after its notice."""
    return now + _NOTICE if kept else now
