"""Step function of publishing: lets a state wait for a plug-in's answer."""

from spinneret.marketplace.driving_wiring import publish_callbacks
from spinneret.runtime.steps import step_entrypoint

handler = step_entrypoint(publish_callbacks.then(lambda step: step.wait), "publish-callback")
