"""Statistics on DynamoDB.

Marketplace table
    pk `T#<tenant>#STATISTICS`, sk `<day>#<marketplace>#<action>`   counters of a day
    pk `T#<tenant>#COUNTED#<job id>`, sk `<run>`                    a run whose end was counted

Counter and mark are written in one transaction. `purge_at` is DynamoDB's TTL.
"""

from contextlib import suppress
from datetime import timedelta

from spinneret.aws import dynamo
from spinneret.aws.reads import query
from spinneret.aws.table import DynamoAdapter
from spinneret.jobs.models import Job
from spinneret.kernel import bounds
from spinneret.kernel.clock import epoch_seconds
from spinneret.marketplace.publishing.statistics import COUNTED, DayOfAction


class DynamoActionStatistics(DynamoAdapter):
    """Implements ActionStatisticsStore."""

    def count(self, job: Job, outcome: str, seconds: int) -> None:
        moment = job.finished_at or job.created_at
        place = f"{job.payload['marketplace']}#{job.payload['action_code']}"
        counter = {
            "pk": f"T#{job.tenant}#STATISTICS",
            "sk": f"{moment.date().isoformat()}#{place}",
        }
        purge = epoch_seconds(moment + timedelta(seconds=bounds.JOB_RETENTION_SECONDS))
        mark = {"pk": f"T#{job.tenant}#COUNTED#{job.id}", "sk": str(job.run), "purge_at": purge}
        add = (f"ADD #{outcome} :one, #seconds :seconds", {":one": 1, ":seconds": seconds})
        writes = [
            dynamo.put(self._table, mark, dynamo.ABSENT),
            dynamo.change(self._table, counter, add),
        ]
        with suppress(dynamo.ConditionFailed):  # already counted
            dynamo.transact(self._client, writes)

    def of_day(self, tenant: str, day: str) -> list[DayOfAction]:
        condition = "pk = :pk AND begins_with(sk, :day)"
        values = {":pk": f"T#{tenant}#STATISTICS", ":day": f"{day}#"}
        found = []
        for item in query(self._client, self._table, condition, values, ConsistentRead=True):
            _, marketplace, action_code = str(item["sk"]).split("#")
            numbers = {name: int(str(item.get(name, 0))) for name in (*COUNTED, "seconds")}
            found.append(
                DayOfAction(day=day, marketplace=marketplace, action_code=action_code, **numbers)
            )
        return found
