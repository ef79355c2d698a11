"""Ports of the upload service."""

from collections.abc import Mapping
from typing import Protocol


class UploadStore(Protocol):
    """Uploads by tenant and id, kept for a day. Methods raise DependencyUnavailable."""

    def form(self, tenant: str, upload_id: str, *, seconds: int) -> tuple[str, Mapping[str, str]]:
        """Return URL and fields of a form that stores 1 to UPLOAD_MAX_BYTES bytes of JSON."""

    def read(self, tenant: str, upload_id: str) -> bytes | None:
        """Return the upload; None if it is missing or has expired. Raise BodyTooLarge."""
