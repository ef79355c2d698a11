"""Step function of deep crawls: the next batch."""

from __future__ import annotations

from spinneret.crawl.deep.take_wiring import take_step
from spinneret.runtime.steps import step_entrypoint

handler = step_entrypoint(lambda env: take_step(env).take, "deep-crawl-take")
