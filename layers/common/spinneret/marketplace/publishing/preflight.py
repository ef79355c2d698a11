"""Run a marketplace's preflight for the products of a plan."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from spinneret.jobs.worker import Defer, ReleaseJob
from spinneret.kernel.errors import (
    MarketplaceRefused,
    MarketplaceUnavailable,
    ReauthNeeded,
    field_error,
)
from spinneret.marketplace.calls.service import SellerApiClient
from spinneret.marketplace.publishing.choices import Choosing, ids_of, problems
from spinneret.marketplace.publishing.models import PlannedListing, PreflightResult
from spinneret.marketplace.publishing.plans import Platform


def run_preflight(
    platform: Platform, calls: SellerApiClient, candidates: Sequence[PlannedListing]
) -> Mapping[str, PreflightResult]:
    """Return the results by product id. If the marketplace doesn't answer, the rest remains
    unchecked, so that a plan always has an answer. Raises DependencyUnavailable."""
    found: dict[str, PreflightResult] = {}
    choosing = [each for each in candidates if each.content.choices]
    asked = candidates if platform.preflight is not None else choosing
    try:
        wrong = dict(_wrong_choices(platform.choosing, calls, choosing))
        none = ((each.product.id, PreflightResult()) for each in asked)
        for product_id, each in platform.preflight(calls, asked) if platform.preflight else none:
            fields = wrong.get(product_id, ())
            found[product_id] = replace(each, problems=(*each.problems, *fields))
    except ReauthNeeded as refused:
        problem = field_error("connection", refused.message)
        return {each.product.id: PreflightResult(problems=(problem,)) for each in asked}
    except (Defer, ReleaseJob, MarketplaceUnavailable) as unanswered:
        why = str(unanswered) or "the request has no time left"
        left = [each.product.id for each in asked if each.product.id not in found]
        found.update((product_id, PreflightResult(unchecked=why)) for product_id in left)
    return found


def _wrong_choices(
    choosing: Choosing | None, calls: SellerApiClient, candidates: Sequence[PlannedListing]
) -> Iterator[tuple[str, Sequence[Mapping[str, Any]]]]:
    """Yield the product ids of candidates with the fields of choices that aren't there. Each site's
    choices are read once."""
    ids: dict[str | None, Mapping[str, Any]] = {}
    for each in candidates:
        assert choosing is not None  # else no choice would have been stored
        site = choosing.site_of(each.content)
        try:
            if site not in ids:
                ids[site] = ids_of(choosing.read(calls, site))
        except MarketplaceRefused as refused:
            yield each.product.id, refused.details["fields"]
        else:
            yield each.product.id, problems(choosing, site, each.content.choices, ids[site])
