"""Marketplaces, and the plans of their actions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from spinneret.marketplace.calls.service import SellerApiClient
from spinneret.marketplace.connections.models import OAuthApp
from spinneret.marketplace.products.models import ProductContent
from spinneret.marketplace.publishing.choices import Choosing
from spinneret.marketplace.publishing.models import JobSubject, PlannedListing, PreflightResult
from spinneret.marketplace.publishing.work import StepContext
from spinneret.marketplace.tasks.models import TaskType


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
    of_run: bool = False
    """Whether its success counts for one run only: a retry looks up again what may have changed."""


def step(
    key: str,
    description: str,
    method: str,
    path: str,
    payload: Mapping[str, Any],
    run: Callable[[StepContext], Mapping[str, Any]],
    via: TaskType = TaskType.DIRECT_HTTP,
    *,
    of_run: bool = False,
) -> PlanStep:
    """Return a step that is one request to the marketplace."""
    return PlanStep(
        key=key,
        type=via,
        description=description,
        method=method,
        path=path,
        payload=payload,
        run=run,
        of_run=of_run,
    )


Plan = Callable[[JobSubject], Sequence[PlanStep]]
"""Function that returns the steps of an action. Raises ValidationFailed for a product that can't be
mapped."""


@dataclass(frozen=True, kw_only=True)
class Platform:
    """One marketplace: a row of the registry."""

    name: str
    title: str
    plans: Mapping[str, Plan]
    """Plans by action code; an action without a plan fails with the reason `unsupported`."""
    check: Callable[[ProductContent], Sequence[Mapping[str, str]]]
    """Function that returns the fields that the marketplace would refuse, each with its message. It
    sends no requests."""
    app: OAuthApp | None = None
    """OAuth configuration; None for a marketplace without tokens."""
    by_plugin: bool = False
    """Whether sellers' browsers send its requests, by a plug-in."""
    hosts: Mapping[str, str] = field(default_factory=dict)
    """Hosts of the marketplace by name; the stage's configuration may replace their origins."""
    preflight: (
        Callable[[SellerApiClient, Sequence[PlannedListing]], Iterator[tuple[str, PreflightResult]]]
        | None
    ) = None
    """Function that yields results by product id and changes nothing there; None if the marketplace
    offers no preflight."""
    choosing: Choosing | None = None
    """Policies, locations, profiles and sections that sellers choose; None if there are none."""
    unsupported: Mapping[str, str] = field(default_factory=dict)
    """Action code → reason why the marketplace has no interface for it."""
