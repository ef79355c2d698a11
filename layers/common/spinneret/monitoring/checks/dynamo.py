"""Results on DynamoDB, in the table Checks.

    pk `T#<tenant>#RESULTS#<target>`, sk `<time>#<id>`    a result, for CHECK_RESULT_SECONDS; the
                                                          partition is a target's list

A check writes its result, then its target's state (table Targets, `targets.dynamo`), if its
sequence hasn't changed; the state ends the slot of the host. If the state is refused, the result
is removed. A worker that dies in between leaves the result of a request that it made. Completed
hours, incidents and domain events are in one transaction with the state.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from spinneret.aws import dynamo, reads
from spinneret.aws.types import DynamoDBClient, TransactWriteItemTypeDef
from spinneret.kernel.clock import to_iso
from spinneret.kernel.paging import Page
from spinneret.monitoring.checks import items
from spinneret.monitoring.checks.models import CheckResult
from spinneret.monitoring.incidents.dynamo import incident_write
from spinneret.monitoring.incidents.models import StateChange
from spinneret.monitoring.incidents.reporting import domain_events
from spinneret.monitoring.rollups.dynamo import check_writes, figure_writes
from spinneret.monitoring.targets.dynamo import as_read
from spinneret.monitoring.targets.items import state_item
from spinneret.monitoring.targets.models import TargetWithState
from spinneret.outbox.models import DomainEvent

if TYPE_CHECKING:
    EventWrite = Callable[[DomainEvent], TransactWriteItemTypeDef]


class DynamoCheckStore:
    """Implements CheckStore.

    `event_write` builds the transaction part that stores a domain event; readers pass None.
    """

    def __init__(
        self,
        client: DynamoDBClient,
        targets: str,
        checks: str,
        event_write: EventWrite | None = None,
    ) -> None:
        self._client = client
        self._targets = targets
        self._checks = checks
        self._event_write = event_write

    def record(self, watched: TargetWithState, result: CheckResult, step: StateChange) -> bool:
        target = watched.target
        row = items.result_item(target.tenant, target.id, result)
        dynamo.put_item(self._client, self._checks, row)
        if self._changed(watched, result, step):
            return True
        dynamo.delete_item(self._client, self._checks, {"pk": row["pk"], "sk": row["sk"]})
        return False

    def _changed(self, watched: TargetWithState, result: CheckResult, step: StateChange) -> bool:
        """Write the new state and what belongs to it; return False if the target changed."""
        target = watched.target
        names = target.tenant, target.id
        item, unchanged = state_item(target, step.state), as_read(watched.state)
        writes = figure_writes(self._checks, *names, step.closed)
        writes += check_writes(self._checks, *names, step.closed)
        if step.incident is not None:
            writes.append(incident_write(self._targets, *names, step.incident))
        if self._event_write is not None:
            writes += map(self._event_write, domain_events(target, step, result.checked_at))
        if writes:
            state = dynamo.put(self._targets, item, unchanged)
            return dynamo.transact_if(self._client, [state, *writes])
        condition, values = unchanged
        answer = dynamo.write_or_standing(
            self._client.put_item,
            TableName=self._targets,
            Item=item,
            ConditionExpression=condition,
            ExpressionAttributeNames=dynamo.names_in(condition),
            ExpressionAttributeValues=values,
        )
        if isinstance(answer, dynamo.Standing):  # a repeated call finds its own write
            return bool(answer.item) and answer.item["state"] == item["state"]
        return True

    def put_off(self, watched: TargetWithState, until: datetime) -> bool:
        state = replace(watched.state, due_at=until)
        item = state_item(watched.target, state)
        write = dynamo.put(self._targets, item, as_read(watched.state))
        return dynamo.transact_if(self._client, [write])

    def results(
        self,
        tenant: str,
        target_id: str,
        *,
        since: datetime | None,
        until: datetime | None,
        after: str | None,
        limit: int,
    ) -> Page[CheckResult]:
        first = "" if since is None else to_iso(since)
        last = "9" if until is None else items.behind(until)
        if after is not None and after < last:
            last = after
        if first > last:
            return Page(items=(), after=None)
        condition = "pk = :pk AND sk BETWEEN :first AND :last"
        partition = items.partition(tenant, target_id)
        values = {":pk": partition, ":first": first or "0", ":last": last}
        asked = {"ScanIndexForward": False, "ConsistentRead": True}
        # BETWEEN includes the row at `after`, so it is filtered out.
        rows = reads.query(self._client, self._checks, condition, values, limit + 2, **asked)
        found = [item for item in rows if item["sk"] != after]
        return Page.cut(found, limit, lambda item: str(item["sk"])).map(items.result_of)
