"""Build the API views of crawls from their jobs and the content that the worker stored."""

import json
from collections.abc import Mapping
from typing import Any, Final

from spinneret.content.documents.ports import DocumentStore
from spinneret.content.extraction.plain import plain_text
from spinneret.crawl import limits
from spinneret.crawl.models import BatchView, CrawlView
from spinneret.crawl.ports import PartStore
from spinneret.events.webhooks.targets import shown_webhook_url
from spinneret.jobs import rules
from spinneret.jobs.api_models import job_view
from spinneret.jobs.models import ChildCounts, Job
from spinneret.web.fetching.urls import cache_url, parse_url

_SHARED: Final = set(CrawlView.model_fields) - {"result"}


def view_of(job: Job, pages: PartStore, documents: DocumentStore) -> CrawlView:
    """Build a crawl's view, without content if its document was deleted.

    Raises DependencyUnavailable.
    """
    payload, found = job.payload, job.result or {}
    document_id = found.get("document_id")
    stored = found if has_document(job, documents) else {}
    view = job_view(job)
    return CrawlView(
        url=payload["url"],
        normalized_url=found.get("normalized_url") or cache_url(parse_url(payload["url"])),
        crawl_config_id=payload["config"]["config_id"] if "config" in payload else None,
        crawl_source_id=payload.get("source_id"),
        collection_id=payload.get("collection_id"),
        document_id=document_id,
        title=found.get("title"),
        extraction=found.get("extraction"),
        crawled_at=found.get("crawled_at"),
        webhook_url=shown_webhook_url(job.notify),
        result=view.result,
        **_text(stored, pages),
        **_parts(stored, pages),
        **view.model_dump(include=_SHARED),
    )


def has_document(job: Job, documents: DocumentStore) -> bool:
    """Return whether the document of a crawl's result is there and isn't deleted.

    Raises DependencyUnavailable.
    """
    document_id = (job.result or {}).get("document_id")
    return document_id is not None and document_id in documents.shown(job.tenant, [document_id])


def batch_view_of(job: Job, counts: ChildCounts) -> BatchView:
    """Build a batch's view with the outcome counts of its crawls."""
    shared = job_view(job).model_dump(include=set(BatchView.model_fields))
    shared["progress"] = rules.progress_of(job, counts)
    webhook_url = shown_webhook_url(job.notify)
    return BatchView(**shared, **rules.summary(counts), webhook_url=webhook_url)


def _text(found: Mapping[str, Any], pages: PartStore) -> dict[str, Any]:
    key, markdown, url = found.get("content_key"), None, None
    if key is not None and found["content_bytes"] <= limits.CRAWL_SHOWN_BYTES:
        markdown = pages.read(key)
    elif key is not None:
        url = pages.link(key, limits.CRAWL_LINK_SECONDS)
    text = None if markdown is None else plain_text(markdown)
    return {"markdown": markdown, "text": text, "markdown_url": url}


def _parts(found: Mapping[str, Any], pages: PartStore) -> dict[str, Any]:
    key, stored, url = found.get("parts_key"), None, None
    if key is not None and found["parts_bytes"] <= limits.CRAWL_SHOWN_BYTES:
        stored = pages.read(key)
    elif key is not None:
        url = pages.link(key, limits.CRAWL_LINK_SECONDS)
    parts = {} if stored is None else json.loads(stored)
    return {
        "metadata": parts.get("metadata"),
        "links": parts.get("links"),
        "blocks": parts.get("blocks"),
        "parts_url": url,
    }
