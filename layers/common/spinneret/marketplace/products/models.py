"""Values of products."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from spinneret.kernel.canonical import fingerprint


@dataclass(frozen=True, kw_only=True)
class Override:
    """What one marketplace shows otherwise; None and missing attributes are the product's."""

    title: str | None = None
    description: str | None = None
    price: int | None = None
    category_id: str | None = None
    """The marketplace's own id of the category."""
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Content:
    """What is to be shown, on one marketplace or before any override."""

    title: str
    description: str
    price: int
    """Minor units of `currency`."""
    currency: str
    quantity: int
    images: tuple[str, ...]
    """URLs; the first one is the main image."""
    attributes: Mapping[str, str]
    category_id: str | None = None

    @property
    def digest(self) -> str:
        """Recognises the same content."""
        return fingerprint(
            [
                *(self.title, self.description, self.price, self.currency, self.quantity),
                *(list(self.images), dict(self.attributes), self.category_id),
            ]
        )


@dataclass(frozen=True, kw_only=True)
class Product:
    """One thing that a seller sells."""

    tenant: str
    id: str
    sku: str
    """Unique per tenant: what marketplaces know the product by."""
    content: Content
    overrides: Mapping[str, Override]
    """By marketplace."""
    created_at: datetime
    updated_at: datetime
    version: int = 1
    """Goes up by one with every change; the condition of the next one."""

    @property
    def name(self) -> str:
        """What named rows call it: the SKU."""
        return self.sku
