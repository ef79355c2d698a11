"""Values of checks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from spinneret.web.fetching.models import Certificate, Phases


class Outcome(StrEnum):
    """What a check says of its target."""

    UP = "up"
    DEGRADED = "degraded"
    """It answers as it should, but slower than its owner accepts."""
    DOWN = "down"
    UNKNOWN = "unknown"
    """Nothing: our own network failed, or the tenant's blocks forbid the host."""
    SKIPPED_BUSY = "skipped_busy"
    """The host's pace, or another check, left no room; asked for again at the next tick."""


@dataclass(frozen=True, kw_only=True)
class CheckError:
    """Why a check isn't up: a code for programs, a sentence for people."""

    code: str
    message: str


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """One check, or the skip of one."""

    id: str
    checked_at: datetime
    outcome: Outcome
    late_ms: int
    """From the time that the check was due at to its beginning."""
    latency_ms: int = 0
    """Of the last try with its redirects; 0 for a skip."""
    status_code: int | None = None
    """None where no answer came."""
    error: CheckError | None = None
    """None for a success."""
    tries: int = 0
    in_maintenance: bool = False
    final_url: str | None = None
    redirects: tuple[str, ...] = ()
    phases: Phases | None = None
    certificate: Certificate | None = None
    """Of all hosts on the way, the one that ends first, without its names; None without TLS, and
    where the check didn't ask all of them."""
    body_sha256: str | None = None
    """Of the first CHECK_BODY_BYTES after decoding; None where no body was read."""

    @property
    def is_measured(self) -> bool:
        """Whether its latency says how fast the site answers."""
        return self.outcome in {Outcome.UP, Outcome.DEGRADED}
