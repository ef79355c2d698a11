"""Step function of publishing: the next jobs."""

from spinneret.marketplace.driving_wiring import publish_rounds
from spinneret.runtime.steps import step_entrypoint

handler = step_entrypoint(publish_rounds.then(lambda rounds: rounds.take), "publish-take")
