"""Detect whether our own network is offline when a check fails."""

import logging
from collections.abc import Callable, Sequence
from typing import Final

from spinneret.kernel.clock import Clock
from spinneret.kernel.recent import Recent
from spinneret.kernel.service import service

logger = logging.getLogger(__name__)

_KNOWN_SECONDS: Final = 10.0

Answers = Callable[[str], bool]
"""Function that returns whether a reference URL responds at all."""


@service
class Connectivity:
    """Requests reference URLs in turn until one responds; without any, we count as online."""

    references: Sequence[str]
    answers: Answers
    clock: Clock

    def __post_init__(self) -> None:
        self._known = Recent[str, bool](_KNOWN_SECONDS, 1)

    def is_online(self) -> bool:
        """Return whether any reference responds; a result is reused for ten seconds."""
        return self._known.get("any", self.clock(), self._any_answers)

    def _any_answers(self) -> bool:
        online = not self.references or any(map(self.answers, self.references))
        if not online:
            logger.warning("checks_offline", extra={"references": len(self.references)})
        return online
