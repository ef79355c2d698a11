"""Run a marketplace's preflight for the products of a plan."""

from collections.abc import Mapping, Sequence

from spinneret.jobs.worker import Defer, ReleaseJob
from spinneret.kernel.errors import MarketplaceUnavailable, ReauthNeeded, field_error
from spinneret.marketplace.calls.service import SellerApiClient
from spinneret.marketplace.publishing.models import PlannedListing, PreflightResult
from spinneret.marketplace.publishing.plans import Platform


def run_preflight(
    platform: Platform, calls: SellerApiClient, candidates: Sequence[PlannedListing]
) -> Mapping[str, PreflightResult]:
    """Return the outlooks by product id. If the marketplace doesn't answer, the rest remains
    unchecked, so that a plan always has an answer. Raises DependencyUnavailable."""
    found: dict[str, PreflightResult] = {}
    if platform.outlooks is None:
        return found
    try:
        found.update(platform.outlooks(calls, candidates))
    except ReauthNeeded as refused:
        problem = field_error("connection", refused.message)
        return {each.product.id: PreflightResult(problems=(problem,)) for each in candidates}
    except (Defer, ReleaseJob, MarketplaceUnavailable) as unanswered:
        why = str(unanswered) or "the request has no time left"
        left = [each.product.id for each in candidates if each.product.id not in found]
        found.update((product_id, PreflightResult(unchecked=why)) for product_id in left)
    return found
