"""Float32 forward pass of a BERT sentence encoder, the reference for the embedder's int8 model.

Architecture: Devlin et al. 2018, https://arxiv.org/abs/1810.04805, section 3. It has the layers of
Vaswani et al. 2017, https://arxiv.org/abs/1706.03762, section 3, with GELU
(https://arxiv.org/abs/1606.08415) in place of ReLU. The sentence vector is the mean of the last
layer's states: Reimers and Gurevych 2019, https://arxiv.org/abs/1908.10084, section 3.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

    Array = npt.NDArray[Any]

# From config.json of all-MiniLM-L6-v2.
LAYERS = 6
HEADS = 12
MAX_POSITIONS = 512
LAYER_NORM_EPSILON = 1e-12


def _erf(values: Array) -> Array:
    """Return the error function within 1.5e-7 (Abramowitz and Stegun 1964, formula 7.1.26)."""
    size = np.abs(values)
    t = 1 / (1 + 0.3275911 * size)
    polynomial = 0.254829592 + t * (
        -0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))
    )
    return np.sign(values) * (1 - t * polynomial * np.exp(-np.square(values)))


class ReferenceEncoder:
    def __init__(self, folder: Path) -> None:
        """Read ``model.safetensors`` and ``tokenizer.json`` of ``folder``."""
        self._tensors: dict[str, Array] = load_file(folder / "model.safetensors")
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_POSITIONS)

    def embed(self, text: str) -> Array:
        """Return the text's vector, of length 1."""
        ids = self._tokenizer.encode(text).ids
        states = self._normalize(
            self._tensors["embeddings.word_embeddings.weight"][ids]
            + self._tensors["embeddings.position_embeddings.weight"][: len(ids)]
            + self._tensors["embeddings.token_type_embeddings.weight"][0],
            "embeddings.LayerNorm",
        )
        for layer in range(LAYERS):
            states = self._layer(states, f"encoder.layer.{layer}")
        mean: Array = states.mean(axis=0)
        unit: Array = mean / np.linalg.norm(mean)
        return unit

    def _layer(self, states: Array, name: str) -> Array:
        attended = self._linear(
            self._attention(states, f"{name}.attention.self"), f"{name}.attention.output.dense"
        )
        states = self._normalize(states + attended, f"{name}.attention.output.LayerNorm")
        inner = self._linear(states, f"{name}.intermediate.dense")
        gelu = inner * (1 + _erf(inner / math.sqrt(2))) / 2
        outer = self._linear(gelu, f"{name}.output.dense")
        return self._normalize(states + outer, f"{name}.output.LayerNorm")

    def _attention(self, states: Array, name: str) -> Array:
        length, width = states.shape

        def heads(projection: str) -> Array:
            projected = self._linear(states, f"{name}.{projection}")
            return projected.reshape(length, HEADS, width // HEADS).swapaxes(0, 1)

        query, key, value = heads("query"), heads("key"), heads("value")
        scores = query @ key.swapaxes(1, 2) / math.sqrt(width // HEADS)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        mixed: Array = weights @ value
        return mixed.swapaxes(0, 1).reshape(length, width)

    def _linear(self, states: Array, name: str) -> Array:
        return states @ self._tensors[f"{name}.weight"].T + self._tensors[f"{name}.bias"]

    def _normalize(self, states: Array, name: str) -> Array:
        centred = states - states.mean(axis=-1, keepdims=True)
        deviation = np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + LAYER_NORM_EPSILON)
        standard: Array = centred / deviation
        return standard * self._tensors[f"{name}.weight"] + self._tensors[f"{name}.bias"]
