"""Identifiers that sort by time."""

import os
import re
import threading
from collections.abc import Callable
from datetime import datetime
from typing import Final

NewId = Callable[[str], str]
"""Function that returns a new id with the given prefix: `job` → `job_0192f…`."""

_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,80}")
_RANDOM_BITS: Final = 74  # in a UUID version 7: 12 bits before the variant, 62 after it


def is_id(text: str) -> bool:
    """Return whether this can be an id of ours. DynamoDB refuses empty keys and keys over 1 KB."""
    return _ID.fullmatch(text) is not None


def uuid7_hex(moment: datetime, randomness: bytes) -> str:
    """Return a UUIDv7 as 32 hex digits (RFC 9562, section 5.7); `randomness` is 10 bytes."""
    return _spelled(_number(moment, randomness))


def id_maker(clock: Callable[[], datetime], random: Callable[[int], bytes] = os.urandom) -> NewId:
    """Return a thread-safe id source over the given clock and randomness.

    Each id sorts after the previous one, even within a millisecond and when the clock is set back:
    it is then the previous id plus a random step (RFC 9562, section 6.2, method 2).
    """
    lock = threading.Lock()
    last = 0

    def new_id(prefix: str) -> str:
        nonlocal last
        randomness = random(10)
        fresh = _number(clock(), randomness)
        with lock:
            if fresh >> _RANDOM_BITS <= last >> _RANDOM_BITS:
                fresh = last + 1 + int.from_bytes(randomness[-4:], "big")
            last = fresh
        return f"{prefix}_{_spelled(fresh)}"

    return new_id


def _number(moment: datetime, randomness: bytes) -> int:
    """Return milliseconds and random bits in one number, without version and variant."""
    milliseconds = int(moment.timestamp() * 1000)
    bits = int.from_bytes(randomness, "big") & ((1 << _RANDOM_BITS) - 1)
    return (milliseconds << _RANDOM_BITS) | bits


def _spelled(number: int) -> str:
    high, low = number >> 62, number & ((1 << 62) - 1)
    time, rand_a = high >> 12, high & 0xFFF
    return f"{time:012x}7{rand_a:03x}{0b10 << 62 | low:016x}"
