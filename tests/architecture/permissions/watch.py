"""Functions of the watch area."""

from __future__ import annotations

from tests.architecture.permissions.parts import ADMISSION, UPLOADED, on, together

NEEDED = {
    "WatchApi": together(
        ADMISSION,
        UPLOADED,
        on("Targets", "BatchGetItem DeleteItem GetItem PutItem Query"),
        on("Checks", "Query"),
    ),
}
