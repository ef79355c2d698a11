"""Choices of a seller on eBay: policies of a site, and the location of the stock."""

from collections.abc import Mapping
from typing import Final

from spinneret.marketplace.calls.service import SellerApiClient
from spinneret.marketplace.ebay import rules
from spinneret.marketplace.ebay.api import EbayApi
from spinneret.marketplace.ebay.preconditions import POLICIES
from spinneret.marketplace.publishing.choices import Choosing, Options

_LOCATION: Final = "location"
KEYS: Final[Mapping[str, str]] = {
    **{f"{kind}_policy": f"{kind}_policy_id" for kind in POLICIES},
    _LOCATION: "location_key",
}
"""Name of a choice → its name among the facts of the account."""


def _read(calls: SellerApiClient, site: str | None) -> Options:
    api = EbayApi(calls=calls, locale="en-US")
    wanted = site or rules.SITES[0]
    policies = {f"{kind}_policy": api.policies(kind, wanted) for kind in POLICIES}
    return {**policies, _LOCATION: api.locations()}


CHOOSING: Final = Choosing(
    names={
        "payment_policy": "payment policy",
        "fulfillment_policy": "fulfilment policy",
        "return_policy": "return policy",
        _LOCATION: "enabled inventory location",
    },
    read=_read,
    site_of=rules.site_of,
    sites=rules.SITES,
)
