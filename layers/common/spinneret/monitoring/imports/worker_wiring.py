"""Wire the import worker."""

from spinneret.aws.stage import Stage, reads
from spinneret.events.wiring import RELAY, relaying_store
from spinneret.jobs.wiring import JOBS_TABLE, worker
from spinneret.jobs.worker import Worker
from spinneret.monitoring.imports.dynamo import DynamoImportStore
from spinneret.monitoring.imports.pipeline import TargetImport
from spinneret.monitoring.kinds import TARGET_IMPORT
from spinneret.monitoring.variables import CHECK_INTERVAL, TARGETS_TABLE
from spinneret.monitoring.wiring import NEW_TARGETS, target_service
from spinneret.web.wiring import POLITE_FETCHING, polite_fetcher


@reads(*RELAY, *POLITE_FETCHING, *NEW_TARGETS)
def import_worker(stage: Stage) -> Worker:
    """Build the worker of the import lane."""
    handler = TargetImport(
        targets=target_service(stage),
        store=DynamoImportStore(stage.dynamodb, stage[TARGETS_TABLE], stage[JOBS_TABLE]),
        fetcher=polite_fetcher(stage),
        clock=stage.clock,
        default_interval=stage[CHECK_INTERVAL],
    )
    return worker(stage, {TARGET_IMPORT: handler}, relaying_store(stage))
