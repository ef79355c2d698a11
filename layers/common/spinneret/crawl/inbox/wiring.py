"""Wire the inbox except its worker."""

from typing import Final

from spinneret.aws.stage import Stage, reads
from spinneret.crawl.inbox.events import S3EventHandler
from spinneret.crawl.inbox.s3 import S3InboxStore
from spinneret.crawl.inbox.service import InboxIngest, InboxService
from spinneret.jobs.wiring import JOBS, SUBMISSION, job_service, pushing_store
from spinneret.kernel.settings import text

INBOX_BUCKET: Final = text("INBOX_BUCKET")


def inbox_store(stage: Stage) -> S3InboxStore:
    """Build the inbox store of this stage."""
    return S3InboxStore(stage.s3, stage[INBOX_BUCKET])


@reads(*SUBMISSION, INBOX_BUCKET)
def inbox_service(stage: Stage) -> InboxService:
    """Build the service of the inbox's routes."""
    return InboxService(
        store=inbox_store(stage),
        jobs=job_service(stage),
        clock=stage.clock,
        new_id=stage.new_id,
    )


@reads(*JOBS)
def arrivals(stage: Stage) -> S3EventHandler:
    """Build the handler of the bucket's event rule."""
    return S3EventHandler(InboxIngest(jobs=job_service(stage, store=pushing_store(stage))))
