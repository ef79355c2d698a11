"""Ports of media."""

from collections.abc import Sequence
from typing import Protocol

from spinneret.jobs.models import JobRef


class MediaStore(Protocol):
    """Objects of jobs, kept for MEDIA_KEPT_SECONDS. Methods raise DependencyUnavailable."""

    def keep(self, ref: JobRef, media_type: str, body: bytes) -> str:
        """Store the one object of a job and return its key; a repeated call replaces it."""

    def link(self, key: str, seconds: int) -> str:
        """Return a URL that serves the object for `seconds`, also if there is none."""

    def keep_scripts(self, tenant: str, scripts_id: str, sources: Sequence[str]) -> None:
        """Store the scripts of a job that is about to be submitted."""

    def scripts(self, tenant: str, scripts_id: str) -> tuple[str, ...] | None:
        """Return stored scripts; None if they have expired."""
