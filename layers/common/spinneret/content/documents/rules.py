"""Identity and versions of documents: pure."""

from __future__ import annotations

import hashlib

from spinneret.content.extraction.models import Content
from spinneret.kernel.canonical import fingerprint


def document_id(tenant: str, url_key: str) -> str:
    """One document per tenant and page; `url_key` is the URL's cache form."""
    return "doc_" + hashlib.sha256(f"{tenant}\n{url_key}".encode()).hexdigest()[:32]


def content_hash(content: Content) -> str:
    """Equal for pages whose chunks would be equal."""
    return fingerprint({"title": content.title, "markdown": content.markdown})


def version_name(sequence: int, content_sha256: str) -> str:
    """Names the chunks of one version; two jobs racing for a sequence number still differ."""
    return f"{sequence:06d}-{content_sha256[:12]}"
