"""Choice of the delivery worker's adapters.

It is separate from the API's wiring, whose functions don't include the fetcher.
"""

import random

from spinneret.aws.stage import SECRETS_KEY_ID, Stage, reads
from spinneret.events.webhooks.delivery import DeliveryHandler
from spinneret.events.webhooks.dynamo import DynamoEndpointStore
from spinneret.events.webhooks.dynamo_deliveries import DynamoCooldowns, DynamoDeliveryLog
from spinneret.events.webhooks.kinds import DELIVERY
from spinneret.events.wiring import WEBHOOKS_TABLE, vault
from spinneret.jobs.wiring import JOBS, JOBS_TABLE, pushing_store, worker
from spinneret.jobs.worker import Worker
from spinneret.web.fetching.worker_wiring import FETCHING, guarded_fetcher


@reads(*JOBS, *FETCHING, WEBHOOKS_TABLE, SECRETS_KEY_ID)
def delivery_worker(stage: Stage) -> Worker:
    """Return a worker for the delivery lane."""
    table = stage[WEBHOOKS_TABLE]
    handler = DeliveryHandler(
        endpoints=DynamoEndpointStore(stage.dynamodb, table),
        log=DynamoDeliveryLog(stage.dynamodb, table, stage[JOBS_TABLE]),
        cooldowns=DynamoCooldowns(stage.dynamodb, table),
        fetcher=guarded_fetcher(stage),
        vault=vault(stage),
        clock=stage.clock,
        random=random.random,
    )
    return worker(stage, {DELIVERY: handler}, pushing_store(stage))
