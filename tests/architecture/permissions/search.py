"""Functions of the search area."""

from __future__ import annotations

from tests.architecture.permissions.parts import ADMISSION, UPLOADED, on, together

NEEDED = {
    "SearchApi": together(
        ADMISSION,
        UPLOADED,
        on("Documents", "BatchGetItem"),
        on("Domain/_msearch", "es:ESHttpPost"),
    ),
}
