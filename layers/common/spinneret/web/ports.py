"""The port of fetching: what is kept of a fetch while it waits."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from spinneret.web.fetching.urls import Url
from spinneret.web.models import Caller, Progress


class ProgressStore(Protocol):
    """Progress by tenant, caller and requested URL. Raises DependencyUnavailable.

    It is kept for REDIRECTS_KEPT_SECONDS; every call may be repeated.
    """

    def find(self, caller: Caller, requested: Url, now: datetime) -> Progress | None:
        """The progress that was kept last; None once it is too old."""
        ...

    def keep(self, caller: Caller, progress: Progress, now: datetime) -> None:
        """Replace the progress of this fetch, whose requested URL is the first of `left`."""
        ...

    def drop(self, caller: Caller, requested: Url) -> None:
        """Forget the progress: the fetch is over."""
        ...
