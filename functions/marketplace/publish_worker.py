"""Queue function of the marketplace lanes."""

from spinneret.jobs.sqs import ref_of
from spinneret.marketplace.driving_wiring import publish_dispatcher
from spinneret.runtime.queue import message_entrypoint

handler = message_entrypoint(ref_of, publish_dispatcher.then(lambda it: it.run), "publish-worker")
