"""Values of listing records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final


class ListingState(StrEnum):
    """What is known to stand on the marketplace."""

    CREATING = "creating"
    """A job has begun to make it: until it is done, there may be one."""
    DRAFT = "draft"
    """It stands there, and nobody can buy it: sold out, run out or taken off the shelf."""
    ACTIVE = "active"
    ENDED = "ended"
    SOLD = "sold"


ENDED: Final = frozenset({ListingState.ENDED, ListingState.SOLD})
"""Nothing of the product is for sale there."""


@dataclass(frozen=True, kw_only=True)
class Drift:
    """A field that the marketplace shows otherwise than we published it."""

    field: str
    ours: str
    theirs: str


@dataclass(frozen=True, kw_only=True)
class Listing:
    """One product on one marketplace."""

    tenant: str
    product_id: str
    marketplace: str
    sku: str
    state: ListingState = ListingState.CREATING
    external_id: str | None = None
    """The marketplace's id of the listing."""
    reference: str | None = None
    """A second id that is needed: eBay's offer, Etsy's draft, the draft that Vinted won't list."""
    images: Mapping[str, str] = field(default_factory=dict)
    """URL of the product's image → what the marketplace calls its copy."""
    url: str | None = None
    digest: str | None = None
    """Of the content that was published last."""
    generation: int = 1
    """Goes up by one when the listing ends: what is made after that is another listing."""
    intent_job: str | None = None
    """The job that began to make the listing."""
    intent_at: datetime | None = None
    """When it did; look-ups of what it made begin there."""
    attempted_at: datetime | None = None
    """When a call that makes the listing was last about to be sent."""
    attempted_titles: tuple[str, ...] = ()
    """What such calls named the listing, since the intent; where look-ups go by the title."""
    drift: tuple[Drift, ...] = ()
    revised_on: str | None = None
    """The day of `revisions`, as 2026-01-31."""
    revisions: int = 0
    last_sync_at: datetime | None = None
    updated_at: datetime | None = None
    version: int = 0
    """Goes up by one with every change; 0 isn't stored yet."""
