"""Identity and versions of documents: pure."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

from spinneret.content.chunking.models import Chunk, TokenSpan
from spinneret.content.extraction.models import Content
from spinneret.content.extraction.targets import target_spans, without_targets
from spinneret.kernel import bounds
from spinneret.kernel.canonical import fingerprint

PARTS: Final = "parts/T/"


def document_id(tenant: str, url_key: str) -> str:
    """One document per tenant and page; `url_key` is the URL's cache form."""
    return "doc_" + hashlib.sha256(f"{tenant}\n{url_key}".encode()).hexdigest()[:32]


def content_hash(content: Content) -> str:
    """Equal for pages whose chunks would be equal."""
    return fingerprint({"title": content.title, "markdown": content.markdown})


def version_name(sequence: int, content_sha256: str) -> str:
    """Names the chunks of one version; two jobs racing for a sequence number still differ."""
    return f"{sequence:06d}-{content_sha256[:12]}"


def parts_prefix(tenant: str, document_id: str) -> str:
    """How the keys begin of what is stored for one document beside its text.

    Of a document each, so that they go with it; what its row doesn't name goes by its age.
    """
    return f"{PARTS}{tenant}/{document_id}/"


def embedded_text(chunk: Chunk) -> str:
    """What is embedded of a chunk: no addresses, and the header rows of a table that goes on."""
    text = without_targets(chunk.standing_alone)
    return text if any(map(str.isalnum, text)) else chunk.text  # all pictures


def counted(tokens: Sequence[TokenSpan], markdown: str) -> list[TokenSpan]:
    """The tokens that count for a chunk's size: those of addresses aren't embedded.

    Without a token in it, an address is never cut. `tokens` are in the order of the text.
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
    """Both, each once, in order of their ids, which is by time; of too many, the oldest."""
    return tuple(sorted({*one, *other})[: bounds.DOCUMENT_TAGS_MAX])
