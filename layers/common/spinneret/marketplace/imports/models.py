"""Data types of imports."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class ImportOutcome(StrEnum):
    """Outcome of an import for one listing."""

    READ = "read"
    """It was read and isn't matched yet."""
    LINKED = "linked"
    """It is the listing of an existing product now."""
    CREATED = "created"
    """It is the listing of a product that the import created."""
    KNOWN = "known"
    """It was a product's listing before."""
    UNMATCHED = "unmatched"
    """No product matches it, and the import creates none."""
    CONFLICT = "conflict"
    """The seller has to decide; see the reason."""
    REFUSED = "refused"
    """It can't be a product's, such as one with variations."""


@dataclass(frozen=True, kw_only=True)
class FoundListing:
    """A listing as the marketplace shows it."""

    external_id: str
    reference: str | None = None
    """Second id, as for `Listing`."""
    title: str
    sku: str | None = None
    url: str | None = None
    is_varied: bool = False
    description: str = ""
    price: str | None = None
    """Decimal of `currency`."""
    currency: str = ""
    quantity: int = 0
    images: Mapping[str, str] = field(default_factory=dict)
    """URLs of the images in their order → the marketplace's ids or URLs of its copies."""
    attributes: Mapping[str, str] = field(default_factory=dict)
    category_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class FoundListingPage:
    """Page of a seller's listings."""

    listings: Sequence[FoundListing]
    after: str | None
    """Position of the next page; None after the last one."""


@dataclass(frozen=True, kw_only=True)
class ImportedListing:
    """A listing that a job has read, and its outcome."""

    tenant: str
    job_id: str
    external_id: str
    title: str
    sku: str | None
    url: str | None
    at: datetime
    """Time of the last write."""
    outcome: ImportOutcome = ImportOutcome.READ
    found: FoundListing | None = None
    """The whole listing, until it has an outcome."""
    product_id: str | None = None
    """Product that has the listing."""
    rivals: tuple[str, ...] = ()
    """Products between which the seller has to decide."""
    reason: str | None = None
    """Reason of a conflict or a refusal, and the seller's next step."""
