"""Bounds of crawl configs, each with its source."""

from typing import Final

CRAWL_MAX_REDIRECTS: Final = 10  # F-01, for crawls
CONFIG_NAME_MAX_CHARS: Final = 100
CONFIG_RATE_MAX: Final = 100.0  # requests per second; a host's own rate is far lower
CONFIG_TIMEOUT_MIN_MS: Final = 100
CONFIG_PAGE_MB_MAX: Final = 50  # F-01, for crawls
CONFIG_CHUNK_TOKENS_MIN: Final = 16
CONFIG_CHUNK_TOKENS_MAX: Final = 8192  # the most that current embedders read; T-06 bounds the bytes
