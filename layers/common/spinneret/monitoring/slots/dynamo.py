"""Slots on DynamoDB, in the table Targets: pk is the slot's name, sk `SLOT`.

Slots belong to no tenant: they protect the sites and our own machines. `ends_at` is the expiry in
epoch milliseconds; a released slot lacks it. Rows of slots are never purged, since the fence must
keep increasing.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from spinneret.aws import dynamo
from spinneret.aws.table import DynamoAdapter
from spinneret.monitoring.slots.models import SlotLease

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


class DynamoSlotStore(DynamoAdapter):
    """Implements SlotStore."""

    def take(
        self, name: str, owner: str, now: datetime, until: datetime, over: str | None = None
    ) -> SlotLease | None:
        row = self._update(
            name,
            "SET #owner = :owner, #ends_at = :until ADD #fence :one",
            # A repeated call increments the fence once more, which is harmless.
            "attribute_not_exists(#ends_at) OR #ends_at <= :now OR #owner IN (:owner, :over)",
            {
                ":owner": owner,
                ":over": over or owner,
                ":until": _ms(until),
                ":now": _ms(now),
                ":one": 1,
            },
        )
        if row is None:
            return None
        return SlotLease(name=name, owner=owner, fence=int(row["fence"]), until=until)

    def holder(self, name: str) -> str | None:
        owner = dynamo.get(self._client, self._table, slot_key(name)).get("owner")
        return None if owner is None else str(owner)

    def renew(self, slot: SlotLease, until: datetime) -> SlotLease | None:
        condition, values = held(slot)
        row = self._update(
            slot.name, "SET #ends_at = :until", condition, {**values, ":until": _ms(until)}
        )
        return None if row is None else replace(slot, until=until)

    def give_back(self, slot: SlotLease) -> None:
        condition, values = held(slot)
        self._update(slot.name, "REMOVE #owner, #ends_at", condition, dict(values))

    def _update(
        self, name: str, update: str, condition: str, values: dict[str, Any]
    ) -> dict[str, Any] | None:
        return dynamo.update_if(
            self._client, self._table, slot_key(name), update, values, condition
        )


def slot_key(name: str) -> dict[str, str]:
    """Return the key of a slot's item."""
    return {"pk": name, "sk": "SLOT"}


def held(slot: SlotLease) -> dynamo.Condition:
    """Return the condition that this owner still holds the slot."""
    return "#owner = :owner AND #fence = :fence", {":owner": slot.owner, ":fence": slot.fence}


def _ms(moment: datetime) -> int:
    return (moment - _EPOCH) // _MILLISECOND
