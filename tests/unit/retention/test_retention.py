"""The clean-up deletes expired objects and no others, despite failures and crashes (A-04)."""

#

import json
import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from spinneret.audits.models import Artifact, ArtifactType, RunRef
from spinneret.aws.stage import Builder, Stage
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.kernel.settings import SettingsError
from spinneret.retention import __main__ as command
from spinneret.retention.models import CleanupResult, Expired
from spinneret.retention.rules import next_try
from spinneret.retention.service import RetentionCleanup
from spinneret.retention.wiring import BATCH_SIZE, DRY_RUN, cleanup, cleanup_pass
from tests.fakes.audits import FakeAuditObjectStore, FakeAuditStore
from tests.fakes.crashes import Crash, CrashPlan
from tests.fakes.jobs import FakeJobStore
from tests.fakes.time import START, HandClock

DAY = timedelta(days=1)
Wrap = Callable[[str, Any], Any]


class Kept:
    """Twelve pages whose retention ends a day apart, and a report without an end."""

    def __init__(self) -> None:
        self.clock = HandClock()
        self.rows = FakeAuditStore(FakeJobStore())
        self.objects = FakeAuditObjectStore()
        for number in range(12):
            self.add(f"page-{number:02}", START + number * DAY)
        self.add("report", None)

    def add(self, key: str, until: datetime | None) -> None:
        artifact = Artifact(
            ref=RunRef(tenant="acme", audit_id="job_1", run=1),
            type=ArtifactType.HTML_GZ if until else ArtifactType.REPORT_HTML,
            storage_uri=key,
            created_at=START - 14 * DAY,
            retention_until=until,
        )
        self.rows.rows["acme", "job_1", artifact.id] = artifact
        self.objects.put(key, b"body", "application/gzip")

    def clean(
        self, batch: int = 100, *, dry_run: bool = False, wrap: Wrap = lambda _, port: port
    ) -> CleanupResult:
        return RetentionCleanup(
            rows=wrap("rows", self.rows),
            objects=wrap("objects", self.objects),
            clock=self.clock,
            batch_size=batch,
            dry_run=dry_run,
        ).run()

    @property
    def left(self) -> list[str]:
        """Keys of the stored objects."""
        return sorted(self.objects.objects)

    @property
    def marked(self) -> list[str]:
        """Keys of the objects whose rows record their deletion."""
        rows = self.rows.rows.values()
        return sorted(each.storage_uri for each in rows if each.deleted_at is not None)

    def expired(self) -> list[str]:
        """Return the keys of the objects that have expired."""
        rows = self.rows.rows.values()
        return sorted(
            each.storage_uri
            for each in rows
            if each.retention_until is not None and each.retention_until < self.clock()
        )


@pytest.fixture
def kept() -> Kept:
    kept = Kept()
    kept.clock.now = START + 5 * DAY  # five have expired; the one that ends now hasn't
    return kept


def test_what_is_over_goes_and_is_marked_and_nothing_else(kept: Kept) -> None:
    assert kept.clean() == CleanupResult(found=5, deleted=5)
    assert kept.marked == [f"page-{number:02}" for number in range(5)]
    assert kept.left == [*(f"page-{number:02}" for number in range(5, 12)), "report"]
    assert kept.clean() == CleanupResult()


def test_a_batch_takes_the_oldest(kept: Kept) -> None:
    assert kept.clean(2) == CleanupResult(found=2, deleted=2)
    assert kept.marked == ["page-00", "page-01"]
    assert kept.clean(2).deleted == 2
    assert kept.clean(2).deleted == 1


