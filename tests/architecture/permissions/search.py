"""Functions of the search area."""

from __future__ import annotations

from tests.architecture.permissions.parts import ADMISSION, CACHING, UPLOADED, on, together

NEEDED = {
    "SearchApi": together(
        ADMISSION,
        UPLOADED,
        CACHING,
        on("Documents", "BatchGetItem"),
        on("Domain/_msearch", "es:ESHttpPost"),
    ),
}
