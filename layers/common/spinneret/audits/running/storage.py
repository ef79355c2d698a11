"""Storage of the data that slices share and readers get: rows first, then objects."""

import gzip
import hashlib
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

from spinneret.audits import limits
from spinneret.audits.facts.models import PageFacts, ReadFailure
from spinneret.audits.facts.pages import unread_page
from spinneret.audits.facts.site import SiteFacts
from spinneret.audits.facts.storing import PAGES, SITES
from spinneret.audits.models import Artifact, ArtifactType, Progress, RunRef
from spinneret.audits.ports import AuditObjectStore, AuditStore
from spinneret.audits.running.slices import AuditContext
from spinneret.kernel.errors import NotFound
from spinneret.kernel.service import service

_HTML_GZ: Final = "application/gzip"
_JSON: Final = "application/json"


@service
class Storage:
    """Facts and artifacts of runs: AuditStore and AuditObjectStore in one.

    An artifact's row is written before its object, so that no object lacks a row. A worker that
    dies in between leaves a row without an object.
    """

    store: AuditStore
    bodies: AuditObjectStore
    html_retention_days: int

    # ------------------------------------------------------------ Site

    def site(self, progress: Progress) -> SiteFacts | None:
        """Return the facts of the site so far; None if there are none."""
        if progress.site_uri is None:
            return None
        body = self.bodies.get(progress.site_uri)
        if body is None:
            raise NotFound("the facts of the site are gone")
        return SITES.load(gzip.decompress(body))

    def keep_site(self, site: SiteFacts, progress: Progress, work: AuditContext) -> Progress:
        """Store the facts of the site and the run's progress; return the progress."""
        body = gzip.compress(SITES.dump(site).encode(), mtime=0)
        digest = hashlib.sha256(body).hexdigest()
        key = f"{work.ref.folder}/site/{digest}.json.gz"
        self.put(work, ArtifactType.SITE_FACTS, key, body, _JSON)
        kept = replace(progress, site_uri=key)
        self.store.keep_progress(kept, work.context.lease)
        return kept

    # ------------------------------------------------------------ Pages

    def keep_page(self, work: AuditContext, place: str, facts: Sequence[PageFacts]) -> None:
        """Store facts of pages; if too large even compressed, mark the pages as too complex."""
        body = _compressed(facts)
        if len(body) > limits.FACTS_BYTES:
            body = _compressed([_too_complex(each, work) for each in facts])
        self.store.keep_page(work.ref, place, body, work.context.lease)

    def pages(self, ref: RunRef) -> Iterator[PageFacts]:
        """Yield the facts of all pages, in the order of the crawl."""
        for body in self.store.pages(ref):
            for line in gzip.decompress(body).splitlines():
                yield PAGES.load(line)

    def keep_html(self, work: AuditContext, url: str, body: bytes) -> None:
        """Store the original page until its retention ends (A-03)."""
        digest = hashlib.sha256(body).hexdigest()
        key = f"{work.ref.folder}/html/{digest}.html.gz"
        packed = gzip.compress(body, mtime=0)
        self.put(work, ArtifactType.HTML_GZ, key, packed, _HTML_GZ, url=url)

    # ------------------------------------------------------------ Objects

    def put(
        self,
        work: AuditContext,
        type_: ArtifactType,
        key: str,
        body: bytes,
        media_type: str,
        *,
        url: str | None = None,
    ) -> None:
        """Write the artifact's row, then its object."""
        self.store.keep_artifacts([self._artifact(work, type_, key, url)], work.context.lease)
        self.bodies.put(key, body, media_type)

    def put_text(
        self,
        work: AuditContext,
        type_: ArtifactType,
        key: str,
        pieces: Iterable[str],
        media_type: str,
        *,
        compressed: bool = False,
    ) -> None:
        """Store text like `put`, without holding it in memory."""
        self.store.keep_artifacts([self._artifact(work, type_, key, None)], work.context.lease)
        with tempfile.TemporaryFile() as file:
            if compressed:
                with gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as packed:
                    for piece in pieces:
                        packed.write(piece.encode())
            else:
                for piece in pieces:
                    file.write(piece.encode())
            file.seek(0)
            self.bodies.put(key, file, media_type)

    def _artifact(
        self, work: AuditContext, type_: ArtifactType, key: str, url: str | None
    ) -> Artifact:
        now = work.clock()
        retention = timedelta(days=self.html_retention_days)
        return Artifact(
            ref=work.ref,
            type=type_,
            storage_uri=key,
            created_at=now,
            url=url,
            retention_until=now + retention if type_ is ArtifactType.HTML_GZ else None,
        )


def _compressed(facts: Sequence[PageFacts]) -> bytes:
    return gzip.compress("\n".join(map(PAGES.dump, facts)).encode(), mtime=0)


def _too_complex(facts: PageFacts, work: AuditContext) -> PageFacts:
    if facts.html is None:
        return facts
    return unread_page(facts.url, work.clock(), ReadFailure.TOO_COMPLEX, status=facts.status)
