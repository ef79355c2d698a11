"""A tenant's targets: the use cases behind the routes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from spinneret.access.keys.secrets import hash_of
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import Conflict, Contended, IdempotencyMismatch, existing
from spinneret.kernel.ids import NewId
from spinneret.kernel.paging import Page, items_of
from spinneret.kernel.races import changing, until_written
from spinneret.kernel.service import service
from spinneret.monitoring import limits
from spinneret.monitoring.incidents import rules as incidents
from spinneret.monitoring.incidents.models import IncidentChange
from spinneret.monitoring.targets import rules
from spinneret.monitoring.targets.models import (
    IdempotencyRecord,
    Kind,
    Options,
    OwnRequest,
    SealedRequest,
    Status,
    Target,
    TargetState,
    TargetWithState,
)
from spinneret.monitoring.targets.ports import Announce, KeyTaken, TargetStore, TooMany, UrlTaken
from spinneret.monitoring.targets.sealing import RequestSeal
from spinneret.monitoring.targets.subjects import Subject, identity_of
from spinneret.web.fetching.addresses import AddressPolicy

_TOKEN_BYTES: Final = 24
_RACES: Final = 8  # a check's outcome may conflict with the owner's change

Render = Callable[[TargetWithState], str]
"""Function that renders a target as the API's JSON."""


@dataclass(frozen=True, kw_only=True)
class RequestId:
    """An Idempotency-Key in its scope, with the fingerprint of its request's body."""

    scope: str
    payload: str


@dataclass(frozen=True, kw_only=True)
class Created:
    """Response to a creation."""

    status: int
    """201, or 200 if the tenant already has a target with this URL."""
    target_id: str
    body: str
    replayed: bool = False


