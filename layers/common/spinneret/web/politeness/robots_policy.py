"""Which robots.txt applies: fresh, stored or missing (ruling "Robots"; RFC 9309, 2.3.1 and 2.4).

Call `decide` without an answer first. On `Fetch`, fetch the file and decide again with the answer.
The caller stores `keep` for the origin.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from http import HTTPStatus
from typing import Final

from spinneret.web import limits
from spinneret.web.politeness.robots import Robots, parse
from spinneret.web.politeness.robots_lines import bounded

_FRESH: Final = timedelta(seconds=limits.ROBOTS_FRESH_SECONDS)
_KEPT: Final = timedelta(seconds=limits.ROBOTS_KEPT_SECONDS)
_PAUSE: Final = timedelta(seconds=limits.ROBOTS_DISALLOW_SECONDS)


class RobotsReason(StrEnum):
    """Why these rules apply, named as in logs."""

    FRESH = "robots.fresh"
    READ = "robots.read"
    UNAVAILABLE = "robots.unavailable"
    """The host has none, or refuses it: any page may be fetched."""
    FALLBACK = "robots.fallback"
    """The host doesn't respond now; an older copy applies."""
    UNREACHABLE = "robots.unreachable"
    """No response and no copy: any page may be fetched. Must be logged (F-03)."""


@dataclass(frozen=True, kw_only=True)
class StoredRobots:
    """Stored state of an origin's robots.txt."""

    check_at: datetime
    """Earliest moment of the next fetch of the file."""
    read_at: datetime | None = None
    """When the content was read; None if there is no content to fall back on."""
    content: bytes = field(default=b"", repr=False)
    """Complete lines, at most ROBOTS_MAX_BYTES; also empty if the host had none."""
    closed: bool = False
    """Whether the host fails, so that no page may be fetched until `check_at`."""


@dataclass(frozen=True, kw_only=True)
class Answered:
    """The host's last response after at most ROBOTS_MAX_REDIRECTS redirects."""

    status_code: int
    content: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, kw_only=True)
class LostInRedirects:
    """Too many redirects, or a redirect to a forbidden URL."""


@dataclass(frozen=True, kw_only=True)
class Unreachable:
    """Name resolution, connection, TLS or protocol failed, or the fetch took too long."""


Answer = Answered | LostInRedirects | Unreachable


@dataclass(frozen=True, kw_only=True)
class Fetch:
    """The file must be fetched first."""


@dataclass(frozen=True, kw_only=True)
class UseRobots:
    """These rules apply."""

    robots: Robots
    reason: RobotsReason
    keep: StoredRobots | None
    """None if the stored state remains valid."""


@dataclass(frozen=True, kw_only=True)
class RobotsWait:
    """The host fails and there is no copy: no page may be fetched before `until`."""

    until: datetime
    keep: StoredRobots | None


Decision = Fetch | UseRobots | RobotsWait


def decide(kept: StoredRobots | None, answer: Answer | None, now: datetime) -> Decision:
    """Decide for an origin, given its stored state and, if it was fetched, the answer."""
    match answer:
        case None:
            return _from_store(kept, now)
        case Answered() if HTTPStatus.OK <= answer.status_code < HTTPStatus.MULTIPLE_CHOICES:
            return _read(answer.content, RobotsReason.READ, now)
        case Answered() if _in_trouble(answer.status_code):
            return _fallback(kept, now) or _closed(now)
        case Answered() | LostInRedirects():
            return _read(b"", RobotsReason.UNAVAILABLE, now)
        case Unreachable():
            return _fallback(kept, now) or _obey(
                StoredRobots(check_at=now + _PAUSE), RobotsReason.UNREACHABLE
            )


def _in_trouble(status: int) -> bool:
    """Whether the host fails. 429 counts:

    Google reads it as a failure, although the RFC allows all.
    """
    return status >= HTTPStatus.INTERNAL_SERVER_ERROR or status == HTTPStatus.TOO_MANY_REQUESTS


def _from_store(kept: StoredRobots | None, now: datetime) -> Decision:
    if kept is None or now >= kept.check_at:
        return Fetch()
    if kept.closed:
        return RobotsWait(until=kept.check_at, keep=None)
    if kept.read_at is None:
        reason = RobotsReason.UNREACHABLE
    else:
        reason = RobotsReason.FRESH if now < kept.read_at + _FRESH else RobotsReason.FALLBACK
    return UseRobots(robots=parse(kept.content), reason=reason, keep=None)


def _read(content: bytes, reason: RobotsReason, now: datetime) -> UseRobots:
    return _obey(StoredRobots(content=bounded(content), read_at=now, check_at=now + _FRESH), reason)


def _fallback(kept: StoredRobots | None, now: datetime) -> UseRobots | None:
    if kept is None or kept.read_at is None or now >= kept.read_at + _KEPT:
        return None
    return _obey(replace(kept, check_at=now + _PAUSE), RobotsReason.FALLBACK)


def _closed(now: datetime) -> RobotsWait:
    until = now + _PAUSE
    return RobotsWait(until=until, keep=StoredRobots(check_at=until, closed=True))


def _obey(kept: StoredRobots, reason: RobotsReason) -> UseRobots:
    return UseRobots(robots=parse(kept.content), reason=reason, keep=kept)
