"""Tags while other requests create, rename or remove the same tags."""

from collections.abc import Callable
from dataclasses import replace
from itertools import count

import pytest

from spinneret.content.tags.models import Tag
from spinneret.content.tags.service import TagService
from spinneret.kernel.errors import Conflict
from spinneret.kernel.paging import Page
from tests.fakes.named import FakeNamedStore
from tests.fakes.time import HandClock

ACME = "acme"
ALWAYS = 1_000


class ContestedStore(FakeNamedStore[Tag]):
    """A store in which another request, `rival`, runs before each of the next `rounds` writes."""

    def __init__(self) -> None:
        super().__init__(lambda rows, after: Page(items=rows, after=after))
        self.rounds = 0
        self.rival: Callable[[], None] = lambda: None

    def add(self, row: Tag) -> None:
        self._contest()
        super().add(row)

    def replace(self, former: Tag, row: Tag) -> bool:
        self._contest()
        return super().replace(former, row)

    def remove(self, row: Tag) -> bool:
        self._contest()
        return super().remove(row)

    def touch(self, tag: Tag) -> None:
        """Store a new version of the tag, as another request's change does."""
        current = self.get(tag.tenant, tag.id)
        assert current is not None
        super().replace(current, replace(current, version=current.version + 1))

    def _contest(self) -> None:
        if self.rounds:
            self.rounds -= 1
            self.rival()


@pytest.fixture
def store() -> ContestedStore:
    return ContestedStore()


@pytest.fixture
def service(store: ContestedStore) -> TagService:
    numbers = count(1)
    return TagService(
        store=store, clock=HandClock(), new_id=lambda prefix: f"{prefix}_{next(numbers):04}"
    )


def test_a_tag_that_another_request_creates_first_is_used(
    store: ContestedStore, service: TagService
) -> None:
    theirs = Tag(tenant=ACME, id="tag_theirs", name="silk", created_at=HandClock()())
    store.rounds, store.rival = 1, lambda: FakeNamedStore.add(store, theirs)
    assert service.named(ACME, ["silk", "webs", "silk"])[0] == theirs
    assert [tag.name for tag in service.page(ACME, None, 10).items] == ["silk", "webs"]


def test_a_name_that_appears_and_disappears_is_refused_in_the_end(
    store: ContestedStore, service: TagService
) -> None:
    def appear_and_disappear() -> None:
        raise Conflict("another row has this name")

    store.rounds, store.rival = ALWAYS, appear_and_disappear
    with pytest.raises(Conflict, match="being changed by others"):
        service.named(ACME, ["silk"])


def test_a_changed_tag_is_renamed_and_removed_from_its_new_version(
    store: ContestedStore, service: TagService
) -> None:
    tag = service.create(ACME, "silk")
    store.rounds, store.rival = 1, lambda: store.touch(tag)
    renamed = service.rename(ACME, tag.id, "webs")
    assert (renamed.name, renamed.version) == ("webs", tag.version + 2)
    store.rounds = 1
    service.remove(ACME, tag.id)
    assert service.many(ACME, [tag.id]) == {}


def test_a_tag_that_changes_each_time_is_refused(
    store: ContestedStore, service: TagService
) -> None:
    tag = service.create(ACME, "silk")
    store.rounds, store.rival = ALWAYS, lambda: store.touch(tag)
    with pytest.raises(Conflict, match="being changed by others"):
        service.rename(ACME, tag.id, "webs")
    with pytest.raises(Conflict, match="being changed by others"):
        service.remove(ACME, tag.id)
    assert service.get(ACME, tag.id).name == "silk"
