"""BERT checkpoint tensors laid out as a CTranslate2 encoder.

The encoder is the post-norm Transformer of Devlin et al. 2018 (https://arxiv.org/abs/1810.04805):
word, position and segment embeddings are added and normalised; each layer is self-attention and a
GELU feed-forward network, each followed by a residual sum and a layer normalisation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from ctranslate2.specs import (  # type: ignore[import-untyped]  # it ships no types
    common_spec,
    transformer_spec,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from spinneret_embedder.weights import EncoderShape

    Tensors = Mapping[str, npt.NDArray[np.float32]]


def build_spec(
    tensors: Tensors, shape: EncoderShape, vocabulary: Sequence[str], unknown_token: str
) -> transformer_spec.TransformerEncoderModelSpec:
    """Return the encoder without its pooler: sentence vectors are means of the last layer.

    ``vocabulary`` lists the tokens by id. Quantisation is left to the caller.
    """
    encoder = transformer_spec.TransformerEncoderSpec(
        shape.layers,
        shape.heads,
        pre_norm=False,
        activation=common_spec.Activation.GELU,
        layernorm_embedding=True,
        num_source_embeddings=2,
        embeddings_merge=common_spec.EmbeddingsMerge.ADD,
    )
    # BERT does not multiply embeddings by sqrt(hidden size), CTranslate2's default.
    encoder.scale_embeddings = False
    words, segments = encoder.embeddings
    words.weight = tensors["embeddings.word_embeddings.weight"]
    segments.weight = tensors["embeddings.token_type_embeddings.weight"]
    encoder.position_encodings.encodings = tensors["embeddings.position_embeddings.weight"]
    _set_layer_norm(encoder.layernorm_embedding, tensors, "embeddings.LayerNorm")
    for index, layer in enumerate(encoder.layer):
        _set_layer(layer, tensors, f"encoder.layer.{index}")

    spec = transformer_spec.TransformerEncoderModelSpec(encoder)
    spec.register_vocabulary(list(vocabulary))
    spec.config.unk_token = unknown_token
    spec.config.layer_norm_epsilon = shape.layer_norm_epsilon
    return spec


def _set_layer(
    layer: transformer_spec.TransformerEncoderLayerSpec, tensors: Tensors, prefix: str
) -> None:
    attention = layer.self_attention
    # CTranslate2 computes the three projections of self-attention as one matrix product.
    projections = [f"{prefix}.attention.self.{name}" for name in ("query", "key", "value")]
    fused = attention.linear[0]
    fused.weight = np.concatenate([tensors[f"{name}.weight"] for name in projections])
    fused.bias = np.concatenate([tensors[f"{name}.bias"] for name in projections])
    _set_linear(attention.linear[1], tensors, f"{prefix}.attention.output.dense")
    _set_layer_norm(attention.layer_norm, tensors, f"{prefix}.attention.output.LayerNorm")
    _set_linear(layer.ffn.linear_0, tensors, f"{prefix}.intermediate.dense")
    _set_linear(layer.ffn.linear_1, tensors, f"{prefix}.output.dense")
    _set_layer_norm(layer.ffn.layer_norm, tensors, f"{prefix}.output.LayerNorm")


def _set_linear(linear: common_spec.LinearSpec, tensors: Tensors, name: str) -> None:
    linear.weight = tensors[f"{name}.weight"]
    linear.bias = tensors[f"{name}.bias"]


def _set_layer_norm(norm: common_spec.LayerNormSpec, tensors: Tensors, name: str) -> None:
    norm.gamma = tensors[f"{name}.weight"]
    norm.beta = tensors[f"{name}.bias"]
