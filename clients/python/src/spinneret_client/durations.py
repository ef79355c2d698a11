"""Durations as people write them."""

from __future__ import annotations

import re
from typing import Final

from spinneret_client.errors import ConfigurationError

LONGEST_SECONDS: Final = 100 * 365 * 86400
_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def seconds_of(text: str) -> float:
    """Return the seconds of `30s`, `5m`, `1h` or `2d`. Raises ConfigurationError."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd])", text)
    if found is None:
        raise ConfigurationError(f"{text} is no duration: write it with its unit, such as 30s")
    seconds = float(found[1]) * _UNITS[found[2]]
    if seconds > LONGEST_SECONDS:
        raise ConfigurationError(f"{text} is longer than a hundred years")
    return seconds
