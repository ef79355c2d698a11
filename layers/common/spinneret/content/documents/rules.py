"""Identity and versions of documents; pure."""

import hashlib
from collections.abc import Sequence
from typing import Final

from spinneret.content import limits
from spinneret.content.chunking.models import Chunk, TokenSpan
from spinneret.content.extraction.models import Content
from spinneret.content.extraction.targets import target_spans, without_addresses, without_targets
from spinneret.kernel.canonical import fingerprint

PARTS: Final = "parts/T/"


def document_id(tenant: str, url_key: str) -> str:
    """Return the id of a tenant's page; `url_key` is the URL's cache form."""
    return "doc_" + hashlib.sha256(f"{tenant}\n{url_key}".encode()).hexdigest()[:32]


def content_hash(content: Content) -> str:
    """Return a hash that is equal for pages with equal chunks."""
    return fingerprint({"title": content.title, "markdown": content.markdown})


def version_name(sequence: int, content_sha256: str) -> str:
    """Return the name of a version; it differs for jobs that race for a sequence number."""
    return f"{sequence:06d}-{content_sha256[:12]}"


def is_first(version: str) -> bool:
    """Return whether a `version_name` is that of a document's first version."""
    return version.startswith("000001-")


def parts_prefix(tenant: str, document_id: str) -> str:
    """Return the key prefix of the parts stored for one document.

    The prefix lets parts be removed with their document; unreferenced parts are removed by age.
    """
    return f"{PARTS}{tenant}/{document_id}/"


def embedded_text(chunk: Chunk) -> str:
    """Return the text to embed for a chunk: without URLs, with the header rows of a continued
    table."""
    text = without_targets(chunk.standing_alone)
    # A chunk of pictures only has their descriptions; their URLs would exceed the model's input.
    return text if any(map(str.isalnum, text)) else without_addresses(chunk.standing_alone)


def counted(tokens: Sequence[TokenSpan], markdown: str) -> list[TokenSpan]:
    """Return the tokens that count for a chunk's size: URLs aren't embedded.

    A URL is never cut, since it contains no token. `tokens` are in the order of the text.
    """
    spans = target_spans(markdown)
    start, end = next(spans, (len(markdown), len(markdown)))
    found: list[TokenSpan] = []
    for token in tokens:
        while token.start >= end < len(markdown):
            start, end = next(spans, (len(markdown), len(markdown)))
        if not start <= token.start < end:
            found.append(token)
    return found


def joined_tags(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    """Return the union, sorted by id and thus by time; drop the newest beyond the maximum."""
    return tuple(sorted({*one, *other})[: limits.DOCUMENT_TAGS_MAX])
