"""Figures on DynamoDB, in the table Checks.

    pk `T#<tenant>#FIGURES#<target>`, sk `H#<hour>`    a completed hour, for 40 days
    pk `T#<tenant>#FIGURES#<target>`, sk `D#<day>`     completed hours of a day, for 400 days
    pk `T#<tenant>#CHECKED`, sk `<day>#<shard>`        checks of all targets in these hours, for 40
                                                       days; a target's shard follows from its id

A row has 0.3 to 2 KB, so one page of a query (1 MB) holds a year by day or 7 days by hour.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime

from spinneret.aws import dynamo, reads
from spinneret.aws.table import DynamoAdapter
from spinneret.aws.types import TransactWriteItemTypeDef
from spinneret.kernel.clock import epoch_seconds
from spinneret.kernel.sharding import shard_of
from spinneret.monitoring import limits
from spinneret.monitoring.rollups import items, rules
from spinneret.monitoring.rollups.models import DayTally, HourTally, Rollup


class DynamoRollupStore(DynamoAdapter):
    """Implements RollupStore."""

    def hours(self, tenant: str, target_id: str, since: datetime) -> Sequence[HourTally]:
        found = self._from(tenant, target_id, items.hour_name(since), "H$")
        return [HourTally(moment, tally) for moment, tally in found]

    def days(self, tenant: str, target_id: str, since: datetime) -> Sequence[DayTally]:
        found = self._from(tenant, target_id, items.day_name(since), "D$")
        return [DayTally(moment, tally) for moment, tally in found]

    def checks(self, tenant: str, since: date) -> Mapping[date, int]:
        values = {":pk": items.checked_partition(tenant), ":since": since.isoformat()}
        found: dict[date, int] = {}
        for row in reads.query(self._client, self._table, "pk = :pk AND sk >= :since", values):
            day = date.fromisoformat(str(row["sk"]).partition("#")[0])
            found[day] = found.get(day, 0) + int(row["checks"])
        return found

    def _from(
        self, tenant: str, target_id: str, first: str, end: str
    ) -> list[tuple[datetime, Rollup]]:
        pk = items.partition(tenant, target_id)
        condition = "pk = :pk AND sk BETWEEN :first AND :end"
        values = {":pk": pk, ":first": first, ":end": end}
        rows = reads.query(self._client, self._table, condition, values, ConsistentRead=True)
        return [(items.moment_of(str(item["sk"])), items.tally_of(item)) for item in rows]


def figure_writes(
    table: str, tenant: str, target_id: str, closed: Sequence[HourTally]
) -> list[TransactWriteItemTypeDef]:
    """Build the writes that add completed hours to their own items and to their days' items.

    The writes add instead of replacing, since a slow clock may close an hour twice. Figures of one
    item are summed first: a transaction allows one write per item.
    """
    pk, sums, ends = items.partition(tenant, target_id), dict[str, Rollup](), dict[str, int]()
    for each in closed:
        day = rules.day_of(each.hour)
        for name, at, seconds in (
            (items.hour_name(each.hour), each.hour, limits.HOUR_RETENTION_SECONDS),
            (items.day_name(day), day, limits.DAY_RETENTION_SECONDS),
        ):
            sums[name] = sums.get(name, Rollup()) + each.tally
            ends[name] = epoch_seconds(at) + seconds
    return [
        _added(table, {"pk": pk, "sk": name}, tally, ends[name]) for name, tally in sums.items()
    ]


def check_writes(
    table: str, tenant: str, target_id: str, closed: Sequence[HourTally]
) -> list[TransactWriteItemTypeDef]:
    """Build the writes that add the checks of completed hours to the sum of all targets."""
    sums: dict[datetime, int] = {}
    for each in closed:
        day = rules.day_of(each.hour)
        sums[day] = sums.get(day, 0) + each.tally.checks
    shard = shard_of(target_id, limits.CHECKED_SHARDS)
    return [
        _added(
            table,
            {"pk": items.checked_partition(tenant), "sk": f"{day:%Y-%m-%d}#{shard:02}"},
            Rollup(checks=number),
            epoch_seconds(day) + limits.HOUR_RETENTION_SECONDS,
        )
        for day, number in sums.items()
        if number
    ]


def _added(
    table: str, key: dict[str, str], tally: Rollup, purge_at: int
) -> TransactWriteItemTypeDef:
    given = items.numbers_of(tally)
    update = "SET #purge_at = :purge_at"
    if given:
        update += " ADD " + ", ".join(f"#{name} :{name}" for name in given)
    values = {":purge_at": purge_at, **{f":{name}": number for name, number in given.items()}}
    return dynamo.change(table, key, (update, values))
