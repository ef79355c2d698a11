"""Listings that violate eBay's listing policies, from its Compliance API.

A violation doesn't end a listing at once, but it can prevent the seller from revising it. The call
can't filter by listing yet: its description announces `listing_id`, which isn't in use.
"""

from collections.abc import Mapping
from typing import Any, Final

from spinneret.marketplace.ebay.answers import Violation
from spinneret.marketplace.ebay.api import EbayApi
from spinneret.marketplace.refusals import Meaning

# The description of version 1.4 supports these marketplaces only.
SITES: Final = frozenset({"EBAY_AU", "EBAY_CA", "EBAY_DE", "EBAY_GB", "EBAY_US"})

_OTHER: Final = Meaning(
    field="listing", cause="eBay finds a violation", fix="mend it as eBay's message says"
)
_SHORTEN: Final = "take it out of the description"
_ASPECTS: Final = "add it to the product's attributes"

# Meanings of ComplianceDetail.reasonCode, in our words.
_REASONS: Final[Mapping[str, Meaning]] = {
    "MISSING_OR_INVALID_REQUIRED_ASPECTS": Meaning(
        field="attributes", cause="an aspect that the category requires", fix=_ASPECTS
    ),
    "MISSING_OR_INVALID_PREFERRED_ASPECTS": Meaning(
        field="attributes", cause="an aspect that the category recommends", fix=_ASPECTS
    ),
    "MISSING_OR_INVALID_SOON_TO_BE_REQUIRED_ASPECTS": Meaning(
        field="attributes", cause="an aspect that the category will require", fix=_ASPECTS
    ),
    "NON_SECURE_HTTP_LINK_IN_LISTING": Meaning(
        field="description", cause="an address without https", fix="use its https address"
    ),
    "NON_SECURE_HTTP_LINK_IN_PRODUCT": Meaning(
        field="images", cause="an address without https", fix="use its https address"
    ),
    "UNAPPROVED_DOMAIN_WEBLINK_IN_LISTING": Meaning(
        field="description", cause="a link away from eBay", fix=_SHORTEN
    ),
    "PHONE_NUMBER_IN_LISTING": Meaning(
        field="description", cause="a telephone number", fix=_SHORTEN
    ),
    "EMAIL_ADDRESS_IN_LISTING": Meaning(
        field="description", cause="an email address", fix=_SHORTEN
    ),
    "UNSUPPORTED_RETURNS_PERIOD": Meaning(
        field="policy",
        cause="the category requires a longer return period",
        fix="change the return policy in eBay's account settings",
    ),
}


def violations(api: EbayApi, site: str) -> dict[str, list[Mapping[str, Any]]]:
    """Return eBay's violations of the seller's listings on a marketplace, by listing id."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    if site not in SITES:
        return found
    for kind in api.violated_types(site):
        for listing in api.violations(site, kind):
            shown = [_view(kind, each) for each in listing.get("violations", ())]
            found.setdefault(listing["listingId"], []).extend(shown)
    return found


def _view(kind: str, detail: Violation) -> Mapping[str, Any]:
    reason = detail.get("reasonCode", "")
    meaning = _REASONS.get(reason) or _OTHER
    aspects = [each["name"] for each in detail.get("violationData", ()) if "name" in each]
    advice = detail.get("correctiveRecommendations", {}).get("aspectRecommendations", ())
    return {
        "type": kind,
        "reason": reason,
        # The description of complianceState: a violation without a state is out of compliance.
        "state": detail.get("complianceState", "OUT_OF_COMPLIANCE"),
        "field": meaning.field,
        "cause": meaning.cause,
        "fix": meaning.fix,
        "message": detail.get("message", ""),
        "aspects": aspects,
        "suggested": {
            each["localizedAspectName"]: list(each.get("suggestedValues", ())) for each in advice
        },
    }
