"""Values of marketplace jobs: actions, plans and their steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from spinneret.marketplace.connections.models import OAuthApp
from spinneret.marketplace.listings.models import Listing
from spinneret.marketplace.products.models import Content, Product
from spinneret.marketplace.tasks.models import TaskType

if TYPE_CHECKING:
    from spinneret.marketplace.calls.service import SellerApiClient
    from spinneret.marketplace.publishing.work import StepContext


@dataclass(frozen=True, kw_only=True)
class ActionType:
    """What can be asked for on a marketplace, and its defaults."""

    marketplace: str
    code: str
    name: str
    priority: int
    """1 critical to 4 low."""
    max_retries: int
    """How often a job of it may fail before it stays failed."""
    description: str
    needs_product: bool = True

    @property
    def full_code(self) -> str:
        """What its handler is registered under."""
        return f"{self.code}_{self.marketplace}"


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What a job is about, as it stands when a claim begins."""

    tenant: str
    marketplace: str
    product: Product | None
    content: Content | None
    """The product as the marketplace shows it."""
    listing: Listing | None
    given: Mapping[str, Any]
    """The job's `input_data`."""

    @property
    def sold(self) -> tuple[Product, Content]:
        """The product and what is shown of it; only for actions that need one."""
        assert self.product is not None
        assert self.content is not None
        return self.product, self.content


@dataclass(frozen=True, kw_only=True)
class PlanStep:
    """One thing to do; becomes a task."""

    key: str
    type: TaskType
    description: str
    run: Callable[[StepContext], Mapping[str, Any]]
    """Does it and returns the task's result. It looks for its own effect before it acts: an earlier
    claim may have done it."""
    method: str | None = None
    path: str | None = None
    payload: Mapping[str, Any] = field(default_factory=dict)
    """What the task shows, and what its success depends on."""


Plan = Callable[[Subject], Sequence[PlanStep]]
"""The steps of an action. Raises ValidationFailed for a product that can't be mapped."""


@dataclass(frozen=True, kw_only=True)
class PlannedListing:
    """A product that a plan would list or revise."""

    product: Product
    content: Content
    """The product as the marketplace shows it."""
    listing: Listing | None


@dataclass(frozen=True, kw_only=True)
class PreflightResult:
    """What a marketplace says of one product before anything is written."""

    problems: tuple[Mapping[str, Any], ...] = ()
    """Fields for which it would refuse the product, each with its message."""
    fees: tuple[Mapping[str, Any], ...] = ()
    """What publishing costs."""
    violations: tuple[Mapping[str, Any], ...] = ()
    """What it holds against the listing that stands."""
    unchecked: str | None = None
    """Why it wasn't asked, or didn't answer."""


@dataclass(frozen=True, kw_only=True)
class Platform:
    """One marketplace: a row of the registry."""

    name: str
    title: str
    plans: Mapping[str, Plan]
    """By action code; an action without a plan is answered with the reason `unsupported`."""
    check: Callable[[Content], Sequence[Mapping[str, str]]]
    """The fields that the marketplace would refuse, each with its message; nothing is called."""
    app: OAuthApp | None = None
    """None for a marketplace without tokens."""
    hosts: Mapping[str, str] = field(default_factory=dict)
    """Its own hosts by name; the stage's configuration may replace their origins."""
    outlooks: (
        Callable[[SellerApiClient, Sequence[PlannedListing]], Iterator[tuple[str, PreflightResult]]]
        | None
    ) = None
    """By product id, where the marketplace tells something before; changes nothing there."""
    unsupported: Mapping[str, str] = field(default_factory=dict)
    """Action code → why the marketplace has no interface for it."""
