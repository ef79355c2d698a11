"""Indexing of a page during races with other jobs, during outages, and after lost leases."""

from typing import Any

import pytest

from spinneret.content.documents.models import Document
from spinneret.content.documents.ports import VersionRaced
from spinneret.content.extraction.models import Content
from spinneret.jobs import rules
from spinneret.kernel.errors import DependencyUnavailable, LeaseLost
from tests import factories
from tests.factories import TENANT
from tests.fakes.documents import FakeDocumentStore
from tests.unit.content.documents.indexer_world import IndexerWorld


class RacedDocuments(FakeDocumentStore):
    """Document store in which other jobs commit versions of the same page just before a commit."""

    def __init__(self, world: IndexerWorld, contents: list[Content]) -> None:
        super().__init__(world.jobs)
        self._bench = world
        self._others = contents

    def commit(self, document: Document, *given: Any) -> None:
        if self._others:
            content = self._others.pop(0)
            mine, self._others = self._others, []
            self._bench.index(content)
            self._others = mine
        super().commit(document, *given)


def test_a_lost_race_starts_again_from_the_winner(world: IndexerWorld) -> None:
    world.documents = RacedDocuments(world, [factories.content("Silk of worms.")])
    indexed = world.index(factories.content("Silk of spiders."))
    assert indexed.document.sequence == 2
    assert world.shown() == ["Silk of spiders."]


def test_a_race_between_equal_contents_ends_as_unchanged(world: IndexerWorld) -> None:
    same = factories.content("Silk of spiders.")
    world.documents = RacedDocuments(world, [same])
    indexed = world.index(same)
    assert indexed.unchanged
    assert (indexed.document.sequence, world.shown()) == (2, ["Silk of spiders."])


def test_endless_races_are_waited_for(world: IndexerWorld) -> None:
    class AlwaysRaced(FakeDocumentStore):
        def commit(self, *_: Any) -> None:
            raise VersionRaced

    world.documents = AlwaysRaced(world.jobs)
    with pytest.raises(DependencyUnavailable):
        world.index()
    assert world.shown() == []


def test_an_old_version_that_cannot_be_removed_is_left_but_not_shown(
    world: IndexerWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unavailable(*_: Any) -> None:
        raise DependencyUnavailable("opensearch")

    world.index(factories.content("Silk of spiders."))
    monkeypatch.setattr(world.chunks, "remove_others", unavailable)
    world.index(factories.content("Silk of worms."))
    assert len(world.chunks.held) == 2
    assert world.shown() == ["Silk of worms."]


@pytest.mark.parametrize("part", ["embedder", "chunks", "contents"])
def test_a_part_that_is_down_leaves_the_old_version_shown(world: IndexerWorld, part: str) -> None:
    before = world.index(factories.content("Silk of spiders.")).document
    getattr(world, part).available = False
    with pytest.raises(DependencyUnavailable):
        world.index(factories.content("Silk of worms."))
    getattr(world, part).available = True
    assert world.document == before
    assert world.shown() == ["Silk of spiders."]


@pytest.mark.parametrize("content", ["Silk of worms.", "Silk of spiders."])
def test_a_lost_lease_shows_nothing_new(world: IndexerWorld, content: str) -> None:
    before = world.index(factories.content("Silk of spiders.")).document
    job = world.jobs.get(factories.job().ref)
    assert job is not None
    world.jobs.transition(job, rules.hand_back(job, world.clock()))
    with pytest.raises(LeaseLost):
        world.index(factories.content(content))
    assert world.document == before
    assert world.shown() == ["Silk of spiders."]


def test_what_a_checkpoint_raises_ends_the_work(world: IndexerWorld) -> None:
    class Stop(Exception):
        pass

    def checkpoint(step: str, _: int) -> None:
        if step == "indexing":
            raise Stop

    with pytest.raises(Stop):
        world.index(checkpoint=checkpoint)
    assert (world.shown(), world.documents.all(TENANT)) == ([], [])
