"""Making a page searchable beside other jobs, outages and lost leases."""

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
from tests.unit.content.documents.indexer_bench import Bench


class RacedDocuments(FakeDocumentStore):
    """Other jobs commit versions of the same page just before this one does."""

    def __init__(self, bench: Bench, contents: list[Content]) -> None:
        super().__init__(bench.jobs)
        self._bench = bench
        self._others = contents

    def commit(self, document: Document, *given: Any) -> None:
        if self._others:
            content = self._others.pop(0)
            mine, self._others = self._others, []
            self._bench.index(content)
            self._others = mine
        super().commit(document, *given)


def test_a_lost_race_starts_again_from_the_winner(bench: Bench) -> None:
    bench.documents = RacedDocuments(bench, [factories.content("Silk of worms.")])
    indexed = bench.index(factories.content("Silk of spiders."))
    assert indexed.document.sequence == 2
    assert bench.shown() == ["Silk of spiders."]


def test_a_race_between_equal_contents_ends_as_unchanged(bench: Bench) -> None:
    same = factories.content("Silk of spiders.")
    bench.documents = RacedDocuments(bench, [same])
    indexed = bench.index(same)
    assert indexed.unchanged
    assert (indexed.document.sequence, bench.shown()) == (2, ["Silk of spiders."])


def test_endless_races_are_waited_for(bench: Bench) -> None:
    class AlwaysRaced(FakeDocumentStore):
        def commit(self, *_: Any) -> None:
            raise VersionRaced

    bench.documents = AlwaysRaced(bench.jobs)
    with pytest.raises(DependencyUnavailable):
        bench.index()
    assert bench.shown() == []


def test_an_old_version_that_cannot_be_removed_is_left_but_not_shown(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unavailable(*_: Any) -> None:
        raise DependencyUnavailable("opensearch")

    bench.index(factories.content("Silk of spiders."))
    monkeypatch.setattr(bench.chunks, "remove_others", unavailable)
    bench.index(factories.content("Silk of worms."))
    assert len(bench.chunks.held) == 2
    assert bench.shown() == ["Silk of worms."]


@pytest.mark.parametrize("part", ["embedder", "chunks", "contents"])
def test_a_part_that_is_down_leaves_the_old_version_shown(bench: Bench, part: str) -> None:
    before = bench.index(factories.content("Silk of spiders.")).document
    getattr(bench, part).available = False
    with pytest.raises(DependencyUnavailable):
        bench.index(factories.content("Silk of worms."))
    getattr(bench, part).available = True
    assert bench.document == before
    assert bench.shown() == ["Silk of spiders."]


@pytest.mark.parametrize("content", ["Silk of worms.", "Silk of spiders."])
def test_a_lost_lease_shows_nothing_new(bench: Bench, content: str) -> None:
    before = bench.index(factories.content("Silk of spiders.")).document
    job = bench.jobs.get(factories.job().ref)
    assert job is not None
    bench.jobs.transition(job, rules.hand_back(job, bench.clock()))
    with pytest.raises(LeaseLost):
        bench.index(factories.content(content))
    assert bench.document == before
    assert bench.shown() == ["Silk of spiders."]


def test_what_a_checkpoint_raises_ends_the_work(bench: Bench) -> None:
    class Stop(Exception):
        pass

    def checkpoint(step: str, _: int) -> None:
        if step == "indexing":
            raise Stop

    with pytest.raises(Stop):
        bench.index(checkpoint=checkpoint)
    assert (bench.shown(), bench.documents.all(TENANT)) == ([], [])