def test_a_dry_run_lists_exactly_what_the_real_run_deletes(
    kept: Kept, caplog: pytest.LogCaptureFixture
) -> None:
    before = kept.left

    def named(event: str) -> list[str]:
        found = (each for each in caplog.records if each.getMessage() == event)
        return [each.storage_uri for each in found]  # type: ignore[attr-defined]  # extra

    with caplog.at_level(logging.INFO):
        assert kept.clean(3, dry_run=True) == CleanupResult(dry_run=True, found=3)
        assert (kept.left, kept.marked) == (before, [])
        kept.clean(3)
    assert named("retention.would_delete") == named("retention.deleted") == kept.marked


def test_an_object_that_is_refused_stays_and_stops_no_other(
    kept: Kept, caplog: pytest.LogCaptureFixture
) -> None:
    kept.objects.refused = {"page-01": "AccessDenied"}
    assert kept.clean() == CleanupResult(found=5, deleted=4, failed=1)
    assert "page-01" in kept.left
    assert "page-01" not in kept.marked
    [failed] = [each for each in caplog.records if each.getMessage() == "retention.failed"]
    assert failed.reason == "AccessDenied"  # type: ignore[attr-defined]  # extra
    kept.objects.refused = {}
    assert kept.clean() == CleanupResult()  # the next try isn't due yet
    kept.clock.advance(3601)
    assert kept.clean() == CleanupResult(found=2, deleted=2)
    assert kept.marked == [f"page-{number:02}" for number in range(6)]


def test_what_is_refused_again_and_again_is_tried_ever_less_often() -> None:
    waits = [next_try(refusals, START) - START for refusals in (1, 2, 3, 5, 6, 7, 1000)]
    assert [wait / timedelta(hours=1) for wait in waits] == [1, 2, 4, 16, 24, 24, 24]


def test_a_bucket_that_does_not_answer_is_no_refusal(kept: Kept) -> None:
    kept.objects.available = False
    kept.clean()
    assert kept.rows.refused == {}


def test_a_dry_run_leaves_what_was_refused_to_its_next_try(kept: Kept) -> None:
    kept.objects.refused = {"page-00": "AccessDenied"}
    kept.clean(1)
    assert kept.clean(1, dry_run=True).found == kept.clean(1).deleted == 1
    assert kept.marked == ["page-01"]


LOCKED = [f"locked-{number:03}" for number in range(500)]
YOUNG = [f"young-{number}" for number in range(10)]


def locked_before_young() -> Kept:
    """Return five hundred objects that can't be deleted, all older than ten that can."""
    kept = Kept()
    kept.rows.rows.clear()
    kept.objects.objects.clear()
    for number, key in enumerate(LOCKED):
        kept.add(key, START + timedelta(seconds=number))
    for number, key in enumerate(YOUNG):
        kept.add(key, START + timedelta(seconds=1000 + number))
    kept.objects.refused = dict.fromkeys(LOCKED, "AccessDenied")
    kept.clock.now = START + DAY
    return kept


def test_five_hundred_that_can_not_be_deleted_do_not_keep_ten_younger_ones() -> None:
    kept = locked_before_young()
    for _ in range(6):  # a pass per hour, a hundred objects per pass
        kept.clean()
        kept.clock.advance(3600)
    assert kept.marked == YOUNG
    assert kept.left == LOCKED
    kept.objects.refused = {}
    for _ in range(24 + 6):
        kept.clean()
        kept.clock.advance(3600)
    assert kept.left == []
    assert kept.marked == [*LOCKED, *YOUNG]


@pytest.mark.heavy
def test_passes_that_die_among_what_can_not_be_deleted_keep_nothing_younger_for_ever() -> None:
    plan = CrashPlan()
    locked_before_young().clean(batch=5, wrap=plan.wrap)
    points = plan.points()
    assert len(points) == 2 * (1 + 1 + 5)
    for at, moment in points:
        kept = locked_before_young()
        with pytest.raises(Crash):
            kept.clean(batch=5, wrap=CrashPlan(at, moment).wrap)
        for _ in range(6):
            kept.clean()
        assert kept.marked == YOUNG, f"{moment} call {at}"
        assert kept.left == LOCKED, f"{moment} call {at}"


