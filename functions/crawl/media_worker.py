"""Queue function of the media lane."""

from spinneret.media.worker_wiring import media_worker
from spinneret.runtime.queue import worker_entrypoint

handler = worker_entrypoint(media_worker, "media-worker")
