"""Bounds of keys and uploads, each with its source."""

from __future__ import annotations

from typing import Final

UPLOAD_MAX_BYTES: Final = 10 * 1024 * 1024  # T-06
UPLOAD_FORM_SECONDS: Final = 900  # for 10 MB over a slow line; a role's credentials live longer

KEY_NAME_MAX_CHARS: Final = 100
KEYS_PER_TENANT: Final = 100  # active keys: one item of a few kilobytes lists them all
KEY_LIFETIME_MAX_SECONDS: Final = 10 * 365 * 24 * 3600  # a later expiry is as good as none
KEY_RETENTION_SECONDS: Final = 30 * 24 * 3600  # lists show a key for this long after its end
KEY_REQUESTS_PER_MINUTE: Final = 60  # T-01, default
RATE_WINDOW_SECONDS: Final = 60  # T-01: requests per minute
KEY_KNOWN_SECONDS: Final = 5.0  # a revocation reaches each process within this time (T-01)
KEYS_KNOWN_MAX: Final = 1000  # in a process; some 500 bytes each
TICKET_SECONDS: Final = 900  # architecture, section 4: short-lived
