"""What status pages need from outside."""

from __future__ import annotations

from typing import Protocol

from spinneret.monitoring.status_page.models import StatusPage


class StatusPageStore(Protocol):
    """Pages by tenant and by slug. Raises DependencyUnavailable."""

    def get(self, tenant: str) -> StatusPage | None:
        """The tenant's page."""
        ...

    def at(self, slug: str) -> StatusPage | None:
        """The page of a slug, whosever it is."""
        ...

    def put(self, page: StatusPage, former: StatusPage | None) -> bool:
        """Write it over `former`, or anew; False when that isn't what stands any more.

        Raises Conflict when another tenant has the slug.
        """
        ...

    def remove(self, page: StatusPage) -> bool:
        """Remove it and free its slug; False when it isn't what stands any more."""
        ...
