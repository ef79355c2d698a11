"""Sessions: exclusive access of one job to a host, some time after the last one (F-04, F-05).

Lock and throttle are one row and one conditional write. No call sleeps: a refused caller retries.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Self

from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import DomainLockLost, DomainLockTimeout
from spinneret.kernel.service import service
from spinneret.web import limits
from spinneret.web.politeness.changes import (
    AttributeUpdates,
    ConditionalUpdate,
    Guard,
    Increment,
    Row,
    absent_or_at_most,
    equal,
    greater_than,
)
from spinneret.web.politeness.models import (
    Record,
    SessionOptions,
    WaitReason,
    fields_in,
    from_ms,
    to_ms,
)
from spinneret.web.politeness.ports import HostStateStore, Written
from spinneret.web.politeness.rules import host_key

logger = logging.getLogger(__name__)

DEBUG_MODE: Final = "debug"
"""Mode of a session that isn't throttled."""
_RACES: Final = 3  # a session that left may return at the same moment
_ROUNDED_MS: Final = 1  # moments are rounded down: one more millisecond completes the gap
_KEPT_SECONDS: Final = 24 * 3600  # of an open session's row; an ended one expires with its throttle


@dataclass(frozen=True, kw_only=True)
class SessionState:
    """Session row of one host; every field may be absent."""

    session_id: str | None = None
    opened_by: str | None = None
    fence: int | None = None
    locked_until: int | None = None
    ended_at: int | None = None
    left_at: int | None = None
    """Since when no worker uses the host, though the session keeps it locked."""

    @classmethod
    def of(cls, row: Row) -> Self:
        """Parse the state in a row."""
        return cls(**fields_in(cls, row))


@dataclass(frozen=True, kw_only=True)
class Session:
    """A session at a host."""

    host: str
    session_id: str
    fence: int | None
    """Rises with every session of the host; None if locks are disabled."""


@dataclass(frozen=True, kw_only=True)
class SessionWait:
    """Retry at `until`, with this `attempt`."""

    until: datetime
    reason: WaitReason
    attempt: int


