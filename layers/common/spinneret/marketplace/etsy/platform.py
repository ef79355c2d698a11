"""Etsy's row of the registry."""

from collections.abc import Mapping
from typing import Final

from spinneret.marketplace.connections.models import AccessToken, OAuthApp
from spinneret.marketplace.etsy import plans, rules
from spinneret.marketplace.etsy.choosing import CHOOSING
from spinneret.marketplace.publishing.plans import Platform


def _sign(access: AccessToken) -> Mapping[str, str]:
    """Return the headers of a call. Resources require id and secret of the application; Etsy
    refuses the id alone."""
    key = f"{access.client.client_id}:{access.client.client_secret}"
    return {"Authorization": f"Bearer {access.token}", "x-api-key": key}


ETSY: Final = Platform(
    name="etsy",
    title="Etsy",
    plans={
        "publish": plans.publish,
        "update": plans.update,
        "delete": plans.delete,
        "sync": plans.sync,
        "orders": plans.orders,
        "link_product": plans.link_product,
        "import": plans.import_listings,
    },
    check=rules.check,
    choosing=CHOOSING,
    app=OAuthApp(
        authorize_host="etsy.web",
        authorize_path="/oauth/connect",
        grant_host="etsy.token",
        grant_path="/v3/public/oauth/token",
        scopes=("listings_r", "listings_w", "listings_d", "transactions_r", "shops_r"),
        pkce=True,
        basic=False,
        refresh_days=90,  # from Etsy's documentation; token responses omit it
        sign=_sign,
    ),
    hosts={
        "etsy.api": "https://openapi.etsy.com",
        "etsy.token": "https://api.etsy.com",
        "etsy.web": "https://www.etsy.com",
    },
    unsupported={"message": "Etsy has no interface for messages"},
)
