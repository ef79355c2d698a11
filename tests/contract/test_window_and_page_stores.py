"""Contract tests of the stores of maintenance windows, status pages and notices."""

from dataclasses import replace
from datetime import datetime

import pytest

from spinneret.kernel.errors import Conflict
from spinneret.kernel.rows import RowStore
from spinneret.monitoring.notices.dynamo import DynamoNoticeStore
from spinneret.monitoring.notices.models import (
    Notice,
    NoticeKind,
    NoticeStatus,
    NoticeUpdate,
)
from spinneret.monitoring.status_page.dynamo import DynamoStatusPageStore
from spinneret.monitoring.status_page.models import StatusGroup, StatusPage
from spinneret.monitoring.status_page.ports import StatusPageStore
from spinneret.monitoring.windows.dynamo import DynamoWindowStore
from spinneret.monitoring.windows.models import MaintenanceWindow
from spinneret.monitoring.windows.ports import WindowStore
from tests.contract.backends import OF_AWS, Tables
from tests.fakes.monitoring import FakeNoticeStore, FakeStatusPageStore, FakeWindowStore
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
    windows.add(second)
    windows.add(first)
    assert windows.get(tenant, "mw_1") == first
    assert windows.all(tenant) == [first, second]
    assert windows.all(f"{tenant}x") == []
    assert windows.get(f"{tenant}x", "mw_1") is None
    assert windows.get(tenant, "no id!") is None


def test_a_window_that_changed_meanwhile_stays(windows: WindowStore, tenant: str) -> None:
    first = window(tenant)
    windows.add(first)
    changed = replace(first, name="x", version=2)
    assert windows.replace(first, changed)
    assert not windows.replace(first, changed)
    assert not windows.remove(first)
    assert windows.remove(changed)
    assert not windows.replace(changed, replace(changed, version=3))
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


def test_a_tenants_pages_are_listed_the_main_one_first(pages: StatusPageStore, tenant: str) -> None:
    main, second, first = (page(tenant, f"{tenant}-{each}") for each in "zba")
    first = replace(first, is_main=False, groups=(StatusGroup(name="Ä", target_ids=("t_1",)),))
    second = replace(second, is_main=False)
    for each in (second, main, first):
        assert pages.put(each, None)
    assert not pages.put(first, None)
    assert pages.all(tenant) == [main, first, second]
    assert pages.at(first.slug) == first
    with pytest.raises(Conflict):
        pages.put(replace(main, slug=first.slug, version=2), main)
    changed = replace(first, groups=(), version=2)
    assert pages.put(changed, first)
    assert not pages.remove(first)
    assert pages.remove(changed)
    assert pages.at(first.slug) is None
    assert pages.all(tenant) == [main, second]


@pytest.fixture
def notices(tables: Tables | None) -> RowStore[Notice]:
    if tables is None:
        return FakeNoticeStore()
    return DynamoNoticeStore(tables.client, tables.names["Targets"])


def test_notices_are_read_as_written_and_listed_newest_first(
    notices: RowStore[Notice], tenant: str
) -> None:
    update = NoticeUpdate(at=START, status=NoticeStatus.SCHEDULED, text="Ä")
    first = Notice(
        tenant=tenant,
        id="nt_1",
        kind=NoticeKind.MAINTENANCE,
        title="Ümbau",
        slugs=("a", "b"),
        starts_at=START,
        ends_at=START,
        updates=(update, update),
    )
    made = [first, *(replace(first, id=f"nt_{number}", slugs=()) for number in (2, 3))]
    for each in made:
        notices.add(each)
    assert notices.get(tenant, "nt_1") == first
    page = notices.page(tenant, None, 2)
    assert [each.id for each in page.items] == ["nt_3", "nt_2"]
    assert notices.page(tenant, page.after, 2).items == (first,)
    changed = replace(first, title="x", version=2)
    assert notices.replace(first, changed)
    assert not notices.replace(first, changed)
    assert not notices.remove(first)
    assert notices.remove(changed)
    assert notices.get(tenant, "nt_1") is None
    assert notices.get(tenant, "no id!") is None
