"""Adapters of statistics."""

from spinneret.aws.stage import Stage, reads
from spinneret.content.caches.wiring import CACHES_TABLE, use_counter
from spinneret.content.search.variables import SEARCHING
from spinneret.content.search.wiring import chunk_index, embedder
from spinneret.jobs.wiring import JOBS_TABLE
from spinneret.monitoring.rollups.dynamo import DynamoRollupStore
from spinneret.monitoring.targets.dynamo import DynamoTargetStore
from spinneret.monitoring.variables import CHECKS_TABLE, TARGETS_TABLE
from spinneret.operations.statistics.dynamo import DynamoJobLog, DynamoStatisticsStore
from spinneret.operations.statistics.service import JobCounts, Statistics
from spinneret.web.hosts.wiring import DOMAINS_TABLE, PACE, host_pace


@reads(
    *(*SEARCHING, *PACE, JOBS_TABLE, CACHES_TABLE),
    *(DOMAINS_TABLE, TARGETS_TABLE, CHECKS_TABLE),
)
def statistics(stage: Stage) -> Statistics:
    """Create the statistics of this stage."""
    client, table = stage.dynamodb, stage[JOBS_TABLE]
    store = DynamoStatisticsStore(client, table)
    return Statistics(
        counts=JobCounts(store=store, log=DynamoJobLog(client, table), clock=stage.clock),
        store=store,
        use=stage.once(use_counter).days,
        checks=DynamoRollupStore(client, stage[CHECKS_TABLE]).checks,
        targets=DynamoTargetStore(client, stage[TARGETS_TABLE]).number,
        totals=chunk_index(stage, embedder(stage)).totals,
        breaker=host_pace(stage).state,
        clock=stage.clock,
    )
