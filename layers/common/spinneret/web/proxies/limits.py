"""Bounds of proxies, each with its source."""

from typing import Final

PROXY_NAME_MAX_CHARS: Final = 100
PROXY_SERVERS_MAX: Final = 50  # F-08: a config stays below 50 KB of DynamoDB's 400
PROXY_CREDENTIAL_MAX_CHARS: Final = 255  # both, sealed: at most 2 KB of the 4 that KMS takes
PROXY_FAILURES: Final = 3  # F-08: consecutive failures after which a server isn't used …
PROXY_MEMORY_SECONDS: Final = 3600.0  # … for this time; older failures and uses are forgotten
PROXY_TEST_SECONDS: Final = 15.0  # API Gateway ends a request after 29 s
PROXY_TEST_MAX_BYTES: Final = 1024 * 1024  # of the page that a proxy test fetches
