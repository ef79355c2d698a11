"""Embeds and tokenizes, for a stage that names no embedder.

Nothing is public: those functions invoke it whose roles may.
"""

from spinneret.content.search.model_wiring import embedder_handler
from spinneret.runtime.steps import step_entrypoint

handler = step_entrypoint(embedder_handler, "embedder")
