"""Vinted's row of the registry."""

from typing import Final

from spinneret.marketplace.publishing.plans import Platform
from spinneret.marketplace.vinted import plans, rules

VINTED: Final = Platform(
    name="vinted",
    title="Vinted",
    plans={
        "publish": plans.publish,
        "update": plans.update,
        "delete": plans.delete,
        "sync": plans.sync,
        "link_product": plans.link_product,
    },
    check=rules.check,
    by_plugin=True,
    unsupported={
        "orders": "the plug-in reads no orders",
        "message": "the plug-in sends no messages",
        "import": "the plug-in reads single items only: link them with link_product",
    },
)
