"""Pages that are documents already: a host can be asked whether they have changed since."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any, Final

from spinneret.content.documents.models import Document, Origin
from spinneret.content.documents.ports import ContentStore, DocumentStore
from spinneret.content.documents.rules import content_hash, document_id
from spinneret.content.extraction.models import Content, Hyperlink
from spinneret.crawl.ports import PartStore
from spinneret.web.exploring.robots_tags import HEADER
from spinneret.web.fetching.models import FetchedPage, Validators, validators_of
from spinneret.web.fetching.urls import Url, cache_url, parse_url

_KEPT_HEADERS: Final = ("etag", "last-modified", HEADER)
_HEADERS_MAX: Final = 2048  # characters, of one document's row


@dataclass(frozen=True, kw_only=True)
class PreviousFetch:
    """What was read from a page's last answer, whose body is kept no more."""

    validators: Validators
    content: Content
    origin: Origin

    def confirmed(self, answer: FetchedPage) -> FetchedPage:
        """The page as a 304 leaves it, without a body (RFC 9111, section 4.3.4)."""
        return replace(
            answer,
            status_code=HTTPStatus.OK,
            media_type=self.origin.media_type,
            headers={**self.origin.headers, **answer.headers},
        )


FindKnown = Callable[[str, Url, str], PreviousFetch | None]
"""See `KnownPages.find`."""


class KnownPages:
    """Over the documents of all tenants."""

    def __init__(
        self, *, documents: DocumentStore, contents: ContentStore, parts: PartStore
    ) -> None:
        self._documents = documents
        self._contents = contents
        self._parts = parts

    def find(self, tenant: str, url: Url, asked: str) -> PreviousFetch | None:
        """None unless the page's document was read from an answer to the same request, in the same
        way, and all of it is still there. Raises DependencyUnavailable."""
        document = self._documents.get(tenant, document_id(tenant, cache_url(url)))
        if document is None or document.deleted_at is not None:
            return None
        origin = document.origin
        if origin is None or origin.asked != asked:
            return None
        validators = validators_of(parse_url(document.url), origin.headers)
        content = self._content(document, origin)
        if validators is None or content is None or content_hash(content) != document.content_hash:
            return None
        return PreviousFetch(validators=validators, content=content, origin=origin)

    def _content(self, document: Document, origin: Origin) -> Content | None:
        stored = self._parts.read(origin.parts_key)
        if stored is None:
            return None
        try:
            markdown = self._contents.get(document.content_key)
        except KeyError:
            return None
        parts: dict[str, Any] = json.loads(stored)
        return Content(
            title=document.title,
            markdown=markdown,
            language=document.language,
            metadata=document.metadata,
            hyperlinks=tuple(map(_hyperlink, parts["links"])),
            nofollow_agents=tuple(parts.get("nofollow_agents", ())),
            extraction=document.extraction,
        )


def origin_of(page: FetchedPage, asked: str, parts_key: str) -> Origin | None:
    """None where the host gave nothing to recognise its answer by, or more than a row has room for.

    `asked` names the request and how its answer is read.
    """
    headers = {name: page.headers[name] for name in _KEPT_HEADERS if name in page.headers}
    if page.validators is None or sum(map(len, headers.values())) > _HEADERS_MAX:
        return None
    return Origin(asked=asked, headers=headers, media_type=page.media_type, parts_key=parts_key)


def _hyperlink(link: dict[str, Any]) -> Hyperlink:
    return Hyperlink(
        url=link["url"],
        text=link["text"],
        rel=tuple(link["rel"]),
        may_follow=link.get("may_follow", not link["nofollow"]),
    )
