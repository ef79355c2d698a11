"""Areas of an export: the views of the API, page by page."""

from collections.abc import Callable
from dataclasses import dataclass

from pydantic import BaseModel

from spinneret.audits.api_models import audit_view
from spinneret.audits.kinds import AUDIT
from spinneret.content.documents.models import Document, DocumentFilter
from spinneret.content.documents.ports import ContentStore, DocumentStore
from spinneret.content.library.api_models import DocumentView, document_view
from spinneret.content.library.models import DocumentWithTags
from spinneret.content.tags.service import TagService
from spinneret.jobs.api_models import job_view
from spinneret.jobs.models import JobFilter
from spinneret.jobs.ports import JobStore
from spinneret.kernel.paging import Page
from spinneret.kernel.service import service
from spinneret.marketplace.products.api_models import product_view
from spinneret.marketplace.products.ports import ProductStore
from spinneret.monitoring.targets.ports import TargetStore
from spinneret.monitoring.targets.views import target_view
from spinneret.operations.tenants import limits
from spinneret.operations.tenants.ports import Area


class ExportedDocument(DocumentView):
    """A document with its whole text."""

    content: str | None
    """Text as Markdown; null if it was removed meanwhile."""


@dataclass(frozen=True)
class ListArea:
    """Implements Area by a function that returns a page."""

    name: str
    page: Callable[[str, str | None], Page[BaseModel]]


@service
class DocumentsArea:
    """Implements Area for documents, with their texts; deleted ones are left out."""

    documents: DocumentStore
    contents: ContentStore
    tags: TagService
    name: str = "documents"

    def page(self, tenant: str, after: str | None) -> Page[BaseModel]:
        """See Area; few documents, because their texts are large."""
        listing = DocumentFilter(tenant=tenant)
        page = self.documents.page(listing, after, limits.EXPORT_DOCUMENTS_PAGE)
        return page.map(self._shown)

    def _shown(self, document: Document) -> BaseModel:
        tags = self.tags.many(document.tenant, document.tag_ids)
        names = {each.id: each.name for each in tags.values()}
        view = document_view(DocumentWithTags(document=document, tag_names=names))
        try:
            content = self.contents.get(document.content_key)
        except KeyError:
            content = None
        return ExportedDocument(**view.model_dump(), content=content)


def list_areas(jobs: JobStore, products: ProductStore, targets: TargetStore) -> list[Area]:
    """Return all areas but the documents."""
    most = limits.EXPORT_PAGE
    every, audits = JobFilter(), JobFilter(kind=AUDIT)
    return [
        ListArea("products", lambda name, at: products.page(name, at, most).map(product_view)),
        ListArea("targets", lambda name, at: targets.page(name, None, at, most).map(target_view)),
        ListArea("audits", lambda name, at: jobs.page(name, audits, at, most).map(audit_view)),
        ListArea("jobs", lambda name, at: jobs.page(name, every, at, most).map(job_view)),
    ]
