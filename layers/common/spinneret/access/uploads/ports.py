"""What uploads need from outside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class UploadStore(Protocol):
    """Keeps what is posted to it for a day, by tenant and id. Raises DependencyUnavailable."""

    def form(self, tenant: str, upload_id: str, *, seconds: int) -> tuple[str, Mapping[str, str]]:
        """URL and fields of a form that stores 1 to UPLOAD_MAX_BYTES bytes of JSON."""
        ...

    def read(self, tenant: str, upload_id: str) -> bytes | None:
        """What was posted; None when nothing was, or is no more. Raises BodyTooLarge."""
        ...
