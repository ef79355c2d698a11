"""eBay's preflight checks before anything is written: preconditions, fees, compliance."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from spinneret.kernel.errors import MarketplaceRefused
from spinneret.kernel.service import service
from spinneret.marketplace.calls.service import SellerApiClient
from spinneret.marketplace.ebay import compliance, rules
from spinneret.marketplace.ebay.api import EbayApi
from spinneret.marketplace.ebay.preconditions import Preconditions
from spinneret.marketplace.listings.models import Listing, ListingState
from spinneret.marketplace.publishing.models import PlannedListing, PreflightResult


def preflight(
    calls: SellerApiClient, candidates: Sequence[PlannedListing]
) -> Iterator[tuple[str, PreflightResult]]:
    """Yield one result per candidate. Shared facts are requested once; every call only reads."""
    seller = _Seller(api=EbayApi(calls=calls, locale="en-US"))
    for each in candidates:
        try:
            result = seller.result(each)
        except MarketplaceRefused as refused:
            result = PreflightResult(problems=tuple(refused.details["fields"]))
        yield each.product.id, result


@service
class _Seller:
    api: EbayApi

    def __post_init__(self) -> None:
        self._preconditions = Preconditions(api=self.api)
        self._violations: dict[str, Mapping[str, Sequence[Mapping[str, Any]]]] = {}

    def result(self, candidate: PlannedListing) -> PreflightResult:
        content = candidate.content
        site = rules.site_of(content)
        account = self._preconditions.account(site)
        category = self._preconditions.category(content)
        return PreflightResult(
            problems=(*account.missing, *category.missing),
            fees=tuple(self._fees(candidate.listing)),
            violations=tuple(self._against(site, candidate.listing)),
        )

    def _fees(self, listing: Listing | None) -> Sequence[Mapping[str, Any]]:
        """Return the fees of an offer that isn't published yet; eBay reports no others."""
        if listing is None or listing.reference is None or listing.state is ListingState.ACTIVE:
            return []
        return self.api.fees(listing.reference)

    def _against(self, site: str, listing: Listing | None) -> Sequence[Mapping[str, Any]]:
        if listing is None or listing.external_id is None:
            return []
        if site not in self._violations:
            self._violations[site] = compliance.violations(self.api, site)
        return self._violations[site].get(listing.external_id, ())
