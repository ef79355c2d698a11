"""Searches with writes between any two of their calls.

A write is acknowledged at every point of a search in turn. The search under way may show what was
before it or after it, never two versions of a document; every search that begins later shows what
is, from the cache or not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from spinneret.content.search.models import Query
from spinneret.content.search.service import Found, SearchService
from tests.factories import TENANT
from tests.fakes.time import plenty
from tests.unit.content.library.shelves import Shelves

URL = "upload://page"
Write = Callable[[Shelves], None]


class Interrupted:
    """Wraps a port; runs something before its n-th call of all ports, once."""

    def __init__(self, port: Any, run: Interruption) -> None:
        self._port = port
        self._run = run

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._port, name)
        if not callable(value):
            return value

        def call(*given: Any, **named: Any) -> Any:
            self._run.counted()
            return value(*given, **named)

        return call


class Interruption:
    """What happens at which call."""

    def __init__(self, at: int, what: Callable[[], None]) -> None:
        self.calls = 0
        self._at = at
        self._what = what

    def counted(self) -> None:
        self.calls += 1
        if self.calls == self._at:
            self._what()


def _changed(shelves: Shelves) -> None:
    shelves.stored("silk of another kind", url=URL)


def _deleted(shelves: Shelves) -> None:
    [identity] = [each.id for each in shelves.documents.all(TENANT) if each.url == URL]
    assert shelves.send("DELETE", f"/{identity}").status == 204


def _added(shelves: Shelves) -> None:
    shelves.stored("silk that is new", url="upload://new")


def _unlabelled(shelves: Shelves) -> None:
    [identity] = [each.id for each in shelves.documents.all(TENANT) if each.url == URL]
    [tag] = shelves.send("GET", f"/{identity}").body["tags"]
    assert shelves.send("DELETE", f"/{identity}/tags/{tag['tag_id']}").status == 204


WRITES: dict[str, Write] = {
    "changed": _changed,
    "deleted": _deleted,
    "added": _added,
    "unlabelled": _unlabelled,
}


def _search(shelves: Shelves, run: Interruption) -> Found:
    service = SearchService(
        embedder=Interrupted(shelves.embedder, run),
        index=Interrupted(shelves.index, run),
        documents=Interrupted(shelves.documents, run),
        caches=Interrupted(shelves.caches, run),  # type: ignore[arg-type]  # has its methods
        new_id=shelves.new_id,
        sleep=shelves.clock.advance,
    )
    return service.search(Query(tenant=TENANT, text="silk", limit=100), plenty)


def _prepared() -> Shelves:
    shelves = Shelves()
    shelves.stored("silk " * 3 + "as it was", url=URL, tags=["kept"])
    shelves.stored("silk that stays", url="upload://stays")
    return shelves


def _shown(found: Found) -> set[str]:
    return {hit.chunk.text for hit in found.hits}


@pytest.mark.parametrize("name", list(WRITES))
def test_a_write_at_any_point_of_a_search_is_seen_by_the_next(name: str) -> None:
    run = Interruption(0, lambda: None)
    _search(_prepared(), run)
    assert run.calls >= 6
    for at in range(1, run.calls + 1):
        shelves = _prepared()
        write = Interruption(at, lambda shelves=shelves: WRITES[name](shelves))  # type: ignore[misc]
        during = _search(shelves, write)
        documents = [hit.ranked.candidate.document_id for hit in during.hits]
        assert len(documents) == len(set(documents)), f"two versions, call {at}"
        truth = {
            shelves.contents.get(each.content_key).strip()
            for each in shelves.documents.all(TENANT)
            if each.deleted_at is None
        }
        for _ in range(2):  # made, then cached
            later = _search(shelves, Interruption(0, lambda: None))
            assert _shown(later) == truth, f"call {at}"
        assert later.result_cached
