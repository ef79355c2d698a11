"""Whether it is we who are offline: asked when a check fails as it would if we were."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final

from spinneret.kernel.clock import Clock

logger = logging.getLogger(__name__)

_KNOWN_FOR: Final = timedelta(seconds=10)

Answers = Callable[[str], bool]
"""Whether a reference answers anything at all."""


class Connectivity:
    """Asks references, one after the other until one answers; without any, we count as online."""

    def __init__(self, *, references: Sequence[str], answers: Answers, clock: Clock) -> None:
        self._references = references
        self._answers = answers
        self._clock = clock
        self._known: tuple[datetime, bool] | None = None

    def is_online(self) -> bool:
        """As it was found within the last ten seconds, or now."""
        if not self._references:
            return True
        now = self._clock()
        if self._known is None or now - self._known[0] > _KNOWN_FOR:
            online = any(map(self._answers, self._references))
            if not online:
                logger.warning("checks_offline", extra={"references": len(self._references)})
            self._known = now, online
        return self._known[1]
