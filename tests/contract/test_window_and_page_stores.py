"""What the stores of maintenance windows and of status pages guarantee."""

from dataclasses import replace
from datetime import datetime

import pytest

from spinneret.kernel.errors import Conflict
from spinneret.monitoring.status_page.dynamo import DynamoStatusPageStore
from spinneret.monitoring.status_page.models import StatusPage
from spinneret.monitoring.status_page.ports import StatusPageStore
from spinneret.monitoring.windows.dynamo import DynamoWindowStore
from spinneret.monitoring.windows.models import MaintenanceWindow
from spinneret.monitoring.windows.ports import WindowStore
from tests.contract.backends import OF_AWS, Tables
from tests.fakes.monitoring import FakeStatusPageStore, FakeWindowStore
from tests.fakes.time import START

pytestmark = OF_AWS


@pytest.fixture
def windows(tables: Tables | None) -> WindowStore:
    if tables is None:
        return FakeWindowStore()
    return DynamoWindowStore(tables.client, tables.names["Targets"])


@pytest.fixture
def pages(tables: Tables | None) -> StatusPageStore:
    if tables is None:
        return FakeStatusPageStore()
    return DynamoStatusPageStore(tables.client, tables.names["Targets"])


def window(tenant: str, window_id: str = "mw_1") -> MaintenanceWindow:
    return MaintenanceWindow(
        tenant=tenant,
        id=window_id,
        name="Ümbau",
        starts_at=datetime.fromisoformat("2026-01-04T02:30"),
        duration_minutes=90,
        timezone="Europe/Berlin",
        recurrence="FREQ=DAILY",
        target_ids=("t_1", "t_2"),
        created_at=START,
        updated_at=START,
    )


def test_windows_are_read_as_written_and_listed_by_id(windows: WindowStore, tenant: str) -> None:
    second, first = window(tenant, "mw_2"), window(tenant, "mw_1")
    assert windows.put(second, None)
    assert windows.put(first, None)
    assert windows.get(tenant, "mw_1") == first
    assert windows.all(tenant) == [first, second]
    assert windows.all(f"{tenant}x") == []
    assert windows.get(f"{tenant}x", "mw_1") is None
    assert windows.get(tenant, "no id!") is None


def test_a_window_that_changed_meanwhile_stays(windows: WindowStore, tenant: str) -> None:
    first = window(tenant)
    assert windows.put(first, None)
    assert not windows.put(first, None)
    changed = replace(first, name="x", version=2)
    assert windows.put(changed, first)
    assert not windows.put(changed, first)
    assert not windows.remove(first)
    assert windows.remove(changed)
    assert not windows.put(replace(changed, version=3), changed)
    assert windows.all(tenant) == []


def page(tenant: str, slug: str, version: int = 1) -> StatusPage:
    return StatusPage(tenant=tenant, slug=slug, title="Sïlk", updated_at=START, version=version)


def test_a_page_is_found_by_tenant_and_by_slug(pages: StatusPageStore, tenant: str) -> None:
    first, moved = page(tenant, f"{tenant}-a"), page(tenant, f"{tenant}-b", 2)
    assert pages.put(first, None)
    assert pages.get(tenant) == pages.at(f"{tenant}-a") == first
    assert not pages.put(first, None)
    assert pages.put(moved, first)
    assert pages.at(f"{tenant}-a") is None
    assert pages.at(f"{tenant}-b") == moved
    retitled = replace(moved, title="x", version=3)
    assert pages.put(retitled, moved)
    assert not pages.remove(moved)
    assert pages.remove(retitled)
    assert pages.get(tenant) is None
    assert pages.at(f"{tenant}-b") is None


def test_a_slug_is_one_tenants(pages: StatusPageStore, tenant: str) -> None:
    other = f"{tenant}x"
    assert pages.put(page(tenant, f"{tenant}-a"), None)
    with pytest.raises(Conflict):
        pages.put(page(other, f"{tenant}-a"), None)
    assert pages.get(other) is None
    assert pages.put(page(other, f"{tenant}-b"), None)
    with pytest.raises(Conflict):
        pages.put(page(other, f"{tenant}-a", 2), page(other, f"{tenant}-b"))
    assert pages.at(f"{tenant}-b") == page(other, f"{tenant}-b")
    assert pages.remove(page(tenant, f"{tenant}-a"))
    assert pages.put(page(other, f"{tenant}-a", 2), page(other, f"{tenant}-b"))