@service
class TargetService:
    """Manages targets. Unknown ids and ids of other tenants raise the same NotFound.

    All methods raise DependencyUnavailable.
    """

    store: TargetStore
    policy: AddressPolicy
    clock: Clock
    new_id: NewId
    render: Render
    most: int
    """A tenant's maximum number of targets, paused ones included."""
    shortest_interval: int
    """Minimum and default check interval in seconds."""
    rate: float
    """The stage's rate limit of a host, in requests a second."""
    announce: Announce
    seal: RequestSeal
    random: Callable[[int], bytes]

    def create(
        self, tenant: str, subject: Subject, options: Options, request: RequestId | None = None
    ) -> Created:
        """Create a target, or return the tenant's existing one for this subject unchanged.

        A request repeated with its key gets the first response. Raises UrlInvalid, UrlBlocked,
        ValidationFailed, IdempotencyMismatch and Contended. Raises Conflict if the tenant has
        reached its maximum number of targets.
        """
        if request is not None and (
            record := self.store.answer_of(tenant, request.scope, self.clock())
        ):
            return _replay(record, request)
        watched = self._paced(self.draft(tenant, subject, options))

        def added() -> Created | None:
            created = Created(status=201, target_id=watched.target.id, body=self.render(watched))
            record = self._record(tenant, request, created)
            answer = self.store.add(watched, record, self.most)
            if answer is None:
                self.announce(watched)
                return created
            if isinstance(answer, TooMany):
                raise Conflict(self.too_many)
            if isinstance(answer, KeyTaken):
                assert request is not None  # without a key there is no conflict of keys
                return _replay(answer.record, request)
            return self._existing(tenant, answer, request)

        return until_written(added, changing("the target", Contended), _RACES)

    @property
    def too_many(self) -> str:
        """Reason of a refusal at the maximum number of targets."""
        return f"a tenant has at most {self.most} targets"

    def get(self, tenant: str, target_id: str) -> TargetWithState:
        """Return the target. Raises NotFound."""
        return existing(self.store.get(tenant, target_id), "target")

    def page(
        self, tenant: str, host: str | None, status: Status | None, after: str | None, limit: int
    ) -> Page[TargetWithState]:
        """See TargetStore.page.

        With a status at most STATUS_READ_TARGETS are read: a page may be short though more follow.
        """
        if status is None:
            return self.store.page(tenant, host, after, limit)
        read = partial(self.store.page, tenant, host, limit=limits.STATUS_PAGE_TARGETS)
        found: list[TargetWithState] = []
        for number, watched in enumerate(items_of(read, after)):
            if len(found) == limit or number == limits.STATUS_READ_TARGETS:
                return Page(items=tuple(found), after=after)
            if watched.state.status is status:
                found.append(watched)
            after = rules.position_of_target(watched.target)
        return Page(items=tuple(found), after=None)

    def update(self, tenant: str, target_id: str, changes: dict[str, Any]) -> TargetWithState:
        """Change some of the options; an interval of None is the default one.

        Raises NotFound, ValidationFailed and Contended.
        """
        self._require_intervals(changes)

        def changed(target: Target) -> Target:
            given = dict(changes)
            if "interval_seconds" in given and given["interval_seconds"] is None:
                given["interval_seconds"] = rules.interval_of(target.kind, self.shortest_interval)
            return rules.checked(replace(target, options=replace(target.options, **given)))

        return self._change(tenant, target_id, changed)

    def pause(self, tenant: str, target_id: str) -> TargetWithState:
        """Stop checking the target, and end its open incident; idempotent.

        Raises NotFound and Contended.
        """
        return self._change(tenant, target_id, lambda target: replace(target, paused=True))

    def resume(self, tenant: str, target_id: str) -> TargetWithState:
        """Resume checks at the target's next check time. Raises NotFound and Contended."""
        return self._change(tenant, target_id, lambda target: replace(target, paused=False))

    def remove(self, tenant: str, target_id: str) -> None:
        """Remove the target. Raises NotFound and Contended."""
        until_written(
            lambda: self.store.remove(self.get(tenant, target_id)),
            changing("the target", Contended),
            _RACES,
        )

    def draft(self, tenant: str, subject: Subject, options: Options) -> TargetWithState:
        """Return a new target without storing it.

        Raises UrlInvalid, UrlBlocked and ValidationFailed.
        """
        self._require_intervals(vars(options))
        now, target_id = self.clock(), self.new_id("t")
        target = rules.checked(
            Target(
                tenant=tenant,
                id=target_id,
                created_at=now,
                updated_at=now,
                options=options,
                **vars(identity_of(subject, target_id, self.policy)),
            )
        )
        due_at = rules.first_due(target, now)
        return TargetWithState(target=target, state=TargetState(sequence=1, due_at=due_at))

    def sealed(self, tenant: str, request: OwnRequest) -> SealedRequest:
        """Return the owner's part of requests, sealed. Raises ValidationFailed."""
        return self.seal.close(tenant, request)

    def issue_call(self, tenant: str, target_id: str) -> str:
        """Return a new secret token for the calls of a heartbeat; a former one ends.

        Only its hash is stored. Raises NotFound, Contended, and Conflict for another kind.
        """
        token = self.random(_TOKEN_BYTES).hex()

        def changed(target: Target) -> Target:
            if target.kind is not Kind.HEARTBEAT:
                raise Conflict("only targets of kind heartbeat are called")
            return replace(target, call_hash=hash_of(token))

        self._change(tenant, target_id, changed)
        return token

    def _require_intervals(self, options: Mapping[str, Any]) -> None:
        for name in ("interval_seconds", "retry_seconds"):
            if (seconds := options.get(name)) is not None:
                rules.require_interval(seconds, self.shortest_interval, name)

    def _paced(self, watched: TargetWithState) -> TargetWithState:
        """Return the target with the interval that its host's rate limit leaves it."""
        target = watched.target
        page = self.store.page(target.tenant, target.host, None, limits.PACED_READ_TARGETS)
        others = [each for each in page.items if each.target.id != target.id]
        paced = rules.paced_seconds(target.options, others, self.rate)
        return replace(watched, state=replace(watched.state, paced_seconds=paced))

    def _existing(self, tenant: str, taken: UrlTaken, request: RequestId | None) -> Created | None:
        """Return the response for an existing target; None if it was removed meanwhile."""
        watched = self.store.get(tenant, taken.target_id)
        if watched is None:
            return None
        created = Created(status=200, target_id=taken.target_id, body=self.render(watched))
        record = self._record(tenant, request, created)
        if record is None or request is None:
            return created
        standing = self.store.keep_answer(record)
        return created if standing == record else _replay(standing, request)

    def _record(
        self, tenant: str, request: RequestId | None, created: Created
    ) -> IdempotencyRecord | None:
        if request is None:
            return None
        return IdempotencyRecord(
            tenant=tenant,
            scope=request.scope,
            payload=request.payload,
            status=created.status,
            target_id=created.target_id,
            body=created.body,
            created_at=self.clock(),
        )

    def _change(
        self, tenant: str, target_id: str, changed: Callable[[Target], Target]
    ) -> TargetWithState:
        def stored() -> TargetWithState | None:
            former = self.get(tenant, target_id)
            now = self.clock()
            target = changed(former.target)
            if target == former.target:
                return former
            target = replace(target, updated_at=now, version=former.target.version + 1)
            state, ended = self._rescheduled(former, target)
            changed_too = self._paced(TargetWithState(target=target, state=state))
            if not self.store.change(former, target, changed_too.state, ended):
                return None
            if state.due_at != former.state.due_at:
                self.announce(changed_too)
            return changed_too

        return until_written(stored, changing("the target", Contended), _RACES)

    def _rescheduled(
        self, former: TargetWithState, target: Target
    ) -> tuple[TargetState, IncidentChange | None]:
        now, state = self.clock(), former.state
        state = replace(state, sequence=state.sequence + 1)
        if rules.is_another_request(target.options, former.target.options):
            state = replace(state, body_sha256=None)
        if target.paused:
            state, ended = incidents.pause(state, now)
            idle = replace(state, due_at=None, reservation=None, skips=0, skips_reported=False)
            return idle, ended
        same = rules.has_same_times(target.options, former.target.options)
        if state.due_at is not None and same:
            return state, None
        return replace(state, due_at=rules.first_due(target, now)), None


def _replay(record: IdempotencyRecord, request: RequestId) -> Created:
    if record.payload != request.payload:
        raise IdempotencyMismatch("the Idempotency-Key was used with another body")
    return Created(
        status=record.status, target_id=record.target_id, body=record.body, replayed=True
    )
