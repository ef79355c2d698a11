"""Statistics on DynamoDB, in the table Jobs, which every function may read that shows them.

    pk `T#<tenant>#STATISTICS`, sk `PLACE`           how far the tenant's jobs are counted
    pk `T#<tenant>#STATISTICS`, sk `DAY#<day>`       ends of jobs on a day
    pk `T#<tenant>#STATISTICS#HOSTS`, sk `<host>`    crawls of a host, listed by name

A count writes all rows that it changes in one transaction, which requires the cursor's version. So
no end of a job is counted twice or lost, and no counter is shared by concurrent writes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final

from spinneret.aws import dynamo
from spinneret.aws.codec import JSON, Codec, tenant_of
from spinneret.aws.dynamo import Item
from spinneret.aws.reads import query
from spinneret.aws.table import DynamoAdapter, Table
from spinneret.aws.types import DynamoDBClient
from spinneret.jobs import keys
from spinneret.jobs.items import JOBS
from spinneret.jobs.models import Job, JobRef
from spinneret.kernel.clock import epoch_seconds
from spinneret.kernel.paging import Page
from spinneret.operations.statistics import limits
from spinneret.operations.statistics.models import CountCursor, DayOfJobs, HostUse, Numbers

_FIRST_ID: Final = "job_"
_LAST_ID: Final = "job_~"


class DynamoStatisticsStore:
    """Implements StatisticsStore; see the module's docstring for the key design."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        self._client = client
        self._cursors = Table(client, table, CURSORS)
        self._days = Table(client, table, DAYS)
        self._hosts = Table(client, table, HOSTS)

    def cursor(self, tenant: str) -> CountCursor:
        none = CountCursor(tenant=tenant)
        return self._cursors.get(CURSORS.key(none)) or none

    def days(self, tenant: str, days: Sequence[date]) -> Mapping[date, DayOfJobs]:
        wanted = [_day_key(tenant, day) for day in days]
        return {each.day: each for each in self._days.batch_get(wanted)}

    def hosts(self, tenant: str, hosts: Sequence[str]) -> Mapping[str, HostUse]:
        wanted = [_host_key(tenant, host) for host in hosts]
        return {each.host: each for each in self._hosts.batch_get(wanted)}

    def write(self, numbers: Numbers) -> bool:
        """See StatisticsStore: at most 100 rows."""
        cursor = numbers.cursor
        unchanged = dynamo.equals(version=cursor.version or None)
        writes = [
            self._cursors.put_write(replace(cursor, version=cursor.version + 1), unchanged),
            *map(self._days.put_write, numbers.days),
            *map(self._hosts.put_write, numbers.hosts),
        ]
        return dynamo.transact_if(self._client, writes)

    def host_page(self, tenant: str, after: str | None, limit: int) -> Page[HostUse]:
        return self._hosts.page(_hosts_partition(tenant), after, limit)


class DynamoJobLog(DynamoAdapter):
    """Implements JobLog by the index `listed` of the jobs table."""

    def following(self, tenant: str, after: str, limit: int) -> Sequence[str]:
        condition = "list_key = :tenant AND list_id BETWEEN :after AND :last"
        values = {
            ":tenant": keys.list_partition(tenant),
            ":after": after or _FIRST_ID,
            ":last": _LAST_ID,
        }
        most = limit + 1  # the first row may be `after` itself
        found = query(self._client, self._table, condition, values, most, IndexName="listed")
        return [str(row["list_id"]) for row in found if row["list_id"] != after][:limit]

    def jobs(self, tenant: str, ids: Sequence[str]) -> Mapping[str, Job]:
        wanted = [keys.job_key(JobRef(tenant=tenant, job_id=each)) for each in ids]
        rows = dynamo.batch_get(self._client, self._table, wanted)
        return {job.id: job for job in map(JOBS.decode, rows)}


def _partition(tenant: str) -> str:
    return f"T#{tenant}#STATISTICS"


def _hosts_partition(tenant: str) -> str:
    return f"T#{tenant}#STATISTICS#HOSTS"


def _day_key(tenant: str, day: date) -> Item:
    return {"pk": _partition(tenant), "sk": f"DAY#{day.isoformat()}"}


def _host_key(tenant: str, host: str) -> Item:
    return {"pk": _hosts_partition(tenant), "sk": host}


def _day_of(item: Item) -> dict[str, Any]:
    day = date.fromisoformat(item["sk"].removeprefix("DAY#"))
    return {"tenant": tenant_of(item), "day": day}


def _day_purge_at(day: DayOfJobs) -> Item:
    begin = datetime.combine(day.day, time(), UTC)
    return {"purge_at": epoch_seconds(begin + timedelta(days=limits.DAY_KEPT_DAYS))}


CURSORS: Final = Codec(
    CountCursor,
    key=lambda cursor: {"pk": _partition(cursor.tenant), "sk": "PLACE"},
    keyed=("tenant",),
    from_key=lambda item: {"tenant": tenant_of(item)},
)
DAYS: Final = Codec(
    DayOfJobs,
    key=lambda day: _day_key(day.tenant, day.day),
    keyed=("tenant", "day"),
    from_key=_day_of,
    columns={"ends": JSON, "crawl_ms": JSON},
    derived=_day_purge_at,
)
HOSTS: Final = Codec(
    HostUse,
    key=lambda use: _host_key(use.tenant, use.host),
    keyed=("tenant", "host"),
    from_key=lambda item: {"tenant": tenant_of(item), "host": item["sk"]},
    derived=lambda use: {"purge_at": epoch_seconds(use.last_crawl_at) + limits.HOST_KEPT_SECONDS},
)
