"""Wire the media routes."""

from typing import Final

from spinneret.aws.stage import SECRETS_KEY_ID, Stage, reads
from spinneret.events.wiring import (
    FEATURES__ENABLE_WEBHOOKS,
    WEBHOOKS_TABLE,
    webhook_service,
)
from spinneret.jobs.wiring import SUBMISSION, job_service
from spinneret.kernel.settings import text
from spinneret.media.s3 import S3MediaStore
from spinneret.media.service import MediaService
from spinneret.web.browser.wiring import BROWSER_FOLDER, has_browser
from spinneret.web.fetching.wiring import address_policy
from spinneret.web.hosts.wiring import HOSTS, host_service

MEDIA_BUCKET: Final = text("MEDIA_BUCKET")


@reads(
    *(*SUBMISSION, *HOSTS, MEDIA_BUCKET, BROWSER_FOLDER),
    *(WEBHOOKS_TABLE, FEATURES__ENABLE_WEBHOOKS, SECRETS_KEY_ID),
)
def media_service(stage: Stage) -> MediaService:
    """Build the service of the routes."""
    return MediaService(
        jobs=job_service(stage),
        store=media_store(stage),
        webhooks=webhook_service(stage),
        policy=address_policy(stage),
        hosts=host_service(stage),
        clock=stage.clock,
        new_id=stage.new_id,
        has_browser=has_browser(stage),
    )


def media_store(stage: Stage) -> S3MediaStore:
    """Build the store of objects."""
    return S3MediaStore(stage.s3, stage[MEDIA_BUCKET])
