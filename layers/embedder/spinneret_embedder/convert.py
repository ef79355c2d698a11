"""``python -m spinneret_embedder.convert --out DIR``: make the folder that the server serves.

Nothing is downloaded: the weights come from the package named in ``weights``.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from safetensors.numpy import load_file
from tokenizers import Tokenizer

from spinneret_embedder.bert_spec import build_spec
from spinneret_embedder.model_folder import TOKENIZER_FILE, ModelCard, read_card, write_card
from spinneret_embedder.weights import MODEL_ID, SourceWeights, WeightsError, find_weights

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Raise it with every change of this package that makes another model of the same weights.
CONVERSION: Final = 1
COMPUTE_TYPE: Final = "int8"


def convert(out: Path) -> bool:
    """Bring ``out`` up to date; return False when it already was.

    A reader never sees a half-written folder: it is written beside ``out`` and renamed.

    Raises:
        WeightsError: the original weights are missing or unsupported.
    """
    source = find_weights()
    card = _card(source)
    if read_card(out) == card:
        return False
    with _replacement(out) as folder:
        _write_model(source, folder)
        shutil.copyfile(source.tokenizer, folder / TOKENIZER_FILE)
        write_card(folder, card)
    return True


def _card(source: SourceWeights) -> ModelCard:
    shape = source.shape()
    return ModelCard(
        model_id=MODEL_ID,
        hidden_size=shape.hidden_size,
        max_input_length=shape.max_positions,
        compute_type=COMPUTE_TYPE,
        source_version=source.version,
        conversion=CONVERSION,
    )


def _write_model(source: SourceWeights, folder: Path) -> None:
    tokenizer = Tokenizer.from_file(str(source.tokenizer))
    ids = tokenizer.get_vocab(with_added_tokens=True)
    vocabulary = sorted(ids, key=ids.__getitem__)
    unknown_token = tokenizer.model.unk_token
    spec = build_spec(load_file(source.tensors), source.shape(), vocabulary, unknown_token)
    spec.validate()
    spec.optimize(quantization=COMPUTE_TYPE)
    spec.save(str(folder))


@contextmanager
def _replacement(target: Path) -> Iterator[Path]:
    """Yield a new folder that becomes ``target`` when the block ends without an error."""
    target.parent.mkdir(parents=True, exist_ok=True)
    workspace = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        fresh = workspace / "fresh"
        fresh.mkdir()
        yield fresh
        # A folder can't replace another that has files, so the old one is moved first.
        if target.exists():
            target.rename(workspace / "stale")
        fresh.rename(target)
    finally:
        shutil.rmtree(workspace)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="spinneret_embedder.convert", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    out: Path = parser.parse_args(arguments).out.absolute()
    try:
        converted = convert(out)
    except WeightsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"{out}: {'converted' if converted else 'up to date'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
