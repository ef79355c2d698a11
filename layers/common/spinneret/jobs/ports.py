"""What the job kernel needs from outside."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from spinneret.jobs.models import (
    Connection,
    DeadLetter,
    Job,
    JobEvent,
    JobFilter,
    JobPage,
    JobRef,
    Lane,
    Lease,
    Reply,
    RequestKey,
    StoredReply,
    Subscriber,
)


@dataclass(frozen=True, kw_only=True)
class Holder:
    """Who holds a duplicate key; `job` is None when its row is gone."""

    job_id: str
    job: Job | None


@dataclass(frozen=True, kw_only=True)
class NewJob:
    """A job row to be written, and the finished holder whose duplicate key it takes over."""

    job: Job
    replaces: Holder | None = None


@dataclass(frozen=True, kw_only=True)
class Claimed:
    """The claim succeeded; the job as it stands now."""

    job: Job
    lease: Lease


@dataclass(frozen=True, kw_only=True)
class Refused:
    """The claim failed; the job as it stands, None when there is no such job."""

    job: Job | None


class SubmissionRaced(Exception):
    """Somebody took a key, or gave one up, between look-up and write; look up again."""


Listener = Callable[[Job, Sequence[JobEvent]], None]
"""Told after every transition that has events: the job as it now stands, and they; never raises."""

DueMark = tuple[datetime, JobRef]
"""A place in the due index: the sweep time of a job."""


@dataclass(frozen=True, kw_only=True)
class DuePage:
    """Jobs whose sweep time has come, oldest first, and where to go on; None when it's the end."""

    refs: tuple[JobRef, ...]
    after: DueMark | None


class JobStore(Protocol):
    """Job rows, their events and their idempotency records.

    All methods raise DependencyUnavailable when the store doesn't answer. Every write is one
    conditional operation: it happens whole or not at all.
    """

    def get(self, ref: JobRef) -> Job | None:
        """Read one job, consistently."""
        ...

    def find_reply(self, key: RequestKey, now: datetime) -> StoredReply | None:
        """The answer given to an earlier request under this key, unless it has expired."""
        ...

    def find_duplicates(self, tenant: str, keys: Sequence[str]) -> dict[str, str]:
        """Duplicate key → id of the job that holds it, for those that are held."""
        ...

    def submit(
        self,
        jobs: Sequence[NewJob],
        events: Sequence[JobEvent],
        request: RequestKey | None,
        reply: Reply,
        now: datetime,
    ) -> None:
        """Write jobs, first events, duplicate keys and the reply in one transaction.

        `events` go with `jobs` one to one. Raises ValidationFailed for a payload that isn't JSON or
        is over JOB_PAYLOAD_BYTES, and SubmissionRaced when a key was taken meanwhile,
        or a holder that is to be replaced began again.
        """
        ...

    def claim(self, ref: JobRef, owner: str, now: datetime, until: datetime) -> Claimed | Refused:
        """Take a pending job that is due: running, fence + 1, locked until `until`.

        A claim whose answer was lost is recognised by its `owner` and counts as claimed.
        """
        ...

    def transition(
        self,
        before: Job,
        after: Job,
        events: Sequence[JobEvent] = (),
        *,
        lease: Lease | None = None,
    ) -> int:
        """Write what changed from `before` to `after`, and the events; answers `watchers`.

        With a lease: if that claim still stands, whatever else of the row `before` doesn't know;
        the end of a claim that is written again because its answer was lost counts as written.
        Without: if the row stands as `before` says (status, fence, owner, end of the lease,
        messages sent, watchers, run that was told, tries to tell it). Raises LeaseLost otherwise.
        """
        ...

    def begin_again(self, before: Job, after: Job, event: JobEvent, holder: str | None) -> None:
        """A transition that takes the job's duplicate key back from the job `holder`.

        Raises SubmissionRaced when the row or the key's holder isn't what the caller saw.
        """
        ...

    def due(self, shard: int, now: datetime, limit: int, after: DueMark | None = None) -> DuePage:
        """Unfinished jobs of a shard whose sweep time has come, oldest first, beyond `after`."""
        ...

    def page(self, tenant: str, wanted: JobFilter, after: str | None, limit: int) -> JobPage:
        """A tenant's jobs, newest first, after the id `after`.

        Reads a bounded number of index rows: a page may hold fewer than `limit` jobs, or none,
        and still name where to go on.
        """
        ...

    def events(self, ref: JobRef, after: str | None, limit: int) -> list[JobEvent]:
        """A job's timeline after the event id `after`, in order."""
        ...


