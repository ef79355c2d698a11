"""Value classes of checks."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from spinneret.web.fetching.models import Certificate, Phases


class Outcome(StrEnum):
    """Result of a check."""

    UP = "up"
    DEGRADED = "degraded"
    """The response is valid, but slower than the owner accepts."""
    DOWN = "down"
    UNKNOWN = "unknown"
    """No statement: our own network failed, or the tenant blocks the host."""
    SKIPPED_BUSY = "skipped_busy"
    """The host's rate limit or another check left no room; the next tick tries again."""


@dataclass(frozen=True, kw_only=True)
class CheckError:
    """Reason why a check isn't up: a code for programs and a message for people."""

    code: str
    message: str
    cause: str | None = None
    """The message without values that differ from check to check; None if it has none."""


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """Result of one check or of a skipped check."""

    id: str
    checked_at: datetime
    outcome: Outcome
    late_ms: int
    """Milliseconds between the check's due time and its start."""
    latency_ms: int = 0
    """Duration of the last try with its redirects; 0 for a skip."""
    status_code: int | None = None
    """None without a response."""
    error: CheckError | None = None
    """None if the check succeeded."""
    tries: int = 0
    is_call: bool = False
    """Whether it is a call of a heartbeat, which measures no latency."""
    in_maintenance: bool = False
    interval_seconds: int | None = None
    """Seconds within which another check was expected; None in a row of an earlier version."""
    paused_at: datetime | None = None
    """Time of the pause since the previous check, whose outcome it ended; None without one."""
    final_url: str | None = None
    redirects: tuple[str, ...] = ()
    phases: Phases | None = None
    certificate: Certificate | None = None
    """Certificate that expires first of all hosts in the redirect chain, without its names.

    None without TLS, and if the check didn't request all of these hosts.
    """
    body_sha256: str | None = None
    """Hash of the first CHECK_BODY_BYTES after decoding; None if no body was read."""

    @property
    def is_measured(self) -> bool:
        """Whether the latency counts as a measurement of the site."""
        return self.outcome in {Outcome.UP, Outcome.DEGRADED} and not self.is_call
