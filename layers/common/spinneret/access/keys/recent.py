"""Credentials that a process read within the last seconds."""

from datetime import datetime, timedelta
from typing import Final

from spinneret.access import limits
from spinneret.access.keys.models import ApiKey

_KNOWN_FOR: Final = timedelta(seconds=limits.KEY_KNOWN_SECONDS)


class RecentKeys:
    """Keys by the hash of their secret, for KEY_KNOWN_SECONDS each; bounded.

    Unknown secrets aren't remembered: a new key works at once.
    """

    def __init__(self) -> None:
        self._known: dict[str, tuple[ApiKey, datetime]] = {}

    def find(self, secret_hash: str, now: datetime) -> ApiKey | None:
        """Return the key if it was read recently, else None."""
        known = self._known.get(secret_hash)
        if known is None or not timedelta() <= now - known[1] < _KNOWN_FOR:
            return None
        return known[0]

    def remember(self, key: ApiKey, now: datetime) -> None:
        """Remember a key that was read now."""
        if len(self._known) >= limits.KEYS_KNOWN_MAX:
            self._known.clear()
        self._known[key.secret_hash] = (key, now)

    def forget(self, key: ApiKey) -> None:
        """Forget a key, which was revoked by this process."""
        self._known.pop(key.secret_hash, None)
