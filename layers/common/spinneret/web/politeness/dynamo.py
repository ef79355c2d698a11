"""The host ledger on DynamoDB.

Domains table
    pk `DOMAIN#<host>`, sk `PACE`          buckets, reservations, Retry-After, strict holders,
                                           breaker
    pk `DOMAIN#<host>:<port>`, sk `PACE`   Retry-After and breaker of an unusual port
    pk `DOMAIN#<host>`, sk `SESSION`       session lock and end of the last session
    pk `DOMAIN#<host>`, sk `ROBOTS`        lease of the worker that reads robots.txt; also by port

Rows are global, without a tenant, since pace applies per host. Rows are below 1 KB, so every update
costs one write unit, even a rejected one. A host with many different paces of tenants may need two.
`purge_at` (epoch seconds) is DynamoDB's TTL attribute: it only removes garbage; no condition uses
it.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from spinneret.aws import dynamo
from spinneret.aws.table import DynamoAdapter
from spinneret.web.politeness.changes import ConditionalUpdate, GuardOperator, Increment, Row
from spinneret.web.politeness.models import Record
from spinneret.web.politeness.ports import Refused, Written

_TERMS: Final[Mapping[GuardOperator, str]] = {
    GuardOperator.ABSENT: "attribute_not_exists({name})",
    GuardOperator.EQUAL: "{name} = {value}",
    GuardOperator.DIFFERENT: "(attribute_not_exists({name}) OR {name} <> {value})",
    GuardOperator.PASSED: "(attribute_not_exists({name}) OR {name} <= {value})",
    GuardOperator.OVER: "{name} > {value}",
}
_KEY: Final = frozenset({"pk", "sk"})


class DynamoHostStateStore(DynamoAdapter):
    """Implements HostStateStore; see the module's docstring for the key design."""

    def read(self, host: str, record: Record) -> Row:
        return _row(dynamo.get(self._client, self._table, _key(host, record)))

    def update(self, host: str, record: Record, change: ConditionalUpdate) -> Written | Refused:
        """See HostStateStore: one UpdateItem; a rejection returns the row."""
        condition, bounds = _condition(change)
        update, values = _update(change)
        answer = dynamo.update_or_standing(
            self._client,
            self._table,
            _key(host, record),
            update,
            {**bounds, **values},
            condition,
        )
        if isinstance(answer, dynamo.Standing):
            return Refused(_row(answer.item))
        return Written(_row(answer))


def _key(host: str, record: Record) -> dict[str, str]:
    return {"pk": f"DOMAIN#{host}", "sk": record.value}


def _condition(change: ConditionalUpdate) -> dynamo.Condition:
    terms, values = [], {}
    for number, guard in enumerate(change.guards):
        value = f":guard_{number}"
        terms.append(_TERMS[guard.relation].format(name=f"#{guard.attribute}", value=value))
        if guard.relation is not GuardOperator.ABSENT:
            values[value] = guard.value
    return " AND ".join(terms), values


def _update(change: ConditionalUpdate) -> tuple[str, dict[str, Any]]:
    sets: list[str] = []
    removes: list[str] = []
    values: dict[str, Any] = {}
    for name, to in change.to.items():
        match to:
            case None:
                removes.append(f"#{name}")
            case Increment(amount=amount, start=start):
                sets.append(f"#{name} = if_not_exists(#{name}, :start_{name}) + :plus_{name}")
                values |= {f":start_{name}": start, f":plus_{name}": amount}
            case _:
                sets.append(f"#{name} = :to_{name}")
                values[f":to_{name}"] = to
    clauses = [("SET", sets), ("REMOVE", removes)]
    return " ".join(f"{verb} {', '.join(parts)}" for verb, parts in clauses if parts), values


def _row(item: Mapping[str, Any]) -> Row:
    return {
        name: int(value) if isinstance(value, Decimal) else value
        for name, value in item.items()
        if name not in _KEY
    }
