"""Cached pages of searches, of which one search makes each page while equal ones wait.

Lock and page are one item, which is read before it is locked: a condition that fails on a page
takes write units by the size of the page, a read takes a tenth of their price.
"""

from collections.abc import Callable
from functools import partial

from spinneret.content.caches.models import CacheKey, EntryLock, Read
from spinneret.content.caches.service import Caches
from spinneret.content.documents.ports import DocumentStore
from spinneret.content.search import limits
from spinneret.content.search.at_once import AtOnce
from spinneret.content.search.query_vectors import QueryVectors
from spinneret.content.search.run import SearchRun
from spinneret.kernel.clock import limit_remaining
from spinneret.kernel.ids import NewId
from spinneret.kernel.service import service


@service
class ResultCache:
    """Returns cached pages, or the right to make them."""

    caches: Caches
    documents: DocumentStore
    vectors: QueryVectors
    at_once: AtOnce
    new_id: NewId
    sleep: Callable[[float], None]

    def page_or_lock(self, run: SearchRun, key: CacheKey) -> bytes | EntryLock:
        """Return the page of the current generation, or a lock under which the caller makes it.

        The lock may be another search's if that search takes too long. With a lock, the query's
        vector is prepared.
        """
        read = self._read(run, key)
        page = _current_page(run, read, key)
        if page is not None:
            return page
        lock = EntryLock(
            key=key,
            owner=self.new_id("search"),
            generation=run.generation,
            epoch=read.epochs[key.cache],
        )
        vector = None if run.vector_key is None else read.entries.get(run.vector_key)
        embed = partial(self.vectors.prepare, run, vector)
        if not _is_being_made(run, read, key):
            has_lock, _ = self.at_once.both(partial(self._take, run, lock), embed)
            if has_lock:
                return lock
        with run.step("waited"):
            page = self._awaited(run, lock)
        if page is not None:
            return page
        if not run.is_prepared:
            embed()
        return lock

    def keep(self, run: SearchRun) -> None:
        """Store what the run made, in one call."""
        if run.kept:
            with run.step("cache"):
                tenant, generation = run.query.tenant, run.generation
                run.stored = self.caches.keep(tenant, run.kept, run.epochs, generation)

    def end(self, run: SearchRun, lock: EntryLock) -> None:
        """Release the lock, unless the stored page replaced it."""
        if lock.key not in run.stored:
            self.caches.unlock(run.query.tenant, lock)

    def _read(self, run: SearchRun, key: CacheKey) -> Read:
        """Read the documents' generation, the page and the query's vector at once."""
        keys = [key] if run.vector_key is None else [key, run.vector_key]
        with run.step("cache"):
            run.generation, read = self.at_once.both(
                lambda: self.documents.generation(run.query.tenant),
                lambda: self.caches.read(run.query.tenant, keys),
            )
        run.epochs = read.epochs
        return read

    def _take(self, run: SearchRun, lock: EntryLock) -> bool:
        return self.caches.lock(run.query.tenant, lock)

    def _awaited(self, run: SearchRun, lock: EntryLock) -> bytes | None:
        """Wait for another search's page. Return None if it doesn't arrive, or if that search
        ended without it and this one took the lock."""
        waited = limit_remaining(run.remaining, limits.STAMPEDE_WAIT_SECONDS)
        pause = limits.STAMPEDE_POLL_SECONDS
        while (left := waited()) > 0:
            self.sleep(min(pause, left))
            pause = min(2 * pause, limits.STAMPEDE_POLL_MAX_SECONDS)
            read = self.caches.read(run.query.tenant, [lock.key])
            page = _current_page(run, read, lock.key)
            if page is not None:
                return page
            if not _is_being_made(run, read, lock.key) and self._take(run, lock):
                return None
        return None


def _current_page(run: SearchRun, read: Read, key: CacheKey) -> bytes | None:
    """Return the page if it is of the run's generation."""
    return read.entries.get(key) if read.generations.get(key) == run.generation else None


def _is_being_made(run: SearchRun, read: Read, key: CacheKey) -> bool:
    return key in read.locked and read.generations.get(key) == run.generation
