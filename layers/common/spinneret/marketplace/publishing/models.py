"""Data types of marketplace jobs: actions, their subjects and planned listings."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spinneret.marketplace.listings.models import Listing
from spinneret.marketplace.products.models import Product, ProductContent


@dataclass(frozen=True, kw_only=True)
class ActionType:
    """An action available on a marketplace, with its defaults."""

    marketplace: str
    code: str
    name: str
    priority: int
    """Priority, from 1 (critical) to 4 (low)."""
    max_retries: int
    """Number of failures after which a job stays failed."""
    description: str
    needs_product: bool
    supported: bool
    """Whether the marketplace has a plan for it."""

    @property
    def full_code(self) -> str:
        """Key of its plan in the registry."""
        return f"{self.code}_{self.marketplace}"


@dataclass(frozen=True, kw_only=True)
class JobSubject:
    """Product and listing of a job, as read at the beginning of a claim."""

    tenant: str
    marketplace: str
    product: Product | None
    content: ProductContent | None
    """The product as the marketplace shows it."""
    listing: Listing | None
    given: Mapping[str, Any]
    """The job's `input_data`."""

    @property
    def generation(self) -> int:
        """Generation of the listing, or of the one to create."""
        return self.listing.generation if self.listing else 1

    @property
    def sold(self) -> tuple[Product, ProductContent]:
        """Product and its content; only for actions that need a product."""
        assert self.product is not None
        assert self.content is not None
        return self.product, self.content


@dataclass(frozen=True, kw_only=True)
class PlannedListing:
    """A product that a plan would list or revise."""

    product: Product
    content: ProductContent
    """The product as the marketplace shows it."""
    listing: Listing | None


@dataclass(frozen=True, kw_only=True)
class PreflightResult:
    """Preflight result of a marketplace for one product, before anything is written."""

    problems: tuple[Mapping[str, Any], ...] = ()
    """Fields for which it would refuse the product, each with its message."""
    fees: tuple[Mapping[str, Any], ...] = ()
    """Costs of publishing."""
    violations: tuple[Mapping[str, Any], ...] = ()
    """Violations that it reports for the current listing."""
    unchecked: str | None = None
    """Reason why it wasn't asked or didn't answer; None if it answered."""