@dataclass(frozen=True, kw_only=True)
class Begun:
    """Nobody began this effect before."""


@dataclass(frozen=True, kw_only=True)
class InDoubt:
    """A claim that no longer stands began it; it may have happened."""


@dataclass(frozen=True, kw_only=True)
class EffectDone:
    """It happened, and this came of it."""

    result: Mapping[str, Any]


class EffectStore(Protocol):
    """Records of side effects, by tenant and key. Raises DependencyUnavailable."""

    def begin(
        self, lease: Lease, key: str, request: str, now: datetime
    ) -> Begun | InDoubt | EffectDone:
        """Say that this claim is about to perform an effect.

        Raises LeaseLost, IdempotencyMismatch for another request under the key, and
        Contended while the claim of another job that began it still stands.
        """
        ...

    def finish(self, lease: Lease, key: str, result: Mapping[str, Any], now: datetime) -> None:
        """Say what came of it. Raises LeaseLost when another claim has taken the effect over."""
        ...


class JobQueue(Protocol):
    """Sends hints that a job is due; their loss or duplication does no harm."""

    def send(self, lane: Lane, refs: Sequence[JobRef], delay_seconds: int = 0) -> None:
        """Raises DependencyUnavailable; delay is 0 to 900 s."""
        ...


class DeadLetterQueues(Protocol):
    """What the lanes gave up. All methods raise DependencyUnavailable."""

    def receive(self, lane: Lane, limit: int) -> list[DeadLetter]:
        """Up to `limit` letters (at most 10), which nobody else sees for a minute."""
        ...

    def send_back(self, lane: Lane, letter: DeadLetter) -> None:
        """To the lane once more, then out of the dead letters: twice at worst, never lost."""
        ...

    def let_rest(self, lane: Lane, letter: DeadLetter) -> None:
        """Nobody sees it for DEAD_LETTER_REST_SECONDS; it stays for whoever looks after it."""
        ...


class ConnectionStore(Protocol):
    """WebSocket connections and what they watch. All methods raise DependencyUnavailable."""

    def open(self, connection: Connection, now: datetime) -> None:
        """Remember a connection without subscriptions."""
        ...

    def find(self, connection_id: str) -> Connection | None:
        """A connection that is open."""
        ...

    def subscribe(self, connection: Connection, ref: JobRef, now: datetime) -> None:
        """Watch a job; twice is once. Raises NotFound, and Conflict when there are too many."""
        ...

    def unsubscribe(self, connection_id: str, ref: JobRef) -> None:
        """Watch it no more; harmless when it wasn't watched."""
        ...

    def close(self, connection_id: str) -> None:
        """End its subscriptions and forget it; harmless when it is unknown.

        It can't subscribe from the first moment on.
        """
        ...

    def opened_with(self, tenant: str, key_id: str, after: str | None, limit: int) -> list[str]:
        """Up to `limit` ids, in order and past `after`, of the connections that a key has open."""
        ...

    def watching(self, ref: JobRef) -> list[Subscriber]:
        """The connections that watch a job; never an outdated state."""
        ...


class Sockets(Protocol):
    """Sends to WebSocket clients. Raises DependencyUnavailable after PUSH_SECONDS at the latest."""

    def post(self, connection_id: str, text: str) -> bool:
        """False when the client is gone."""
        ...

    def end(self, connection_id: str) -> None:
        """Close the connection; harmless when the client is gone."""
        ...
