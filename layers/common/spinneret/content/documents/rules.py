"""Identity and versions of documents; pure."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from spinneret.content import limits
from spinneret.content.chunking.models import Chunk, TokenSpan
from spinneret.content.extraction.models import Content
from spinneret.content.extraction.targets import target_spans, without_addresses, without_targets
from spinneret.kernel.canonical import fingerprint, json_text
from spinneret.kernel.errors import ValidationFailed

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


def merged(annotations: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """Merge annotations by RFC 7396 on the first level. Raise ValidationFailed if the result isn't
    storable JSON, has too many bytes, or levels that a response can't have."""
    joined = {name: each for name, each in {**annotations, **change}.items() if each is not None}
    try:
        size = len(json_text(joined).encode())
    except ValidationFailed as error:
        raise ValidationFailed.of_field("metadata", "a value isn't JSON") from error
    if size > limits.DOCUMENT_METADATA_BYTES:
        raise ValidationFailed.of_field(
            "metadata", f"metadata has at most {limits.DOCUMENT_METADATA_BYTES} bytes"
        )
    if _levels(joined) > limits.DOCUMENT_METADATA_LEVELS:
        raise ValidationFailed.of_field(
            "metadata", f"metadata has at most {limits.DOCUMENT_METADATA_LEVELS} levels"
        )
    return joined


def _levels(value: Any) -> int:
    """Return how many objects and lists are inside each other."""
    inside, levels = [value], -1
    while inside:
        levels += 1
        inside = [
            each
            for holder in inside
            if isinstance(holder, dict | list)
            for each in (holder.values() if isinstance(holder, dict) else holder)
        ]
    return levels
