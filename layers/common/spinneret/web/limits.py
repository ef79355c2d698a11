"""Bounds of fetches, hosts and rate limits, each with its source."""

from typing import Final

from spinneret.kernel import bounds

FETCH_MAX_BYTES: Final = 10 * 1024 * 1024  # F-01, default
FETCH_MAX_REDIRECTS: Final = 5  # F-01, default
FETCH_MAX_HEADERS: Final = 200  # fields of a response; Apache, for one, takes 100 of a request

ROBOTS_SECONDS: Final = 10.0  # ruling "Robots": the whole fetch of a robots.txt
ROBOTS_LEASE_SECONDS: Final = ROBOTS_SECONDS + 10.0  # the fetch, short waits and clock skew
ROBOTS_WAITS: Final = 12  # for another worker's reading within one fetch: 3 s in all
ROBOTS_WAIT_SECONDS: Final = 0.25
ROBOTS_RETRY_SECONDS: Final = 2.0  # after these waits
ROBOTS_LINE_MAX_BYTES: Final = 2083 * 8 - 1  # as google/robotstxt: eight times the longest URL
ROBOTS_SITEMAPS: Final = 100  # read from one robots.txt
ROBOTS_FRESH_SECONDS: Final = 24 * 3600  # ruling "Robots"; RFC 9309, section 2.4
ROBOTS_KEPT_SECONDS: Final = 7 * 24 * 3600  # ruling "Robots": maximum age as a fallback
ROBOTS_DISALLOW_SECONDS: Final = 300  # ruling "Robots": after a server error, and until a re-check

HOST_TIMEOUT_SECONDS: Final = ROBOTS_SECONDS  # a time-out after less isn't the host's failure
BREAKER_FAILURES: Final = 5  # F-07, default
BREAKER_FAILURES_MAX: Final = 100  # at one request a second, a minute and a half of failures only
BREAKER_OPEN_SECONDS: Final = 300.0  # F-07, default
BREAKER_MEMORY_SECONDS: Final = 3600.0  # ruling "Breaker"
RESERVATION_HORIZON_SECONDS: Final = 3600.0  # a slot farther in the future isn't reserved
REDIRECTS_KEPT_SECONDS: Final = 6 * 3600  # of a fetch that waits: an hour at most for each host
SHORT_WAIT_SECONDS: Final = 1.0  # architecture, section 3: no worker sleeps longer
HOST_LEASE_SECONDS: Final = (  # a fetch, twice a clock skew of 5 s, and 5 s
    bounds.FETCH_TOTAL_SECONDS + 15.0
)
SESSION_LOCK_RETRIES: Final = 3  # F-04
SESSION_LOCK_FIRST_SECONDS: Final = 1.0  # F-04: 1, 2, 4 s …
SESSION_LOCK_JITTER_SECONDS: Final = 0.5  # … and up to this

DOMAIN_GAP_MAX_SECONDS: Final = 3600.0  # a longer gap couldn't be reserved within an hour
DOMAIN_LABELS_MAX: Final = 32  # of a configured name: one BatchGetItem reads all its parents
SETTINGS_KNOWN_SECONDS: Final = 5.0  # a process may fetch from a blocked host for this long
SETTINGS_KNOWN_MAX: Final = 1000  # hosts that a process remembers
DOMAIN_NOTES_MAX_CHARS: Final = 1000
BLOCK_REASON_MAX_CHARS: Final = 500
CHECK_COOLDOWN_SECONDS: Final = 60.0  # longest pause of checks by a Retry-After, as lychee
HEADERS_MAX: Final = 20  # that a tenant chooses
HEADERS_MAX_BYTES: Final = 2048  # as JSON; sealed, they are in the payload of every job
