"""Detect whether our own network is offline when a check fails."""

import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final

from spinneret.kernel.clock import Clock

logger = logging.getLogger(__name__)

_KNOWN_FOR: Final = timedelta(seconds=10)

Answers = Callable[[str], bool]
"""Function that returns whether a reference URL responds at all."""


class Connectivity:
    """Requests reference URLs in turn until one responds; without any, we count as online."""

    def __init__(self, *, references: Sequence[str], answers: Answers, clock: Clock) -> None:
        self._references = references
        self._answers = answers
        self._clock = clock
        self._known: tuple[datetime, bool] | None = None

    def is_online(self) -> bool:
        """Return whether any reference responds; a result is reused for ten seconds."""
        if not self._references:
            return True
        now = self._clock()
        if self._known is None or now - self._known[0] > _KNOWN_FOR:
            online = any(map(self._answers, self._references))
            if not online:
                logger.warning("checks_offline", extra={"references": len(self._references)})
            self._known = now, online
        return self._known[1]
