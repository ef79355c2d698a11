"""Wire the media worker, whose function has the browser."""

from spinneret.aws.stage import Stage, reads
from spinneret.events.wiring import RELAY, relaying_store
from spinneret.jobs.wiring import worker
from spinneret.jobs.worker import Worker
from spinneret.media.handling import MediaHandler
from spinneret.media.kinds import KINDS
from spinneret.media.wiring import MEDIA_BUCKET, media_store
from spinneret.web.browser_wiring import POLITE_RENDERING, polite_browser


@reads(*RELAY, *POLITE_RENDERING, MEDIA_BUCKET)
def media_worker(stage: Stage) -> Worker:
    """Build a worker of the media lane."""
    handler = MediaHandler(browser=polite_browser(stage), store=media_store(stage))
    return worker(stage, dict.fromkeys(KINDS, handler), relaying_store(stage))
