"""Searches during which a write happens between any two calls.

A write is acknowledged before each call of a search in turn. The search in progress may show the
state before or after the write, but never two versions of a document and nothing of another tenant.
Every search that begins later shows the current state, whether it is cached or not. Documents have
several chunks, and another tenant has a page with the same URL and words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from spinneret.content.search.models import Query
from spinneret.content.search.service import SearchResult, SearchService
from tests.factories import TENANT
from tests.fakes.time import plenty
from tests.unit.content.library.library_world import LibraryWorld

URL = "upload://page"
LONG = "silk that is spun again and again " * 60  # several chunks long
OTHER = "globex"
Write = Callable[[LibraryWorld], None]


class Interrupted:
    """Wrapper of a port; an action runs once before the n-th call of all wrapped ports."""

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
    """An action and the number of the call before which it runs."""

    def __init__(self, at: int, what: Callable[[], None]) -> None:
        self.calls = 0
        self._at = at
        self._what = what

    def counted(self) -> None:
        self.calls += 1
        if self.calls == self._at:
            self._what()


def _changed(library: LibraryWorld) -> None:
    library.stored(f"{LONG} of another kind", url=URL)


def _deleted(library: LibraryWorld) -> None:
    [identity] = [each.id for each in library.documents.all(TENANT) if each.url == URL]
    assert library.send("DELETE", f"/{identity}").status == 204


def _added(library: LibraryWorld) -> None:
    library.stored(f"{LONG} and is new", url="upload://new")


def _unlabelled(library: LibraryWorld) -> None:
    [identity] = [each.id for each in library.documents.all(TENANT) if each.url == URL]
    [tag] = library.send("GET", f"/{identity}").body["tags"]
    assert library.send("DELETE", f"/{identity}/tags/{tag['tag_id']}").status == 204


WRITES: dict[str, Write] = {
    "changed": _changed,
    "deleted": _deleted,
    "added": _added,
    "unlabelled": _unlabelled,
}


def _search(library: LibraryWorld, run: Interruption, tenant: str = TENANT) -> SearchResult:
    service = SearchService(
        embedder=Interrupted(library.embedder, run),
        index=Interrupted(library.index, run),
        documents=Interrupted(library.documents, run),
        caches=Interrupted(library.caches, run),  # type: ignore[arg-type]  # has its methods
        new_id=library.new_id,
        sleep=library.clock.advance,
    )
    query = Query(tenant=tenant, text="silk", limit=100, collapse=False)
    return service.search(query, plenty)


def _prepared() -> LibraryWorld:
    library = LibraryWorld()
    library.stored(f"{LONG} as it was", url=URL, tags=["kept"])
    library.stored(f"{LONG} and stays", url="upload://stays")
    library.stored(f"{LONG} as it was", tenant=OTHER, url=URL, tags=["kept"])
    return library


def _shown(found: SearchResult) -> list[tuple[str, str]]:
    """Return version and text of each hit."""
    return sorted((hit.ranked.candidate.version, hit.chunk.text) for hit in found.hits)


def _stored(library: LibraryWorld, tenant: str) -> list[tuple[str, str]]:
    """Return version and text of all chunks that the tenant's rows make visible."""
    rows = [each for each in library.documents.all(tenant) if each.deleted_at is None]
    held = library.index.held.values()
    chunks = [
        (chunk.version, chunk.text)
        for row in rows
        for chunk in held
        if (chunk.tenant, chunk.document_id, chunk.version) == (tenant, row.id, row.version)
    ]
    assert len(chunks) == sum(row.chunk_count for row in rows)
    return sorted(chunks)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name == "deleted" else pytest.mark.heavy) for name in WRITES],
)
@pytest.mark.heavy
def test_a_write_at_any_point_of_a_search_is_seen_by_the_next(name: str) -> None:
    run = Interruption(0, lambda: None)
    first = _prepared()
    _search(first, run)
    assert run.calls >= 6
    assert min(each.chunk_count for each in first.documents.everything()) > 1
    for at in range(1, run.calls + 1):
        library = _prepared()
        others = _stored(library, OTHER)
        write = Interruption(at, lambda library=library: WRITES[name](library))  # type: ignore[misc]
        during = _search(library, write)
        versions = {
            (hit.ranked.candidate.document_id, hit.ranked.candidate.version) for hit in during.hits
        }
        documents = {document for document, _ in versions}
        assert len(versions) == len(documents), f"two versions, call {at}"
        assert documents <= {each.id for each in library.documents.all(TENANT)}, f"call {at}"
        for _ in range(2):  # first computed, then cached
            later = _search(library, Interruption(0, lambda: None))
            assert _shown(later) == _stored(library, TENANT), f"call {at}"
        assert later.result_cached
        assert _shown(_search(library, Interruption(0, lambda: None), OTHER)) == others
