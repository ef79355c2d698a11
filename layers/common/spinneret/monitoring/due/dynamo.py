"""The due index on DynamoDB: the sparse index `due` of the table Targets, and the tick's row.

    due_shard `DUE#<shard>`, due_at `<time>#<interval>`    targets that aren't paused, by the time
                                                           of their next check or the start of its
                                                           step; the shard follows from the id.
                                                           Earlier versions wrote `<time>`
    pk `TICK`, sk `SENT`                                   `until`: until when checks were sent

This index is the only list across tenants: each shard holds due targets of all tenants.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from spinneret.aws import dynamo
from spinneret.aws.reads import query
from spinneret.aws.table import DynamoAdapter
from spinneret.kernel.clock import parse_stamp, to_iso
from spinneret.monitoring.due.models import ListedTarget
from spinneret.monitoring.targets.items import DUE_INDEX, behind_due, due_shard, listed_of

_PAGE: Final = 5000  # near 1 MB, the most that a query answers
_SENT: Final = {"pk": "TICK", "sk": "SENT"}


class DynamoDueIndex(DynamoAdapter):
    """Implements DueIndex."""

    def due(
        self, shard: int, until: datetime, since: datetime | None = None
    ) -> Iterator[ListedTarget]:
        """See DueIndex; the index is eventually consistent."""
        values = {
            ":shard": due_shard(shard),
            ":since": "0" if since is None else to_iso(since),
            ":until": behind_due(until),
        }
        condition = "due_shard = :shard AND due_at BETWEEN :since AND :until"
        asked: dict[str, Any] = {"IndexName": DUE_INDEX, "Limit": _PAGE}
        yield from map(_listed, query(self._client, self._table, condition, values, **asked))

    def sent_until(self) -> datetime | None:
        row = dynamo.get(self._client, self._table, _SENT)
        return parse_stamp(str(row["until"])) if row else None

    def keep_sent(self, until: datetime) -> None:
        dynamo.put_item(self._client, self._table, {**_SENT, "until": to_iso(until)})


def _listed(item: Mapping[str, Any]) -> ListedTarget:
    listed_at, interval_seconds = listed_of(item["due_at"])
    return ListedTarget(
        tenant=item["tenant"],
        target_id=item["target_id"],
        host=item["host"],
        listed_at=listed_at,
        interval_seconds=interval_seconds,
    )
