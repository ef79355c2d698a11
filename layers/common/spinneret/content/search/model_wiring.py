"""Wiring of the embedder function."""

from collections.abc import Mapping
from typing import Any, Final

from spinneret.aws.stage import Stage, reads
from spinneret.kernel.clock import Remaining
from spinneret.kernel.settings import integer

EMBEDDER_THREADS: Final = integer("EMBEDDER_THREADS")
"""Number of threads; matches the vCPUs that the function's memory provides."""


@reads(EMBEDDER_THREADS)
def embedder_handler(stage: Stage) -> Any:
    """Return the handler from (`{path, body}`, remaining time) to `{status, body}`."""
    threads = stage[EMBEDDER_THREADS]
    # Only this function has the layer.
    from spinneret_embedder.answering import MODEL, Answering  # noqa: PLC0415 - see above

    model = Answering(MODEL, threads)

    def answer(request: Mapping[str, Any], _remaining: Remaining) -> Any:
        return model.answer(request)

    return answer
