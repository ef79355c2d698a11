"""Step function of publishing: one step of one job."""

from spinneret.marketplace.worker_wiring import publish_visits
from spinneret.runtime.steps import step_entrypoint

handler = step_entrypoint(publish_visits.then(lambda visits: visits.step), "publish-step")
