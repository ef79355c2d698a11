"""Helpers for the contract tests of monitoring's stores."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from spinneret.monitoring.checks.dynamo import DynamoCheckStore
from spinneret.monitoring.checks.ports import CheckStore
from spinneret.monitoring.due.dynamo import DynamoDueIndex
from spinneret.monitoring.due.ports import DueIndex
from spinneret.monitoring.incidents.dynamo import DynamoIncidentStore
from spinneret.monitoring.incidents.ports import IncidentStore
from spinneret.monitoring.rollups.dynamo import DynamoRollupStore
from spinneret.monitoring.rollups.ports import RollupStore
from spinneret.monitoring.slots.dynamo import DynamoSlotStore
from spinneret.monitoring.slots.ports import SlotStore
from spinneret.monitoring.targets.dynamo import DynamoTargetStore
from spinneret.monitoring.targets.models import Options, Target, TargetState, TargetWithState
from spinneret.monitoring.targets.ports import TargetStore
from tests.contract.backends import Tables
from tests.fakes.monitoring import FakeIncidentStore, FakeWatch
from tests.fakes.time import START


@dataclass(frozen=True)
class Stores:
    """The stores of one backend."""

    targets: TargetStore
    checks: CheckStore
    incidents: IncidentStore
    figures: RollupStore
    slots: SlotStore
    index: DueIndex


class SmallPages:
    """A client whose queries return at most two rows, as DynamoDB's return at most 1 MB."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def query(self, **request: Any) -> Any:
        return self._client.query(**request | {"Limit": min(2, request.get("Limit", 2))})

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)


def stores_of(tables: Tables | None) -> Stores:
    """Return the stores on these tables, or the fakes without tables."""
    if tables is None:
        watch = FakeWatch()
        return Stores(watch, watch, FakeIncidentStore(watch), watch, watch.slots, watch)
    client, targets, checks = tables.client, tables.names["Targets"], tables.names["Checks"]
    paged: Any = SmallPages(client)
    return Stores(
        targets=DynamoTargetStore(client, targets),
        checks=DynamoCheckStore(paged, targets, checks),
        incidents=DynamoIncidentStore(client, targets),
        figures=DynamoRollupStore(paged, checks),
        slots=DynamoSlotStore(client, targets),
        index=DynamoDueIndex(paged, targets),
    )


def watched(
    tenant: str,
    target_id: str = "t_1",
    *,
    path: str | None = None,
    host: str = "example.com",
    at: datetime = START,
    due_at: datetime | None = START,
    **options: Any,
) -> TargetWithState:
    """Return a target as its creation stores it."""
    url = f"https://{host}/{path or target_id}"
    target = Target(
        tenant=tenant,
        id=target_id,
        url=url.upper(),
        canonical_url=url,
        host=host,
        created_at=at,
        updated_at=at,
        options=Options(**options),
    )
    return TargetWithState(target=target, state=TargetState(sequence=1, due_at=due_at))


def later(former: TargetWithState, **state: Any) -> TargetState:
    """Return the state that follows the target's state."""
    return replace(former.state, sequence=former.state.sequence + 1, **state)
