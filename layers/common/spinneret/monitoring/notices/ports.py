"""Ports of notices."""

from typing import Protocol

from spinneret.kernel.paging import Page
from spinneret.monitoring.notices.models import Notice


class NoticeStore(Protocol):
    """Notices by tenant and id. Raises DependencyUnavailable."""

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Notice]:
        """Return up to `limit` notices after a position, newest first."""

    def get(self, tenant: str, notice_id: str) -> Notice | None:
        """Return the notice (consistent read); None if it doesn't exist."""

    def put(self, notice: Notice, former: Notice | None) -> bool:
        """Replace `former` by `notice`, or create it; return False if it changed meanwhile."""

    def remove(self, notice: Notice) -> bool:
        """Remove the notice; return False if it changed meanwhile."""
