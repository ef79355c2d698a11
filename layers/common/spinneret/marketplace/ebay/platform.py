"""eBay's row of the registry."""

from collections.abc import Mapping
from typing import Final

from spinneret.marketplace.connections.models import AccessToken, OAuthApp
from spinneret.marketplace.ebay import plans, rules
from spinneret.marketplace.ebay.choosing import CHOOSING
from spinneret.marketplace.ebay.preflight import preflight
from spinneret.marketplace.publishing.plans import Platform


def _sign(access: AccessToken) -> Mapping[str, str]:
    return {"Authorization": f"Bearer {access.token}"}


EBAY: Final = Platform(
    name="ebay",
    title="eBay",
    plans={
        "publish": plans.publish,
        "update": plans.update,
        "delete": plans.delete,
        "sync": plans.sync,
        "orders": plans.orders,
        "message": plans.message,
        "link_product": plans.link_product,
        "import": plans.import_listings,
    },
    check=rules.check,
    preflight=preflight,
    choosing=CHOOSING,
    app=OAuthApp(
        authorize_host="ebay.auth",
        authorize_path="/oauth2/authorize",
        grant_host="ebay.api",
        grant_path="/identity/v1/oauth2/token",
        scopes=(
            "https://api.ebay.com/oauth/api_scope/sell.inventory",
            "https://api.ebay.com/oauth/api_scope/sell.account.readonly",
            "https://api.ebay.com/oauth/api_scope/sell.fulfillment.readonly",
            "https://api.ebay.com/oauth/api_scope/commerce.message",
        ),
        pkce=False,
        basic=True,
        refresh_days=547,  # eBay: 47,304,000 s
        sign=_sign,
        revoke_path="/identity/v1/oauth2/revoke",
        # Taxonomy accepts only the application's token: its description has no other flow.
        application_scope="https://api.ebay.com/oauth/api_scope",
    ),
    hosts={
        "ebay.api": "https://api.ebay.com",
        "ebay.media": "https://apim.ebay.com",
        "ebay.auth": "https://auth.ebay.com",
    },
)
