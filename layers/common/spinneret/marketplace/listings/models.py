"""Data types of listing records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final


class ListingState(StrEnum):
    """Known state of the listing on the marketplace."""

    CREATING = "creating"
    """A job has begun to create it; until that is done, a listing may exist."""
    DRAFT = "draft"
    """It exists, but can't be bought: sold out, expired or deactivated."""
    ACTIVE = "active"
    ENDED = "ended"
    SOLD = "sold"


ENDED: Final = frozenset({ListingState.ENDED, ListingState.SOLD})
"""States in which the marketplace doesn't sell the product."""


@dataclass(frozen=True, kw_only=True)
class Drift:
    """A field whose value on the marketplace differs from what we published."""

    field: str
    ours: str
    theirs: str


def drift_rows(drift: Sequence[Drift]) -> list[list[str]]:
    """Return the differences as lists, as rows and results have them."""
    return [[each.field, each.ours, each.theirs] for each in drift]


@dataclass(frozen=True, kw_only=True)
class Listing:
    """Record of one product on one marketplace."""

    tenant: str
    product_id: str
    marketplace: str
    sku: str
    state: ListingState = ListingState.CREATING
    external_id: str | None = None
    """Id of the listing at the marketplace."""
    reference: str | None = None
    """Second id where one is needed: eBay's offer, Etsy's draft, the draft that Vinted refuses to
    list."""
    images: Mapping[str, str] = field(default_factory=dict)
    """URL of the product's image → the marketplace's id or URL of its copy."""
    url: str | None = None
    has_tags: bool = False
    """Whether the listing on Etsy may have tags of the product, which it loses with the product;
    others are the seller's."""
    digest: str | None = None
    """Digest of the content published last."""
    generation: int = 1
    """Number that increases by one when the listing ends: a later publication creates another
    listing."""
    intent_job: str | None = None
    """Job that began to create the listing."""
    intent_at: datetime | None = None
    """Time of that beginning; look-ups of created listings start there."""
    listed_since: datetime | None = None
    """Time of the first beginning of all generations; older orders are no sales of the product."""
    attempted_at: datetime | None = None
    """Time at which a call that creates the listing was last about to be sent."""
    attempted_titles: tuple[str, ...] = ()
    """Titles in such calls since the intent, for look-ups by title."""
    drift: tuple[Drift, ...] = ()
    revised_on: str | None = None
    """Day of `revisions`, as 2026-01-31."""
    revisions: int = 0
    last_sync_at: datetime | None = None
    updated_at: datetime | None = None
    version: int = 0
    """Version, increased by one with every change; 0 means not stored yet."""

    @property
    def current_id(self) -> str | None:
        """Id of the listing at the marketplace; None once it has ended."""
        return None if self.state in ENDED else self.external_id

    @property
    def identity(self) -> tuple[object, ...]:
        """Which listing the record is about, and its state: what look-ups are about."""
        return self.generation, self.state, self.external_id, self.reference

    @property
    def held(self) -> frozenset[str]:
        """Ids at the marketplace that are this product's alone; none once the listing has ended."""
        ids = () if self.state in ENDED else (self.external_id, self.reference)
        return frozenset(each for each in ids if each is not None)
