"""Asks a marketplace about the products of a plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spinneret.jobs.worker import Defer, HandBack
from spinneret.kernel.errors import MarketplaceUnavailable, ReauthNeeded
from spinneret.marketplace.calls.service import MarketCalls
from spinneret.marketplace.publishing.models import Candidate, Outlook, Platform


def gathered(
    platform: Platform, calls: MarketCalls, candidates: Sequence[Candidate]
) -> Mapping[str, Outlook]:
    """The outlooks by product id. A marketplace that doesn't answer leaves the rest unchecked: a
    plan has an answer all the same. Raises DependencyUnavailable."""
    found: dict[str, Outlook] = {}
    if platform.outlooks is None:
        return found
    try:
        found.update(platform.outlooks(calls, candidates))
    except ReauthNeeded as refused:
        problem = {"field": "connection", "message": refused.message}
        return {each.product.id: Outlook(problems=(problem,)) for each in candidates}
    except (Defer, HandBack, MarketplaceUnavailable) as unanswered:
        why = str(unanswered) or "the request has no time left"
        left = [each.product.id for each in candidates if each.product.id not in found]
        found.update((product_id, Outlook(unchecked=why)) for product_id in left)
    return found
