"""Tenants whose work is on hold.

Jobs table
    pk `T#<tenant>#HOLD`, sk `HOLD`    `since`, while the tenant is suspended or being deleted

A process reads a tenant's row at most once in HOLD_KNOWN_SECONDS.
"""

from datetime import datetime

from spinneret.aws import dynamo
from spinneret.aws.types import DynamoDBClient
from spinneret.jobs import limits
from spinneret.jobs.keys import hold_key
from spinneret.kernel.clock import Clock, parse_stamp, to_iso
from spinneret.kernel.recent import Recent


class DynamoHolds:
    """Holds of tenants' work. Methods raise DependencyUnavailable."""

    def __init__(self, client: DynamoDBClient, jobs_table: str, clock: Clock) -> None:
        self._client = client
        self._table = jobs_table
        self._clock = clock
        self._known = Recent[str, datetime | None](
            limits.HOLD_KNOWN_SECONDS, limits.HOLDS_KNOWN_MAX
        )

    def since(self, tenant: str) -> datetime | None:
        """Return since when the tenant's work is on hold; None if it isn't."""
        return self._known.get(tenant, self._clock(), lambda: self._read(tenant))

    def _read(self, tenant: str) -> datetime | None:
        row = dynamo.get(self._client, self._table, hold_key(tenant))
        return parse_stamp(row["since"]) if row else None

    def hold(self, tenant: str, since: datetime) -> None:
        """Hold the tenant's work."""
        item = {**hold_key(tenant), "since": to_iso(since)}
        dynamo.put_item(self._client, self._table, item)

    def release(self, tenant: str) -> None:
        """Release the tenant's work; no-op if it isn't on hold."""
        dynamo.delete_item(self._client, self._table, hold_key(tenant))
