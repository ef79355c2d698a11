"""Wire the operator's commands on tenants."""

from typing import Final

from spinneret.access.tenants.dynamo import DynamoTenantStore
from spinneret.access.tenants.service import TenantService
from spinneret.access.wiring import TENANCY_TABLE, UPLOADS_BUCKET
from spinneret.audits.wiring import AUDITS_BUCKET
from spinneret.aws.stage import CONTENT_BUCKET, Stage, reads
from spinneret.content.search.opensearch_tenants import OpenSearchTenants
from spinneret.content.search.variables import OPENSEARCH_AUTH, OPENSEARCH_URL
from spinneret.content.search.wiring import index_client
from spinneret.content.wiring import content_store, document_store, tag_service
from spinneret.crawl.inbox.wiring import INBOX_BUCKET
from spinneret.jobs.dynamo_holds import DynamoHolds
from spinneret.jobs.wiring import JOBS_TABLE, job_store
from spinneret.marketplace.publishing_wiring import product_store
from spinneret.marketplace.wiring import CALLING, connection_service
from spinneret.media.wiring import MEDIA_BUCKET
from spinneret.monitoring.targets.dynamo import DynamoTargetStore
from spinneret.monitoring.variables import TARGETS_TABLE
from spinneret.operations.tenants.areas import DocumentsArea, list_areas
from spinneret.operations.tenants.commands import TenantCommands
from spinneret.operations.tenants.deleting import TenantDeletion
from spinneret.operations.tenants.dynamo import DynamoDeletions, TablePlace
from spinneret.operations.tenants.exporting import TenantExport
from spinneret.operations.tenants.places import Connections, IndexPlace, LeasedJobs
from spinneret.operations.tenants.ports import Place
from spinneret.operations.tenants.s3 import BucketPlace, S3ExportFiles
from spinneret.operations.tenants.tables import TABLES

BUCKETS: Final = {
    "Content": CONTENT_BUCKET,
    "Inbox": INBOX_BUCKET,
    "Media": MEDIA_BUCKET,
    "AuditObjects": AUDITS_BUCKET,
    "Uploads": UPLOADS_BUCKET,
}
"""Logical id in the templates → variable that names the bucket."""


@reads(
    *(rows.variable for rows in TABLES.values()),
    *BUCKETS.values(),
    OPENSEARCH_URL,
    OPENSEARCH_AUTH,
    *CALLING,
)
def tenant_commands(stage: Stage) -> TenantCommands:
    """Build the commands."""
    client = stage.dynamodb
    tenants = TenantService(
        tenants=DynamoTenantStore(client, stage[TENANCY_TABLE]),
        holds=DynamoHolds(client, stage[JOBS_TABLE], stage.clock),
        clock=stage.clock,
    )
    jobs = job_store(stage)
    documents = DocumentsArea(
        documents=document_store(stage), contents=content_store(stage), tags=tag_service(stage)
    )
    targets = DynamoTargetStore(client, stage[TARGETS_TABLE])
    return TenantCommands(
        tenants=tenants,
        exports=TenantExport(
            tenants=tenants,
            areas=[documents, *list_areas(jobs, product_store(stage), targets)],
            files=S3ExportFiles(stage.s3, stage[CONTENT_BUCKET]),
            new_id=stage.new_id,
        ),
        deletions=TenantDeletion(
            tenants=tenants,
            states=DynamoDeletions(client, stage[TENANCY_TABLE]),
            work=LeasedJobs(jobs=jobs),
            sellers=Connections(connections=connection_service(stage)),
            places=_places(stage),
            clock=stage.clock,
        ),
    )


def _places(stage: Stage) -> list[Place]:
    """Return all places, the credentials' table last."""
    index = IndexPlace(remove=OpenSearchTenants(index_client(stage)).remove)
    buckets = [BucketPlace(stage.s3, name, stage[each]) for name, each in BUCKETS.items()]
    tables = [
        TablePlace(stage.dynamodb, name, stage[rows.variable], rows)
        for name, rows in TABLES.items()
    ]
    return [index, *buckets, *tables]
