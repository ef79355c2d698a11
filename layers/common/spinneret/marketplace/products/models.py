"""Data types of products."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from spinneret.kernel.canonical import fingerprint


@dataclass(frozen=True, kw_only=True)
class ProductOverride:
    """Fields that one marketplace shows differently; None and missing attributes mean the
    product's."""

    title: str | None = None
    description: str | None = None
    price: int | None = None
    category_id: str | None = None
    """Id of the category at the marketplace."""
    attributes: Mapping[str, str] = field(default_factory=dict)
    choices: Mapping[str, str] = field(default_factory=dict)
    """Ids of chosen policies, locations, profiles and sections, by the name of the choice."""


@dataclass(frozen=True, kw_only=True)
class ProductContent:
    """Content to show, on one marketplace or before any override."""

    title: str
    description: str
    price: int
    """Price in minor units of `currency`."""
    currency: str
    quantity: int
    images: tuple[str, ...]
    """URLs of the images; the first one is the main image."""
    attributes: Mapping[str, str]
    category_id: str | None = None
    choices: Mapping[str, str] = field(default_factory=dict)
    """Ids of what the seller chose for listings there, by the name of the choice."""

    @property
    def digest(self) -> str:
        """Fingerprint that is equal for equal content."""
        return fingerprint(
            [
                *(self.title, self.description, self.price, self.currency, self.quantity),
                *(list(self.images), dict(self.attributes), self.category_id),
                *([dict(self.choices)] if self.choices else []),
            ]
        )


@dataclass(frozen=True, kw_only=True)
class Product:
    """One thing that a seller sells."""

    tenant: str
    id: str
    sku: str
    """SKU, unique per tenant; it identifies the product on marketplaces."""
    content: ProductContent
    overrides: Mapping[str, ProductOverride]
    """Overrides by marketplace."""
    created_at: datetime
    updated_at: datetime
    version: int = 1
    """Version, increased by one with every change; the next change checks it."""

    @property
    def name(self) -> str:
        """Name of the product in named rows: its SKU."""
        return self.sku
