"""Keys of the documents table, so that no adapter spells one by hand: pure."""

from __future__ import annotations

import hashlib
import re
from typing import Final

from spinneret.content.documents.models import Document
from spinneret.kernel import bounds
from spinneret.kernel.clock import to_iso
from spinneret.kernel.sharding import shard_of

_POSITION: Final = re.compile(r"[0-9T:.Z-]{27}#[A-Za-z0-9_-]{1,80}")


def document_key(tenant: str, document_id: str) -> dict[str, str]:
    """Primary key of a document."""
    return {"pk": f"T#{tenant}#DOC#{document_id}"}


def tagged_key(tenant: str, document_id: str, tag_id: str) -> dict[str, str]:
    """Primary key of the row that lists a document under a tag."""
    return {"pk": f"T#{tenant}#DOC#{document_id}#TAG#{tag_id}"}


def document_id_of(partition: str) -> str:
    """The id in the key of a document or of a row under a tag; neither holds a `#`."""
    return partition.split("#")[3]


def listed(tenant: str, *, deleted: bool = False) -> str:
    """List of a tenant's documents."""
    return f"T#{tenant}#DELETED" if deleted else f"T#{tenant}#DOCUMENTS"


def collected(tenant: str, collection_id: str) -> str:
    """List of the documents of a collection."""
    return f"T#{tenant}#COLLECTION#{collection_id}"


def hosted(tenant: str, domain: str) -> str:
    """List of the documents of a host."""
    return f"T#{tenant}#HOST#{domain}"


def tagged(tenant: str, tag_id: str) -> str:
    """List of the documents that bear a tag."""
    return f"T#{tenant}#TAG#{tag_id}"


def position(document: Document) -> str:
    """A document's place in every list; lists are read from the latest to the first."""
    return f"{to_iso(document.created_at)}#{document.id}"


def is_position(text: str) -> bool:
    """Whether this can be a place in a list."""
    return _POSITION.fullmatch(text) is not None


def generation_keys(tenant: str) -> list[dict[str, str]]:
    """Rows that together count a tenant's writes."""
    return [{"pk": f"T#{tenant}#GENERATION#{shard}"} for shard in range(bounds.WRITE_SHARDS)]


def generation_key(document: Document) -> dict[str, str]:
    """The one of these rows that a document's writes go to."""
    return generation_keys(document.tenant)[shard(document.id)]


def body_key(document: Document) -> dict[str, str]:
    """The row that counts the documents that have a body."""
    return body_row(document.tenant, document.content_key)


def body_row(tenant: str, content_key: str) -> dict[str, str]:
    """The same for a body by itself."""
    digest = hashlib.sha256(content_key.encode()).hexdigest()
    return {"pk": f"T#{tenant}#BODY#{digest}"}


def shard(document_id: str) -> int:
    """Which of the rows that are sharded is a document's."""
    return shard_of(document_id, bounds.WRITE_SHARDS)
