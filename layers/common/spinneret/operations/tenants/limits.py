"""Bounds of the operator's commands on tenants."""

from typing import Final

REQUEST_SECONDS: Final = 30  # API Gateway ends a request after 29 s
SLICE_MARGIN_SECONDS: Final = 30.0  # of a function's time; a step takes a few seconds
UNKNOWN_SHOWN: Final = 20
EXPORT_LINES_PER_FILE: Final = 1000
EXPORT_BYTES_PER_FILE: Final = 8 * 1024 * 1024  # with one page more, kept in memory
EXPORT_PAGE: Final = 100
EXPORT_DOCUMENTS_PAGE: Final = 5  # a text has up to 10 MB
INDEX_CHUNKS_PER_STEP: Final = 1000
