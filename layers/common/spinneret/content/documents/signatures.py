"""Signatures for detecting near-duplicate texts; pure.

A signature is a simhash (Charikar, "Similarity estimation techniques from rounding algorithms",
STOC 2002): 64 bits, each the majority over the hashes of all runs of three words. Manku, Jain and
Das Sarma, "Detecting near-duplicates for web crawling", WWW 2007, treat pages as duplicates that
differ in at most 3 of 64 bits.
"""

from __future__ import annotations

import hashlib
import re
from typing import Final

_BITS: Final = 64
_WORD: Final = re.compile(r"\w+")
_RUN: Final = 3
_LEAST_WORDS: Final = 20  # with fewer runs, majorities are random
NEAR_BITS: Final = 3  # WWW 2007, section 3


def signature(text: str) -> str | None:
    """Return 16 hexadecimal digits; None for a text of fewer than 20 words."""
    words = _WORD.findall(text.lower())
    if len(words) < _LEAST_WORDS:
        return None
    counts = [0] * _BITS
    for start in range(len(words) - _RUN + 1):
        run = " ".join(words[start : start + _RUN]).encode("utf-8", "surrogatepass")
        value = int.from_bytes(hashlib.blake2s(run, digest_size=8).digest(), "big")
        for bit in range(_BITS):
            counts[bit] += 1 if value >> bit & 1 else -1
    return f"{sum(1 << bit for bit in range(_BITS) if counts[bit] > 0):016x}"


def are_near(one: str | None, other: str | None) -> bool:
    """Return whether two texts are near-duplicates; False if one has no signature."""
    if one is None or other is None:
        return False
    return (int(one, 16) ^ int(other, 16)).bit_count() <= NEAR_BITS
