"""Data types of marketplace jobs: actions, plans and their steps."""

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
    """An action available on a marketplace, with its defaults."""

    marketplace: str
    code: str
    name: str
    priority: int
    """Priority, from 1 (critical) to 4 (low)."""
    max_retries: int
    """Number of failures after which a job stays failed."""
    description: str
    needs_product: bool = True

    @property
    def full_code(self) -> str:
        """Key of its plan in the registry."""
        return f"{self.code}_{self.marketplace}"


@dataclass(frozen=True, kw_only=True)
class Subject:
    """Product and listing of a job, as read at the beginning of a claim."""

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
        """Product and its content; only for actions that need a product."""
        assert self.product is not None
        assert self.content is not None
        return self.product, self.content


@dataclass(frozen=True, kw_only=True)
class PlanStep:
    """One step of a plan; becomes a task."""

    key: str
    type: TaskType
    description: str
    run: Callable[[StepContext], Mapping[str, Any]]
    """Function that performs the step and returns the task's result. It looks for the step's own
    effect before it acts, since an earlier claim may have performed it."""
    method: str | None = None
    path: str | None = None
    payload: Mapping[str, Any] = field(default_factory=dict)
    """Data that the task shows, and that its success depends on."""


Plan = Callable[[Subject], Sequence[PlanStep]]
"""Function that returns the steps of an action. Raises ValidationFailed for a product that can't be
mapped."""


@dataclass(frozen=True, kw_only=True)
class PlannedListing:
    """A product that a plan would list or revise."""

    product: Product
    content: Content
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


@dataclass(frozen=True, kw_only=True)
class Platform:
    """One marketplace: a row of the registry."""

    name: str
    title: str
    plans: Mapping[str, Plan]
    """Plans by action code; an action without a plan fails with the reason `unsupported`."""
    check: Callable[[Content], Sequence[Mapping[str, str]]]
    """Function that returns the fields that the marketplace would refuse, each with its message. It
    sends no requests."""
    app: OAuthApp | None = None
    """OAuth configuration; None for a marketplace without tokens."""
    hosts: Mapping[str, str] = field(default_factory=dict)
    """Hosts of the marketplace by name; the stage's configuration may replace their origins."""
    outlooks: (
        Callable[[SellerApiClient, Sequence[PlannedListing]], Iterator[tuple[str, PreflightResult]]]
        | None
    ) = None
    """Function that yields outlooks by product id and changes nothing there; None if the
    marketplace offers no preflight."""
    unsupported: Mapping[str, str] = field(default_factory=dict)
    """Action code → reason why the marketplace has no interface for it."""
