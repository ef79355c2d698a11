"""Keys of the documents table, shared by all adapters; pure."""

import hashlib
import re
from typing import Final

from spinneret.content import limits
from spinneret.content.documents.models import Document
from spinneret.kernel.clock import to_iso
from spinneret.kernel.sharding import shard_of

_POSITION: Final = re.compile(r"[0-9T:.Z-]{27}#[A-Za-z0-9_-]{1,80}")


def document_key(tenant: str, document_id: str) -> dict[str, str]:
    """Return the primary key of a document."""
    return {"pk": f"T#{tenant}#DOC#{document_id}"}


def tagged_key(tenant: str, document_id: str, tag_id: str) -> dict[str, str]:
    """Return the primary key of the item that lists a document under a tag."""
    return {"pk": f"T#{tenant}#DOC#{document_id}#TAG#{tag_id}"}


def document_id_of(partition: str) -> str:
    """Return the document id in a document's or tag item's key; ids contain no `#`."""
    return partition.split("#")[3]


def listed(tenant: str, *, deleted: bool = False) -> str:
    """Return the list partition of a tenant's documents."""
    return f"T#{tenant}#DELETED" if deleted else f"T#{tenant}#DOCUMENTS"


def collected(tenant: str, collection_id: str) -> str:
    """Return the list partition of a collection's documents."""
    return f"T#{tenant}#COLLECTION#{collection_id}"


def hosted(tenant: str, domain: str) -> str:
    """Return the list partition of a host's documents."""
    return f"T#{tenant}#HOST#{domain}"


def tagged(tenant: str, tag_id: str) -> str:
    """Return the list partition of a tag's documents."""
    return f"T#{tenant}#TAG#{tag_id}"


def position(document: Document) -> str:
    """Return a document's sort key in all lists; lists are read from latest to first."""
    return f"{to_iso(document.created_at)}#{document.id}"


def is_position(text: str) -> bool:
    """Return whether the text is a valid sort key of a list."""
    return _POSITION.fullmatch(text) is not None


INDEX_KEY: Final = {"pk": "UPKEEP#index"}
"""Primary key of the item that counts the indexes that searches have used."""


def generation_keys(tenant: str) -> list[dict[str, str]]:
    """Return the keys of the items that together count a tenant's writes."""
    return [{"pk": f"T#{tenant}#GENERATION#{shard}"} for shard in range(limits.WRITE_SHARDS)]


def generation_key(document: Document) -> dict[str, str]:
    """Return the key of the item that counts a document's writes."""
    return generation_keys(document.tenant)[shard(document.id)]


def body_key(document: Document) -> dict[str, str]:
    """Return the key of the item that counts the documents with this document's body."""
    return body_row(document.tenant, document.content_key)


def body_row(tenant: str, content_key: str) -> dict[str, str]:
    """Return the key of the item that counts the documents with a body."""
    digest = hashlib.sha256(content_key.encode()).hexdigest()
    return {"pk": f"T#{tenant}#BODY#{digest}"}


def shard(document_id: str) -> int:
    """Return the shard of a document's counting items."""
    return shard_of(document_id, limits.WRITE_SHARDS)
