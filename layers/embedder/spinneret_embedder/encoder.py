"""Token ids to sentence vectors: the CTranslate2 model and its mean pooling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import ctranslate2  # type: ignore[import-untyped]  # it ships no types
import numpy as np

from spinneret_embedder.errors import EmbeddingError, ErrorType

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]

# Attention over larger batches falls out of the CPU caches: measured on two cores, 32 texts of 500
# tokens run twice as fast in groups of this many tokens as in one batch.
GROUP_TOKENS: Final = 1024


class SentenceEncoder:
    """The encoder. ``embed`` may run in as many threads at once as given to the constructor."""

    def __init__(self, folder: Path, *, compute_type: str, threads: int) -> None:
        # One core for each group beats several cores for one: groups share no barriers, which
        # matters on a machine whose cores are busy with other servers.
        self._model = ctranslate2.Encoder(
            str(folder),
            device="cpu",
            compute_type=compute_type,
            inter_threads=threads,
            intra_threads=1,
        )

    def embed(self, sequences: Sequence[list[int]]) -> Vectors:
        """Return one vector for each sequence: the mean of its tokens' last hidden states.

        Special tokens count, as the model was trained; padding does not. Not normalised.

        Raises:
            EmbeddingError: BACKEND, when the model fails or yields a non-finite number.
        """
        try:
            output = self._model.forward_batch(list(sequences))
        except (RuntimeError, ValueError) as error:
            raise EmbeddingError(ErrorType.BACKEND, f"Backend error: {error}") from error
        states = np.asarray(output.last_hidden_state)
        vectors = np.stack(
            [state[: len(ids)].mean(axis=0) for state, ids in zip(states, sequences, strict=True)]
        )
        if not np.isfinite(vectors).all():
            raise EmbeddingError(ErrorType.BACKEND, "Backend error: the embedding is not finite")
        return vectors


def group_by_length(lengths: Sequence[int]) -> list[list[int]]:
    """Split positions ``0..n-1`` into groups of similar length, longest first.

    Each group, padded to its longest member, holds at most ``GROUP_TOKENS`` tokens or is a single
    sequence. Longest first keeps two workers busy until the end.
    """
    groups: list[list[int]] = []
    capacity = 0
    for position in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        if not groups or len(groups[-1]) >= capacity:
            groups.append([])
            capacity = max(1, GROUP_TOKENS // lengths[position])
        groups[-1].append(position)
    return groups


def normalized(vectors: Vectors) -> Vectors:
    """Scale each vector to length 1."""
    lengths: Vectors = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / lengths
