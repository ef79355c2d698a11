"""Choice of the adapters of discoveries, for their routes."""

from typing import Final

from spinneret.aws.stage import Stage, reads
from spinneret.discovery.dynamo import DynamoDiscoveryStore
from spinneret.discovery.service import DiscoveryService
from spinneret.jobs.wiring import JOBS_TABLE, SUBMISSION, job_service
from spinneret.kernel.settings import flag, text
from spinneret.web.fetching.wiring import address_policy
from spinneret.web.hosts.wiring import HOSTS, host_service

PLANS_TABLE: Final = text("PLANS_TABLE")
ENABLED: Final = flag("FEATURES__ENABLE_URL_DISCOVERY", default=True)


@reads(*SUBMISSION, *HOSTS, PLANS_TABLE, ENABLED)
def discovery_service(stage: Stage) -> DiscoveryService:
    """Return the discovery service of this stage."""
    return DiscoveryService(
        jobs=job_service(stage),
        store=discovery_store(stage),
        policy=address_policy(stage),
        hosts=host_service(stage),
        enabled=stage[ENABLED],
    )


def discovery_store(stage: Stage) -> DynamoDiscoveryStore:
    """Return the store of results."""
    return DynamoDiscoveryStore(stage.dynamodb, stage[PLANS_TABLE], stage[JOBS_TABLE])
