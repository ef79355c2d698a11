"""Step function of publishing: one step of one job."""

from spinneret.marketplace.worker_wiring import publish_step
from spinneret.runtime.steps import step_entrypoint

handler = step_entrypoint(publish_step.then(lambda job: job.step), "publish-step")
