"""Ports of status pages."""

from typing import Protocol

from spinneret.monitoring.status_page.models import StatusPage


class StatusPageStore(Protocol):
    """Pages by tenant and by slug. Raises DependencyUnavailable."""

    def get(self, tenant: str) -> StatusPage | None:
        """Return the tenant's main page; None if it has none."""

    def all(self, tenant: str) -> list[StatusPage]:
        """Return the tenant's pages, the main one first, the others by slug."""

    def at(self, slug: str) -> StatusPage | None:
        """Return the page of a slug of any tenant; None if no page has it."""

    def put(self, page: StatusPage, former: StatusPage | None) -> bool:
        """Replace `former` by `page`, or create it; return False if it changed meanwhile.

        Only a main page changes its slug. Raises Conflict if another page has the slug.
        """

    def remove(self, page: StatusPage) -> bool:
        """Remove the page and free its slug; return False if it changed meanwhile."""
