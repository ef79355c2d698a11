"""An export writes files of limited size, and a repeated command continues it (T-07)."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from pydantic import BaseModel

from spinneret.access.tenants.service import TenantService
from spinneret.kernel.errors import NotFound, ValidationFailed
from spinneret.kernel.paging import Page
from spinneret.operations.tenants import limits
from spinneret.operations.tenants.exporting import TenantExport
from spinneret.operations.tenants.models import Answer, CommandProgress, Export
from tests.fakes.crashes import Crash, CrashPlan
from tests.fakes.keys import FakeKeyStore
from tests.fakes.people import FakeUserStore
from tests.fakes.tenants import FakeHolds, FakeTenantStore
from tests.fakes.time import HandClock

PAGE = 100


class Line(BaseModel):
    """A line of an export."""

    number: int
    text: str = ""


@dataclass
class FakeArea:
    """Implements Area with numbered lines, 100 per page."""

    name: str
    count: int
    text: str = ""

    def page(self, tenant: str, after: str | None) -> Page[BaseModel]:
        assert tenant == "acme"
        start = int(after or 0)
        end = min(start + PAGE, self.count)
        lines = tuple(Line(number=number, text=self.text) for number in range(start, end))
        return Page(items=lines, after=str(end) if end < self.count else None)


@dataclass
class FakeFiles:
    """Implements ExportFiles."""

    files: dict[str, list[str]] = field(default_factory=dict)
    states: dict[str, Export] = field(default_factory=dict)

    def state(self, tenant: str, export_id: str) -> Export:
        return self.states.get(f"{tenant}/{export_id}", Export())

    def write(self, tenant: str, export_id: str, name: str, lines: Sequence[str]) -> str:
        key = f"{tenant}/{export_id}/{name}"
        self.files[key] = list(lines)
        return key

    def keep(self, tenant: str, export_id: str, state: Export) -> None:
        self.states[f"{tenant}/{export_id}"] = state

    def address(self, tenant: str, export_id: str) -> str:
        return f"s3://bucket/{tenant}/{export_id}/"


@dataclass
class World:
    """An export of three areas."""

    files: FakeFiles = field(default_factory=FakeFiles)
    areas: Sequence[FakeArea] = (
        FakeArea("documents", 250, "x" * 1000),
        FakeArea("products", 0),
        FakeArea("jobs", 2350),
    )

    def run(
        self,
        export_id: str | None = "export_1",
        plan: CrashPlan | None = None,
        seconds: float = 60.0,
        tenant: str = "acme",
    ) -> Answer:
        plan, clock = plan or CrashPlan(), HandClock()
        store = FakeTenantStore(FakeKeyStore(), FakeUserStore())
        tenants = TenantService(tenants=store, holds=FakeHolds(), clock=clock)
        tenants.create("acme")
        files = plan.wrap("files", self.files)
        files.address = self.files.address
        export = TenantExport(
            tenants=tenants,
            areas=self.areas,
            files=files,
            new_id=lambda prefix: f"{prefix}_1",
        )
        return export.run(tenant, export_id, lambda: seconds)

    @property
    def numbers(self) -> dict[str, list[int]]:
        """Numbers of the lines by area, in the order of the file names."""
        found: dict[str, list[int]] = {}
        for key, lines in sorted(self.files.files.items()):
            area = key.rpartition("/")[2].partition("-")[0]
            numbers = [Line.model_validate_json(line).number for line in lines]
            found.setdefault(area, []).extend(numbers)
        return found


ALL = {"documents": list(range(250)), "jobs": list(range(2350))}


def test_an_export_has_every_line_once_in_bounded_files() -> None:
    world = World()
    answer = world.run(export_id=None)
    assert answer.progress is CommandProgress.DONE
    assert answer.report == {
        "export_id": "export_1",
        "address": "s3://bucket/acme/export_1/",
        "lines": {"documents": 250, "products": 0, "jobs": 2350},
    }
    assert world.numbers == ALL
    sizes = [len(lines) for lines in world.files.files.values()]
    assert max(sizes) == limits.EXPORT_LINES_PER_FILE
    assert len(sizes) == 4


def test_a_file_ends_when_it_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "EXPORT_BYTES_PER_FILE", 150_000)
    world = World()
    world.run()
    assert world.numbers == ALL
    assert [len(lines) for key, lines in world.files.files.items() if "doc" in key] == [200, 50]


# covers T-07
@pytest.mark.heavy
def test_an_export_that_is_killed_at_any_call_is_finished_by_the_next_one() -> None:
    whole = CrashPlan()
    World().run(plan=whole)
    assert len(whole.calls) == 10
    for at, moment in whole.points():
        world = World()
        with pytest.raises(Crash):
            world.run(plan=CrashPlan(at, moment))
        assert world.run().report["lines"] == {"documents": 250, "products": 0, "jobs": 2350}
        assert world.numbers == ALL, (at, moment)


def test_a_call_without_time_writes_nothing_and_can_be_repeated() -> None:
    world = World()
    assert world.run(seconds=0.0).progress is CommandProgress.WORKING
    assert world.files.files == {}
    assert world.run().progress is CommandProgress.DONE


def test_only_a_known_tenant_is_exported_under_an_id() -> None:
    with pytest.raises(NotFound):
        World().run(tenant="nobody")
    with pytest.raises(ValidationFailed):
        World().run(export_id="../../other/export_1")
