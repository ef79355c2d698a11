"""Pages that already are documents: conditional requests check whether they have changed."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any, Final

from spinneret.content.documents.models import Document, Origin
from spinneret.content.documents.ports import ContentStore
from spinneret.content.documents.rules import content_hash
from spinneret.content.extraction.models import Content, Hyperlink
from spinneret.crawl.ports import PartStore
from spinneret.kernel.service import service
from spinneret.web.exploring.robots_tags import HEADER
from spinneret.web.fetching.models import FetchedPage, Validators, validators_of
from spinneret.web.fetching.urls import parse_url

_KEPT_HEADERS: Final = ("etag", "last-modified", HEADER)
_HEADERS_MAX: Final = 2048  # characters, of one document's row


@dataclass(frozen=True, kw_only=True)
class PreviousFetch:
    """Content of a page's last response, whose body is no longer stored."""

    validators: Validators
    content: Content
    origin: Origin

    def confirmed(self, answer: FetchedPage) -> FetchedPage:
        """Return the page that a 304 confirms, without a body (RFC 9111, section 4.3.4)."""
        return replace(
            answer,
            status_code=HTTPStatus.OK,
            media_type=self.origin.media_type,
            headers={**self.origin.headers, **answer.headers},
        )


FindKnown = Callable[[Document, str], PreviousFetch | None]
"""See `KnownPages.find`."""


@service
class KnownPages:
    """Finds known pages in the documents of all tenants."""

    contents: ContentStore
    parts: PartStore

    def find(self, document: Document, asked: str) -> PreviousFetch | None:
        """Return the page if its document is complete and stems from the same request and
        extraction.

        Returns None otherwise. Raises DependencyUnavailable.
        """
        if document.deleted_at is not None:
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
        stored = self.parts.read(origin.parts_key)
        if stored is None:
            return None
        try:
            markdown = self.contents.get(document.content_key)
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
    """Build a page's origin; return None without validators or for headers too long for a row.

    `asked` identifies the request and how its response is read.
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
