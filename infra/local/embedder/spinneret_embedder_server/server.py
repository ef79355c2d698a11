"""``python -m spinneret_embedder_server.server --model DIR --port N``: serve a converted model."""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import uvicorn
from spinneret_embedder.encoder import SentenceEncoder
from spinneret_embedder.limits import MAX_CONCURRENT_REQUESTS
from spinneret_embedder.model_folder import TOKENIZER_FILE, read_card
from spinneret_embedder.tokenization import TextTokenizer

from spinneret_embedder_server.app import create_app
from spinneret_embedder_server.scheduler import EmbeddingScheduler

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.applications import Starlette

# Time for requests in progress at SIGTERM; the rest is cancelled, so that the process ends within
# two seconds.
SHUTDOWN_GRACE_SECONDS: Final = 1


def load_app(model: Path, threads: int) -> Starlette:
    """Load the model and return its application.

    Raises:
        FileNotFoundError: ``model`` was not made by ``spinneret_embedder.convert``.
    """
    card = read_card(model)
    if card is None:
        raise FileNotFoundError(f"{model} holds no converted model")
    encoder = SentenceEncoder(model, compute_type=card.compute_type, threads=threads)
    tokenizer = TextTokenizer(model / TOKENIZER_FILE, card.max_input_length)
    scheduler = EmbeddingScheduler(encoder, threads=threads, capacity=MAX_CONCURRENT_REQUESTS)
    return create_app(card, tokenizer, scheduler)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="spinneret_embedder_server.server", description=__doc__)
    parser.add_argument("--model", type=Path, required=True, metavar="DIR")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--threads", type=int, default=2, help="CPU cores to use")
    options = parser.parse_args(arguments)
    logging.basicConfig(
        level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s %(message)s"
    )
    try:
        app = load_app(options.model, options.threads)
    except FileNotFoundError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    uvicorn.run(
        app,
        host=options.host,
        port=options.port,
        access_log=False,
        log_level=logging.WARNING,
        timeout_graceful_shutdown=SHUTDOWN_GRACE_SECONDS,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