@service
class Sessions:
    """Lock and throttle of hosts. All methods raise DependencyUnavailable.

    `is_over` takes a session's id and returns whether its work has ended or rests. It is called
    only for a session that left the host and keeps it locked.
    """

    ledger: HostStateStore
    options: SessionOptions
    clock: Clock
    random: Callable[[], float]
    new_token: Callable[[], str]
    is_over: Callable[[str], bool]

    def open(
        self, host: str, session_id: str, *, attempt: int = 0, mode: str = ""
    ) -> Session | SessionWait:
        """Lock the host if it is free and its last session ended long enough ago.

        `attempt` is 0 at first, then the field of the SessionWait: 1 to 3 follow a refusal by the
        lock, after 1, 2 and 4 s and a jitter; waits for the throttle don't count. Raises
        DomainLockTimeout, which names the other session, when the third retry is refused too. A
        session takes over its own lock if a worker that died left it. It also replaces a session
        that left and won't resume.
        """
        host = host_key(host)
        gap = self._gap_ms(host, session_id, mode)
        if self.options.disable_locks:
            return Session(host=host, session_id=session_id, fence=None)
        now, token = to_ms(self.clock()), self.new_token()
        seen, refusal = self._entered(host, session_id, token, now, gap)
        if refusal is None:
            _log(logging.INFO, "lock.acquire.success", host, session_id, fence=seen.fence)
            return Session(host=host, session_id=session_id, fence=seen.fence)
        if refusal is WaitReason.LOCK:
            return self._after_lock_refusal(host, session_id, attempt, now, seen)
        until = max(_ended_at(seen) + (gap or 0), now)
        _log(logging.INFO, "throttle.wait", host, session_id, wait_ms=until - now)
        return SessionWait(until=from_ms(until), reason=WaitReason.THROTTLE, attempt=attempt)

    def holder(self, host: str) -> str | None:
        """Return the session that keeps the host locked; None if it is free."""
        if self.options.disable_locks:
            return None
        seen = SessionState.of(self.ledger.read(host_key(host), Record.SESSION))
        locked = _is_locked(seen, to_ms(self.clock())) and not self._has_left(seen)
        return seen.session_id if locked else None

    def renew(self, session: Session) -> None:
        """Extend the lock. Raises DomainLockLost, after which the host must be left at once.

        An expired lock is renewed too, as long as no other session took it.
        """
        if session.fence is None:
            return
        now = to_ms(self.clock())
        to: AttributeUpdates = {
            "locked_until": now + self._lock_ms(),
            "purge_at": self._purge_at(now),
        }
        open_still = greater_than("locked_until", 0)
        change = ConditionalUpdate(guards=(*_is_last(session.fence), open_still), to=to)
        if not isinstance(self.ledger.update(session.host, Record.SESSION, change), Written):
            raise DomainLockLost(f"host is locked by another session: {session.host}")

    def close(self, session: Session) -> None:
        """Release the host and begin its throttle; no effect once another session has the host."""
        if session.fence is None:
            return
        now = to_ms(self.clock())
        to: AttributeUpdates = {
            "locked_until": None,
            "left_at": None,
            "ended_at": now + _ROUNDED_MS,
            "purge_at": now // 1000 + self.options.throttle_ttl_seconds + 1,
        }
        change = ConditionalUpdate(guards=_is_last(session.fence), to=to)
        written = isinstance(self.ledger.update(session.host, Record.SESSION, change), Written)
        event = "lock.release.success" if written else "lock.release.stale"
        level = logging.INFO if written else logging.WARNING
        _log(level, event, session.host, session.session_id, fence=session.fence)

    def leave(self, session: Session) -> None:
        """Keep the host locked without a worker, until the session is opened again.

        This has no effect once another session has the host.
        """
        if session.fence is None:
            return
        now = to_ms(self.clock())
        to: AttributeUpdates = {
            "left_at": now,
            "locked_until": now + self._lock_ms(),
            "purge_at": self._purge_at(now),
        }
        guards = (*_is_last(session.fence), greater_than("locked_until", 0))
        self.ledger.update(session.host, Record.SESSION, ConditionalUpdate(guards=guards, to=to))

    def _has_left(self, seen: SessionState) -> bool:
        """Whether the session that keeps the host locked has left it and won't return."""
        return seen.left_at is not None and self.is_over(str(seen.session_id))

    def _succeed(
        self, host: str, seen: SessionState, session_id: str, token: str, now: int
    ) -> SessionState:
        """Lock the host after a session that left it for good.

        Fence and mark are guards: a session that was opened again meanwhile keeps its lock.
        """
        assert seen.fence is not None  # the row holds a session
        assert seen.left_at is not None  # left_at is set
        guards = (*_is_last(seen.fence), equal("left_at", seen.left_at))
        after = self._try(host, session_id, token, now, guards)
        if after.opened_by == token:
            former = str(seen.session_id)
            _log(logging.INFO, "lock.release.success", host, former, fence=seen.fence)
        return after

    def _entered(
        self, host: str, session_id: str, token: str, now: int, gap: int | None
    ) -> tuple[SessionState, WaitReason | None]:
        """Return the row after the attempt, and why `token` didn't lock it."""
        for _ in range(_RACES):
            seen = self._lock(host, session_id, token, now, gap)
            if seen.opened_by == token:
                return seen, None
            locked = _is_locked(seen, now)
            if locked and not self._has_left(seen):
                return seen, WaitReason.LOCK
            if not locked or now < _ended_at(seen) + (gap or 0):
                return seen, WaitReason.THROTTLE
            seen = self._succeed(host, seen, session_id, token, now)
            if seen.opened_by == token:
                return seen, None
        return seen, WaitReason.LOCK

    def _lock(
        self, host: str, session_id: str, token: str, now: int, gap: int | None
    ) -> SessionState:
        """Return the row after the attempt: locked by `token`, or unchanged."""
        rested = () if gap is None else (absent_or_at_most("ended_at", now - gap),)
        seen = self._try(
            host, session_id, token, now, (absent_or_at_most("locked_until", now), *rested)
        )
        if seen.opened_by == token or seen.session_id != session_id or not _is_locked(seen, now):
            return seen
        left_by_own_worker = (equal("session_id", session_id), greater_than("locked_until", now))
        return self._try(host, session_id, token, now, left_by_own_worker)

    def _try(
        self, host: str, session_id: str, token: str, now: int, guards: tuple[Guard, ...]
    ) -> SessionState:
        """Try one conditional write.

        The fence of a new row starts at the current millisecond, so that it rises even if the row
        was purged in between.
        """
        to: AttributeUpdates = {
            "session_id": session_id,
            "opened_by": token,
            "fence": Increment(1, start=now),
            "locked_until": now + self._lock_ms(),
            "left_at": None,
            "purge_at": self._purge_at(now),
        }
        change = ConditionalUpdate(guards=guards, to=to)
        return SessionState.of(self.ledger.update(host, Record.SESSION, change).row)

    def _after_lock_refusal(
        self, host: str, session_id: str, attempt: int, now: int, seen: SessionState
    ) -> SessionWait:
        if attempt >= limits.SESSION_LOCK_RETRIES:
            _log(logging.ERROR, "lock.acquire.timeout", host, session_id, attempt=attempt)
            details = {"domain": host, "held_by": seen.session_id}
            raise DomainLockTimeout("Domain lock timeout", details=details)
        jitter = limits.SESSION_LOCK_JITTER_SECONDS * self.random()
        seconds = limits.SESSION_LOCK_FIRST_SECONDS * 2**attempt + jitter
        wait_ms = round(1000 * seconds)
        _log(
            logging.INFO,
            "lock.acquire.retry",
            host,
            session_id,
            attempt=attempt + 1,
            wait_ms=wait_ms,
        )
        return SessionWait(
            until=from_ms(now + wait_ms), reason=WaitReason.LOCK, attempt=attempt + 1
        )

    def _gap_ms(self, host: str, session_id: str, mode: str) -> int | None:
        """Return the throttle of the host in ms, or None (logged) if this session skips it."""
        if self.options.disable_locks or self.options.disable_throttle:
            _log(logging.INFO, "throttle.skip", host, session_id, reason="testing")
            return None
        if mode == DEBUG_MODE:
            _log(logging.INFO, "throttle.skip", host, session_id, reason="debug_mode")
            return None
        remembered = 1000 * self.options.throttle_ttl_seconds
        return min(self.options.min_delay_ms, remembered)

    def _lock_ms(self) -> int:
        return 1000 * self.options.lock_ttl_seconds

    def _purge_at(self, now: int) -> int:
        return (now + self._lock_ms()) // 1000 + _KEPT_SECONDS


def _is_last(fence: int) -> tuple[Guard, ...]:
    """Require that the session is still the host's last one; fences are never reused."""
    return (equal("fence", fence),)


def _is_locked(seen: SessionState, now: int) -> bool:
    return seen.locked_until is not None and seen.locked_until > now


def _ended_at(seen: SessionState) -> int:
    """Return when the host was last in use."""
    if seen.left_at is not None:
        return seen.left_at + _ROUNDED_MS
    return seen.ended_at or 0


def _log(level: int, event: str, host: str, session_id: str, **more: object) -> None:
    logger.log(level, event, extra={"session_id": session_id, "domain": host, **more})
