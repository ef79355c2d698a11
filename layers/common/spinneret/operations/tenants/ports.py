"""Ports of the deletion and the export of a tenant. Methods raise DependencyUnavailable."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from pydantic import BaseModel

from spinneret.kernel.clock import Remaining
from spinneret.kernel.paging import Page
from spinneret.operations.tenants.models import Deletion, Erased, Export


class Place(Protocol):
    """A table, bucket or index that holds data of tenants."""

    @property
    def name(self) -> str:
        """Name in reports."""

    def erase(self, tenant: str, after: Any, remaining: Remaining) -> Erased:
        """Delete the tenant's data in one bounded part of the place, from `after` on.

        Repeating it is no error. The row of the tenant and that of its hold stay.
        """


class DeletionStore(Protocol):
    """States of deletions."""

    def get(self, tenant: str) -> Deletion | None:
        """Return the state, or None before the first step."""

    def put(self, tenant: str, deletion: Deletion) -> None:
        """Store the state."""

    def forget(self, tenant: str) -> None:
        """Delete the state; no-op without one."""


class RunningWork(Protocol):
    """Work that began before the tenant was stopped."""

    def busy_until(self, tenant: str, now: datetime) -> datetime | None:
        """Return the end of the last lease of a running job; None if no job runs."""


class SellerAuthorizations(Protocol):
    """Connections to marketplaces."""

    def revoke_all(self, tenant: str) -> Mapping[str, str]:
        """Revoke and delete each; return marketplace → what became of it."""


class Area(Protocol):
    """One kind of exported data."""

    @property
    def name(self) -> str:
        """First part of the files' names."""

    def page(self, tenant: str, after: str | None) -> Page[BaseModel]:
        """Return the next lines, as the API shows them; bounded by number and size."""


class ExportFiles(Protocol):
    """Files of exports, and their states."""

    def state(self, tenant: str, export_id: str) -> Export:
        """Return the state of the export; a new one for an unknown id."""

    def write(self, tenant: str, export_id: str, name: str, lines: Sequence[str]) -> str:
        """Write a file over an earlier one of its name; return its key."""

    def keep(self, tenant: str, export_id: str, state: Export) -> None:
        """Store the state."""

    def address(self, tenant: str, export_id: str) -> str:
        """Return the `s3://` URL of the export's folder."""
