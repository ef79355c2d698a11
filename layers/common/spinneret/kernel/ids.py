"""Identifiers that sort by time."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime

NewId = Callable[[str], str]
"""Makes a fresh id with the given prefix, for instance `job` → `job_0192f…`."""


def uuid7_hex(moment: datetime, randomness: bytes) -> str:
    """UUID version 7 as 32 hex digits (RFC 9562, section 5.7); `randomness` is 10 bytes."""
    milliseconds = int(moment.timestamp() * 1000)
    value = bytearray(milliseconds.to_bytes(6, "big") + randomness)
    value[6] = 0x70 | (value[6] & 0x0F)
    value[8] = 0x80 | (value[8] & 0x3F)
    return value.hex()


def id_maker(clock: Callable[[], datetime], random: Callable[[int], bytes] = os.urandom) -> NewId:
    """An id source over the given clock and randomness."""
    return lambda prefix: f"{prefix}_{uuid7_hex(clock(), random(10))}"
