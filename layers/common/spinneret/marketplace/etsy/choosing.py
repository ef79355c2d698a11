"""Choices of a seller on Etsy: shipping profile, return policy and shop section."""

from typing import Final

from spinneret.marketplace.calls.service import SellerApiClient
from spinneret.marketplace.etsy import rules
from spinneret.marketplace.etsy.answers import Shop
from spinneret.marketplace.etsy.api import EtsyApi
from spinneret.marketplace.publishing.choices import Choosing, Option, Options


def shop_of(calls: SellerApiClient) -> Shop:
    """Return the seller's shop, looked up."""
    user_id = calls.access.token.partition(".")[0]  # Etsy's tokens begin with the user id
    return EtsyApi(calls).shop_of(user_id)


def _read(calls: SellerApiClient, _: str | None) -> Options:
    kept = calls.access.settings.get("shop")
    api = EtsyApi(calls, kept["shop_id"] if kept else shop_of(calls)["shop_id"])
    return {
        "shipping_profile": [
            _option(each["shipping_profile_id"], each.get("title"))
            for each in api.shipping_profiles()
        ],
        "return_policy": [
            _option(each["return_policy_id"], rules.policy_text(each))
            for each in api.return_policies()
        ],
        "shop_section": [
            _option(each["shop_section_id"], each.get("title")) for each in api.sections()
        ],
    }


def _option(number: int, title: str | None) -> Option:
    return Option(id=str(number), title=title or str(number))


CHOOSING: Final = Choosing(
    names={
        "shipping_profile": "shipping profile",
        "return_policy": "return policy",
        "shop_section": "shop section",
    },
    read=_read,
)
