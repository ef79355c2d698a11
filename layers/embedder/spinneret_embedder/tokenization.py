"""Text to token ids, with TEI's limits and offsets."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, TypedDict

from tokenizers import Tokenizer

from spinneret_embedder.errors import EmbeddingError, ErrorType, invalid_input
from spinneret_embedder.limits import MAX_CHARACTERS_PER_TOKEN

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tokenizers import Encoding


class Token(TypedDict):
    """One token of ``/tokenize``.

    ``start`` and ``stop`` count bytes of the text's UTF-8 form, as in TEI since its pull request
    576; ``text`` is that slice of the original text. Tokens that are not from the text, such as
    ``[CLS]``, are ``special`` and have no offsets.
    """

    id: int
    text: str
    special: bool
    start: int | None
    stop: int | None


class TextTokenizer:
    """The model's tokenizer. Its methods are thread-safe; they hold the CPU for milliseconds."""

    def __init__(self, file: Path, max_input_length: int) -> None:
        """Load ``file``; ``max_input_length`` counts tokens, special ones included."""
        self._max_input_length = max_input_length
        # The published file pads and truncates to 128 tokens. Truncation is a state of the
        # tokenizer, so requests with and without it need one tokenizer each.
        self._whole = Tokenizer.from_file(str(file))
        self._whole.no_padding()
        self._whole.no_truncation()
        self._truncating = Tokenizer.from_file(str(file))
        self._truncating.no_padding()
        self._truncating.enable_truncation(max_input_length)

    def encode(self, texts: Sequence[str], *, truncate: bool) -> list[list[int]]:
        """Return each text's ids, special tokens included.

        Raises:
            EmbeddingError: VALIDATION for a text above the maximum unless ``truncate``, TOKENIZER.
        """
        tokenizer = self._truncating if truncate else self._whole
        sequences = []
        for text in texts:
            bounded = self._bound_characters(text, truncate=truncate)
            ids = _encode(tokenizer, bounded, add_special_tokens=True).ids
            if len(ids) > self._max_input_length:
                raise invalid_input(
                    f"`inputs` must have less than {self._max_input_length} tokens. "
                    f"Given: {len(ids)}"
                )
            sequences.append(ids)
        return sequences

    def tokenize(self, texts: Sequence[str], *, add_special_tokens: bool) -> list[list[Token]]:
        """Return each text's tokens, however many; raises as ``encode``."""
        tokenized = []
        for text in texts:
            bounded = self._bound_characters(text, truncate=False)
            encoding = _encode(self._whole, bounded, add_special_tokens=add_special_tokens)
            tokenized.append(_tokens(text, encoding))
        return tokenized

    def _bound_characters(self, text: str, *, truncate: bool) -> str:
        limit = self._max_input_length * MAX_CHARACTERS_PER_TOKEN
        if len(text) > limit and not truncate:
            raise invalid_input(
                f"`inputs` must have less than {limit} characters. Given: {len(text)}"
            )
        return text[:limit]


def _encode(tokenizer: Tokenizer, text: str, *, add_special_tokens: bool) -> Encoding:
    try:
        return tokenizer.encode(text, add_special_tokens=add_special_tokens)
    except Exception as error:  # tokenizers raises nothing narrower
        raise EmbeddingError(ErrorType.TOKENIZER, f"tokenizer error {error}") from error


def _tokens(text: str, encoding: Encoding) -> list[Token]:
    byte_at = _byte_positions(text)
    tokens: list[Token] = []
    columns = zip(
        encoding.ids, encoding.tokens, encoding.special_tokens_mask, encoding.offsets, strict=True
    )
    for token_id, piece, special, (start, stop) in columns:
        if special:
            tokens.append(Token(id=token_id, text=piece, special=True, start=None, stop=None))
        else:
            tokens.append(
                Token(
                    id=token_id,
                    text=text[start:stop],
                    special=False,
                    start=byte_at[start],
                    stop=byte_at[stop],
                )
            )
    return tokens


def _byte_positions(text: str) -> Sequence[int]:
    """Map each character position, the end included, to its position in the UTF-8 form.

    The Python binding of ``tokenizers`` counts characters; the Rust library, hence TEI, bytes.
    """
    if text.isascii():
        return range(len(text) + 1)
    widths = (len(character.encode("utf-8")) for character in text)
    return list(accumulate(widths, initial=0))
