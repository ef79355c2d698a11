"""The converted model's folder: what ``convert`` leaves there and ``server`` reads."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

TOKENIZER_FILE: Final = "tokenizer.json"
# CTranslate2 owns ``config.json`` and ``vocabulary.json`` in the same folder.
CARD_FILE: Final = "embedder.json"


@dataclass(frozen=True, slots=True)
class ModelCard:
    """Facts about the converted model that its weights file does not state.

    ``max_input_length`` counts tokens, special ones included. ``source_version`` is the version of
    the package that carried the weights; ``conversion`` is the revision of the conversion itself.
    A card equal to the one a conversion would write proves the folder up to date.
    """

    model_id: str
    hidden_size: int
    max_input_length: int
    compute_type: str
    source_version: str
    conversion: int


def read_card(folder: Path) -> ModelCard | None:
    """Return the folder's card, or None when it has none or one of another layout."""
    try:
        fields = json.loads((folder / CARD_FILE).read_text(encoding="utf-8"))
        return ModelCard(**fields)
    except (FileNotFoundError, json.JSONDecodeError, TypeError):
        return None


def write_card(folder: Path, card: ModelCard) -> None:
    text = json.dumps(asdict(card), indent=2, sort_keys=True)
    (folder / CARD_FILE).write_text(text + "\n", encoding="utf-8")