def test_a_mark_that_fails_stops_no_other_and_comes_with_the_next_pass(kept: Kept) -> None:
    class Failing:
        def __getattr__(self, name: str) -> Any:
            return getattr(kept.rows, name)

        def mark_deleted(self, expired: Expired, now: datetime) -> bool:
            if expired.storage_uri == "page-02":
                raise DependencyUnavailable("dynamodb")
            return kept.rows.mark_deleted(expired, now)

    done = kept.clean(wrap=lambda name, port: Failing() if name == "rows" else port)
    assert done == CleanupResult(found=5, deleted=4, failed=1)
    assert kept.clean() == CleanupResult(found=1, deleted=1)


def test_a_bucket_that_does_not_answer_leaves_everything_for_the_next_pass(kept: Kept) -> None:
    kept.objects.available = False
    assert kept.clean() == CleanupResult(found=5, failed=5)
    assert kept.marked == []
    kept.objects.available = True
    assert kept.clean().deleted == 5


def test_a_pass_that_dies_at_any_call_loses_nothing_unexpired_and_leaves_nothing_expired() -> None:
    def prepared() -> Kept:
        kept = Kept()
        kept.clock.now = START + 5 * DAY
        return kept

    plan = CrashPlan()
    prepared().clean(wrap=plan.wrap)
    points = plan.points()
    assert len(points) == 2 * (1 + 1 + 5)
    for at, moment in points:
        kept = prepared()
        with pytest.raises(Crash):
            kept.clean(wrap=CrashPlan(at, moment).wrap)
        where = f"{moment} call {at}"
        assert set(kept.left) >= {*(f"page-{n:02}" for n in range(5, 12)), "report"}, where
        for key in kept.marked:
            assert key not in kept.left, where
        kept.clean()
        assert kept.marked == kept.expired(), where
        assert not set(kept.expired()) & set(kept.left), where


def test_a_page_that_is_kept_anew_meanwhile_is_not_marked(kept: Kept) -> None:
    class Slow:
        """An object store; while it deletes objects, a later run stores one of them again."""

        def __getattr__(self, name: str) -> Any:
            return getattr(kept.objects, name)

        def delete(self, keys: list[str]) -> Any:
            answer = kept.objects.delete(keys)
            kept.add("page-03", START + 30 * DAY)
            return answer

    kept.clean(wrap=lambda name, port: Slow() if name == "objects" else port)
    assert "page-03" in kept.left
    assert "page-03" not in kept.marked


# ---------------------------------------------------------------- The rule and the command

ENV = {"AUDITS_TABLE": "t", "AUDITS_BUCKET": "b"}


def test_the_rule_does_nothing_unless_it_is_enabled() -> None:
    assert cleanup_pass.of(ENV)() == CleanupResult(enabled=False)


@pytest.mark.parametrize("size", ["0", "1001", "-1"])
def test_a_batch_that_can_not_be_is_refused(size: str) -> None:
    with pytest.raises(SettingsError):
        cleanup.of({**ENV, "RETENTION_CLEANUP_BATCH_SIZE": size})


def test_the_command_ignores_the_flag_and_reports_each_object(
    kept: Kept, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in ENV.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("RETENTION_CLEANUP_DRY_RUN", "true")

    def on_fakes(stage: Stage) -> RetentionCleanup:
        assert stage[DRY_RUN]
        return RetentionCleanup(
            rows=kept.rows,
            objects=kept.objects,
            clock=kept.clock,
            batch_size=stage[BATCH_SIZE],
            dry_run=stage[DRY_RUN],
        )

    assert command.main(Builder(on_fakes, cleanup.reads)) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [each["event"] for each in lines[:-1]] == ["retention.would_delete"] * 5
    assert lines[-1] == {"enabled": True, "dry_run": True, "found": 5, "deleted": 0, "failed": 0}
