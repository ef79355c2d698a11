"""Readiness: send one cheap request to every dependency."""

import logging
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

from spinneret.kernel.errors import DependencyUnavailable
from spinneret.kernel.service import service
from spinneret.operations.models import DependencyHealth, Readiness

logger = logging.getLogger(__name__)

Probe = Callable[[], None]
"""Returns if the dependency responds, else raises DependencyUnavailable. Has a timeout."""


@service
class HealthService:
    """Checks all dependencies in parallel, so that a slow one doesn't hide the others."""

    probes: Mapping[str, Probe]
    absent: tuple[str, ...] = ()
    """Optional parts that this stage doesn't have."""
    timer: Callable[[], float] = time.perf_counter

    def ready(self) -> Readiness:
        """Return the state of every dependency by name."""
        with ThreadPoolExecutor(max_workers=len(self.probes)) as pool:
            answers = dict(zip(self.probes, pool.map(self._ask, self.probes), strict=True))
        healthy = all(answer.status == "ok" for answer in answers.values())
        missing = {name: DependencyHealth(status="absent", latency_ms=0.0) for name in self.absent}
        return Readiness(status="ok" if healthy else "not_ready", checks=answers | missing)

    def _ask(self, name: str) -> DependencyHealth:
        started = self.timer()
        status = "ok"
        try:
            self.probes[name]()
        except DependencyUnavailable:
            logger.warning("dependency_unavailable", extra={"dependency": name})
            status = "unavailable"
        latency = round((self.timer() - started) * 1000, 1)
        return DependencyHealth(status=status, latency_ms=latency)
