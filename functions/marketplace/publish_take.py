"""Step function of publishing: the next jobs."""

from spinneret.marketplace.driving_wiring import next_jobs_step
from spinneret.runtime.steps import step_entrypoint

handler = step_entrypoint(next_jobs_step.then(lambda step: step.take), "publish-take")
