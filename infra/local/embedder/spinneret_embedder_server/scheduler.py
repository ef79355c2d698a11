"""Admission of texts and their fair distribution over the worker threads."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
from spinneret_embedder.encoder import SentenceEncoder, group_by_length
from spinneret_embedder.errors import EmbeddingError, ErrorType

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spinneret_embedder.encoder import Vectors


class EmbeddingScheduler:
    """Runs the encoder outside the event loop; use it from one event loop only.

    A request keeps at most one group of texts per thread in the executor's queue. So a short query
    waits only for the running groups, never for another request's whole batch.
    """

    def __init__(self, encoder: SentenceEncoder, *, threads: int, capacity: int) -> None:
        """Admit up to ``capacity`` texts at once, computed by ``threads`` threads."""
        self._encoder = encoder
        self._threads = threads
        self._free = capacity
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="encoder")

    async def embed(self, sequences: Sequence[list[int]]) -> Vectors:
        """Return the vectors in the order of ``sequences``; cancelling drops queued work.

        Raises:
            EmbeddingError: OVERLOADED when the texts do not fit, BACKEND.
        """
        if len(sequences) > self._free:
            raise EmbeddingError(ErrorType.OVERLOADED, "Model is overloaded")
        self._free -= len(sequences)
        try:
            return await self._embed_groups(sequences)
        finally:
            self._free += len(sequences)

    async def _embed_groups(self, sequences: Sequence[list[int]]) -> Vectors:
        groups = iter(group_by_length([len(sequence) for sequence in sequences]))
        results: dict[int, Vectors] = {}
        workers = [
            asyncio.ensure_future(self._drain(groups, sequences, results))
            for _ in range(self._threads)
        ]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
        return np.stack([results[position] for position in range(len(sequences))])

    async def _drain(
        self,
        groups: Iterator[list[int]],
        sequences: Sequence[list[int]],
        results: dict[int, Vectors],
    ) -> None:
        loop = asyncio.get_running_loop()
        for group in groups:
            batch = [sequences[position] for position in group]
            vectors = await loop.run_in_executor(self._executor, self._encoder.embed, batch)
            results.update(zip(group, vectors, strict=True))

    def close(self) -> None:
        """Drop queued work; running groups end by themselves, within tenths of a second."""
        self._executor.shutdown(wait=False, cancel_futures=True)
