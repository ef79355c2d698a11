"""The stores of monitoring in memory."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from threading import RLock

from spinneret.kernel import bounds
from spinneret.kernel.errors import Conflict
from spinneret.kernel.paging import Page
from spinneret.monitoring import limits
from spinneret.monitoring.checks import items as check_items
from spinneret.monitoring.checks.models import CheckResult
from spinneret.monitoring.due.models import ListedTarget
from spinneret.monitoring.incidents.models import Incident, IncidentChange, StateChange
from spinneret.monitoring.incidents.reporting import domain_events
from spinneret.monitoring.notices.models import Notice
from spinneret.monitoring.rollups import rules as rollups
from spinneret.monitoring.rollups.models import DayTally, HourTally, Rollup
from spinneret.monitoring.slots.models import SlotLease
from spinneret.monitoring.status_page.models import StatusPage
from spinneret.monitoring.targets import rules
from spinneret.monitoring.targets.models import (
    IdempotencyRecord,
    Target,
    TargetState,
    TargetWithState,
)
from spinneret.monitoring.targets.ports import KeyTaken, TooMany, UrlTaken
from spinneret.monitoring.windows.models import MaintenanceWindow
from spinneret.outbox.models import DomainEvent
from tests.fakes.dependency import FakeDependency
from tests.fakes.tenant_rows import FakeRows

Name = tuple[str, str]
"""Tenant and id of a row."""


class FakeSlotStore(FakeDependency):
    """Implements SlotStore under one lock."""

    def __init__(self) -> None:
        self.lock = RLock()
        self._rows: dict[str, tuple[str | None, int, datetime | None]] = {}

    def take(
        self, name: str, owner: str, now: datetime, until: datetime, over: str | None = None
    ) -> SlotLease | None:
        with self.lock:
            self._require()
            holder, fence, end = self._rows.get(name, (None, 0, None))
            if end is not None and end > now and holder not in {owner, over}:
                return None
            self._rows[name] = owner, fence + 1, until
            return SlotLease(name=name, owner=owner, fence=fence + 1, until=until)

    def holder(self, name: str) -> str | None:
        with self.lock:
            self._require()
            return self._rows.get(name, (None, 0, None))[0]

    def renew(self, slot: SlotLease, until: datetime) -> SlotLease | None:
        with self.lock:
            self._require()
            if not self.holds(slot):
                return None
            self._rows[slot.name] = slot.owner, slot.fence, until
            return replace(slot, until=until)

    def give_back(self, slot: SlotLease) -> None:
        with self.lock:
            self._require()
            if self.holds(slot):
                self._rows[slot.name] = None, slot.fence, None

    def taken(self, names: Sequence[str], now: datetime) -> int:
        """Return how many of these slots are in use."""
        with self.lock:
            self._require()
            ends = [self._rows.get(name, (None, 0, None))[2] for name in names]
            return sum(end is not None and end > now for end in ends)

    def holds(self, slot: SlotLease) -> bool:
        return self._rows.get(slot.name, (None, 0, None))[:2] == (slot.owner, slot.fence)


class FakeWatch(FakeDependency):
    """Implements TargetStore, CheckStore, IncidentStore, RollupStore and DueIndex."""

    def __init__(self, slots: FakeSlotStore | None = None) -> None:
        self.slots = slots or FakeSlotStore()
        self.events: list[DomainEvent] = []
        self.full_reads = 0
        """Number of calls of `all`."""
        self._sent_until: datetime | None = None
        self.rows: dict[Name, TargetWithState] = {}
        self.incidents: defaultdict[Name, dict[str, Incident]] = defaultdict(dict)
        self._keys: dict[Name, IdempotencyRecord] = {}
        self._results: defaultdict[Name, list[CheckResult]] = defaultdict(list)
        self._hours: defaultdict[Name, dict[datetime, Rollup]] = defaultdict(dict)
        self._checks: defaultdict[tuple[str, date], int] = defaultdict(int)

    # ------------------------------------------------------------ TargetStore

    def add(
        self,
        watched: TargetWithState,
        record: IdempotencyRecord | None,
        most: int = limits.TARGETS_PER_TENANT,
    ) -> UrlTaken | KeyTaken | TooMany | None:
        self._require()
        target = watched.target
        if record is not None and (standing := self._standing(record)):
            return KeyTaken(standing)
        others = self._of(target.tenant)
        for each in others:
            if each.target.canonical_url == target.canonical_url:
                return UrlTaken(each.target.id)
        if len(others) >= most:
            return TooMany()
        self.rows[target.tenant, target.id] = watched
        if record is not None:
            self._keys[record.tenant, record.scope] = record
        return None

    def keep_answer(self, record: IdempotencyRecord) -> IdempotencyRecord:
        self._require()
        standing = self._standing(record)
        if standing is None:
            self._keys[record.tenant, record.scope] = record
        return standing or record

    def answer_of(self, tenant: str, scope: str, now: datetime) -> IdempotencyRecord | None:
        self._require()
        found = self._keys.get((tenant, scope))
        return None if found is None or _is_over(found, now) else found

    def get(self, tenant: str, target_id: str) -> TargetWithState | None:
        self._require()
        return self.rows.get((tenant, target_id))

    def called(self, call_hash: str) -> TargetWithState | None:
        self._require()
        found = (each for each in self.rows.values() if each.target.call_hash == call_hash)
        return next(found, None)

    def get_many(self, tenant: str, target_ids: Sequence[str]) -> list[TargetWithState]:
        found = (self.get(tenant, target_id) for target_id in target_ids)
        return [each for each in found if each is not None]

    def page(
        self, tenant: str, host: str | None, after: str | None, limit: int
    ) -> Page[TargetWithState]:
        self._require()
        found = [
            each
            for each in self._of(tenant)
            if (host is None or each.target.host == host)
            and (after is None or rules.position_of_target(each.target) > after)
        ]
        return Page.cut(found, limit, lambda each: rules.position_of_target(each.target))

    def all(self, tenant: str, limit: int) -> list[TargetWithState]:
        self._require()
        self.full_reads += 1
        return self._of(tenant)[:limit]

    def public(self, tenant: str, limit: int) -> list[str]:
        self._require()
        found = [each.target.id for each in self._of(tenant) if each.target.options.public]
        return found[:limit]

    def change(
        self,
        former: TargetWithState,
        target: Target,
        state: TargetState,
        incident: IncidentChange | None = None,
    ) -> bool:
        if not self._replace(former, TargetWithState(target=target, state=state)):
            return False
        if incident is not None:
            self._change_incident((target.tenant, target.id), incident)
        return True

    def remove(self, watched: TargetWithState) -> bool:
        removed = self._replace(watched, None)
        if removed and (open_one := watched.state.incident) is not None:
            name = watched.target.tenant, watched.target.id
            self.incidents[name].pop(open_one.id, None)
        return removed

    # ------------------------------------------------------------ DueIndex

    def due(
        self, shard: int, until: datetime, since: datetime | None = None
    ) -> Iterator[ListedTarget]:
        self._require()
        found = []
        for each in self.rows.values():
            target, due_at = each.target, each.state.due_at
            if due_at is None or rules.due_shard_of(target.id) != shard:
                continue
            seconds = rules.listed_interval(target)
            listed_at = rules.listed_at(due_at, seconds)
            if listed_at <= until and (since is None or listed_at >= since):
                found.append(
                    ListedTarget(
                        tenant=target.tenant,
                        target_id=target.id,
                        host=target.host,
                        listed_at=listed_at,
                        interval_seconds=seconds,
                    )
                )
        return iter(sorted(found, key=lambda each: (each.listed_at, str(each.interval_seconds))))

    def sent_until(self) -> datetime | None:
        self._require()
        return self._sent_until

    def keep_sent(self, until: datetime) -> None:
        self._require()
        self._sent_until = until

    # ------------------------------------------------------------ CheckStore

    def record(self, watched: TargetWithState, result: CheckResult, step: StateChange) -> bool:
        self._require()
        with self.slots.lock:
            if not self._replace(watched, TargetWithState(target=watched.target, state=step.state)):
                return False
            name = watched.target.tenant, watched.target.id
            self._results[name].append(result)
            for closed in step.closed:
                checked = watched.target.tenant, rollups.day_of(closed.hour).date()
                self._checks[checked] += closed.tally.checks
                hours = self._hours[name]
                hours[closed.hour] = hours.get(closed.hour, Rollup()) + closed.tally
            if step.incident is not None:
                self._change_incident(name, step.incident)
            self.events += domain_events(watched.target, step, result.checked_at)
        return True

    def put_off(self, watched: TargetWithState, until: datetime) -> bool:
        self._require()
        with self.slots.lock:
            return self._replace(
                watched, replace(watched, state=replace(watched.state, due_at=until))
            )

    def results(
        self,
        tenant: str,
        target_id: str,
        *,
        since: datetime | None,
        until: datetime | None,
        after: str | None,
        limit: int,
    ) -> Page[CheckResult]:
        self._require()
        found = [
            each
            for each in sorted(self._results[tenant, target_id], key=check_items.position)[::-1]
            if (since is None or each.checked_at >= since)
            and (until is None or each.checked_at <= until)
            and (after is None or check_items.position(each) < after)
        ]
        return Page.cut(found, limit, check_items.position)

    # ------------------------------------------------------------ Incidents and figures

    def incident_page(
        self, tenant: str, target_id: str, after: str | None, limit: int
    ) -> Page[Incident]:
        self._require()
        found = sorted(self.incidents[tenant, target_id].values(), key=_incident_position)[::-1]
        found = [each for each in found if after is None or _incident_position(each) < after]
        return Page.cut(found, limit, _incident_position)

    def _change_incident(self, name: Name, change: IncidentChange) -> None:
        known = self.incidents[name].get(change.id)
        entries = () if change.entry is None else (change.entry,)
        self.incidents[name][change.id] = Incident(
            id=change.id,
            started_at=change.started_at,
            ended_at=change.ended_at,
            status=change.status,
            timeline=(*(known.timeline if known else ()), *entries),
        )

    def hours(self, tenant: str, target_id: str, since: datetime) -> Sequence[HourTally]:
        self._require()
        kept = sorted(self._hours[tenant, target_id].items())
        return [HourTally(hour, tally) for hour, tally in kept if hour >= since]

    def days(self, tenant: str, target_id: str, since: datetime) -> Sequence[DayTally]:
        self._require()
        days: dict[datetime, Rollup] = {}
        for hour, tally in self._hours[tenant, target_id].items():
            day = rollups.day_of(hour)
            days[day] = days.get(day, Rollup()) + tally
        return [DayTally(day, tally) for day, tally in sorted(days.items()) if day >= since]

    # ------------------------------------------------------------

    def checks(self, tenant: str, since: date) -> Mapping[date, int]:
        return {
            day: number
            for (owner, day), number in self._checks.items()
            if owner == tenant and day >= since and number
        }

    def number(self, tenant: str) -> int:
        return len(self._of(tenant))

    def _of(self, tenant: str) -> list[TargetWithState]:
        mine = (each for each in self.rows.values() if each.target.tenant == tenant)
        return sorted(mine, key=lambda each: rules.position_of_target(each.target))

    def _replace(self, former: TargetWithState, new: TargetWithState | None) -> bool:
        with self.slots.lock:
            self._require()
            name = former.target.tenant, former.target.id
            standing = self.rows.get(name)
            if standing is None or standing.state.sequence != former.state.sequence:
                return False
            if new is None:
                del self.rows[name]
            else:
                self.rows[name] = new
            return True

    def _standing(self, record: IdempotencyRecord) -> IdempotencyRecord | None:
        return self.answer_of(record.tenant, record.scope, record.created_at)


class FakeIncidentStore:
    """Implements IncidentStore."""

    def __init__(self, watch: FakeWatch) -> None:
        self._watch = watch

    def page(self, tenant: str, target_id: str, after: str | None, limit: int) -> Page[Incident]:
        return self._watch.incident_page(tenant, target_id, after, limit)


def _is_over(record: IdempotencyRecord, now: datetime) -> bool:
    return record.created_at + timedelta(seconds=bounds.IDEMPOTENCY_SECONDS) <= now


def _incident_position(incident: Incident) -> str:
    return f"{check_items.behind(incident.started_at)[:-1]}#{incident.id}"


class FakeWindowStore(FakeRows[MaintenanceWindow]):
    """Implements WindowStore."""

    def all(self, tenant: str) -> list[MaintenanceWindow]:
        mine = (each for each in self.rows.values() if each.tenant == tenant)
        return sorted(mine, key=lambda each: each.id)


class FakeStatusPageStore:
    """Implements StatusPageStore."""

    def __init__(self) -> None:
        self._rows: dict[Name, StatusPage] = {}

    def get(self, tenant: str) -> StatusPage | None:
        return next((each for each in self.all(tenant) if each.is_main), None)

    def all(self, tenant: str) -> list[StatusPage]:
        mine = (each for each in self._rows.values() if each.tenant == tenant)
        return sorted(mine, key=lambda each: (not each.is_main, each.slug))

    def at(self, slug: str) -> StatusPage | None:
        return next((each for each in self._rows.values() if each.slug == slug), None)

    def put(self, page: StatusPage, former: StatusPage | None) -> bool:
        standing, owner = self._rows.get(_page_name(page)), self.at(page.slug)
        if (standing and standing.version) != (former and former.version):
            return False
        if owner is not None and _page_name(owner) != _page_name(page):
            raise Conflict.of_field("slug", "the slug is taken")
        self._rows[_page_name(page)] = page
        return True

    def remove(self, page: StatusPage) -> bool:
        standing = self._rows.get(_page_name(page))
        if standing is None or standing.version != page.version:
            return False
        del self._rows[_page_name(page)]
        return True


def _page_name(page: StatusPage) -> Name:
    return page.tenant, "" if page.is_main else page.slug


class FakeNoticeStore(FakeRows[Notice]):
    """Implements RowStore."""
