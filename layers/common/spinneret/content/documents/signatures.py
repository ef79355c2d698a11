"""Signatures for detecting near-duplicate texts; pure.

A signature is a simhash (Charikar, "Similarity estimation techniques from rounding algorithms",
STOC 2002): 64 bits, each the majority over the hashes of all runs of three words. Manku, Jain and
Das Sarma, "Detecting near-duplicates for web crawling", WWW 2007, treat pages as duplicates that
differ in at most 3 of 64 bits.
"""

import hashlib
import re
from collections.abc import Sequence
from typing import Final

_BYTES: Final = 8
_LANE: Final = 32  # bits that count one bit of a byte: texts have fewer runs than it can count
_LANE_MASK: Final = (1 << _LANE) - 1
_SPREAD: Final = tuple(
    sum(1 << _LANE * bit for bit in range(8) if byte >> bit & 1) for byte in range(256)
)
"""For each byte a number with one lane for each bit, so that one addition counts eight bits."""
_WORD: Final = re.compile(r"\w+")
_RUN: Final = 3
_LEAST_WORDS: Final = 20  # with fewer runs, majorities are random
NEAR_BITS: Final = 3  # WWW 2007, section 3


def signature(text: str) -> str | None:
    """Return 16 hexadecimal digits; None for a text of fewer than 20 words."""
    words = _WORD.findall(text.lower())
    if len(words) < _LEAST_WORDS:
        return None
    hashes = [
        hashlib.blake2s(" ".join(run).encode("utf-8", "surrogatepass"), digest_size=_BYTES).digest()
        for run in zip(*(words[first:] for first in range(_RUN)), strict=False)
    ]
    return bytes(_majority(column) for column in zip(*hashes, strict=True)).hex()


def _majority(column: Sequence[int]) -> int:
    """Return the byte whose bits most bytes of the column have in common."""
    counts = sum(map(_SPREAD.__getitem__, column))
    lanes = (counts >> _LANE * bit & _LANE_MASK for bit in range(8))
    return sum(1 << bit for bit, count in enumerate(lanes) if 2 * count > len(column))


def are_near(one: int, other: int) -> bool:
    """Return whether two signatures, read as numbers, are of near-duplicates."""
    return (one ^ other).bit_count() <= NEAR_BITS
