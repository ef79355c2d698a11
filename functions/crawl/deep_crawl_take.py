"""Step function of deep crawls: the next batch."""

from spinneret.crawl.deep.wiring import take_step
from spinneret.runtime.steps import step_entrypoint

handler = step_entrypoint(take_step.then(lambda step: step.take), "deep-crawl-take")
