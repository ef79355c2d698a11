"""Steps of each action on eBay."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from spinneret.marketplace.ebay import listing_steps as steps
from spinneret.marketplace.ebay import reading, rules
from spinneret.marketplace.ebay.api import PRICE_QUANTITY
from spinneret.marketplace.ebay.importing import read_page
from spinneret.marketplace.publishing import common
from spinneret.marketplace.publishing.importing import import_steps
from spinneret.marketplace.publishing.models import JobSubject
from spinneret.marketplace.publishing.plans import PlanStep, step
from spinneret.marketplace.tasks.models import TaskType

_ITEM: Final = "/sell/inventory/v1/inventory_item/{sku}"
_OFFERS: Final = "/sell/inventory/v1/offer"
_OFFER: Final = f"{_OFFERS}/{{offerId}}"
_STOCK: Final = "Update price and quantity"


def publish(subject: JobSubject) -> Sequence[PlanStep]:
    """Return the steps: validation, preconditions, category, images, inventory item, offer,
    listing, record."""
    what = common.identity(subject)
    return [
        common.validate(rules.check)(subject),
        *_preparations(subject),
        *_images(subject),
        # Again in each run: the item has the copies of the images, the offer the policies.
        step("item", "Create inventory item", "PUT", _ITEM, what, steps.put_item, of_run=True),
        step("offer", "Create offer", "POST", _OFFERS, what, steps.make_offer, of_run=True),
        step("publish", "Create listing", "POST", f"{_OFFER}/publish", what, steps.publish),
        common.save(subject, partial(steps.external, subject), "ebay_id"),
    ]


def update(subject: JobSubject) -> Sequence[PlanStep]:
    """Return the steps that update item and offer of the listing; unchanged ones aren't sent.

    A change of price and quantity alone takes one call, and so one of the listing's daily
    revisions. Other changes take one call for the item and one for the offer.
    """
    what = common.identity(subject)
    return [
        common.validate(rules.check)(subject),
        *_preparations(subject),
        *_images(subject),
        step("stock", _STOCK, "POST", PRICE_QUANTITY, what, steps.revise_stock, of_run=True),
        step("item", "Update inventory item", "PUT", _ITEM, what, steps.revise_item, of_run=True),
        step("offer", "Update offer", "PUT", _OFFER, what, steps.revise_offer, of_run=True),
        common.save(subject, common.live_page, "ebay_id"),
    ]


def delete(subject: JobSubject) -> Sequence[PlanStep]:
    """Return the steps that withdraw the offer. It stays, and a later publish creates another
    listing from it."""
    what = {"generation": subject.generation}
    return [
        step("withdraw", "End listing", "POST", f"{_OFFER}/withdraw", what, steps.withdraw),
        common.forget(subject, "withdraw"),
    ]


def sync(subject: JobSubject) -> Sequence[PlanStep]:  # noqa: ARG001 - every plan takes its subject
    """Return the step that looks up the listing, adopts it and reports differences."""
    return [step("look", "Look up the offer", "GET", _OFFERS, {}, reading.sync)]


def link_product(subject: JobSubject) -> Sequence[PlanStep]:
    """Return the step that links the listing `external_id`, or the only one of the product's SKU,
    to the product; null means that there is none."""
    what = {"external_id": subject.given.get("external_id")}
    return [step("link", "Look up the offer", "GET", _OFFERS, what, reading.link)]


def orders(subject: JobSubject) -> Sequence[PlanStep]:  # noqa: ARG001 - every plan takes its subject
    """Return the step that reads orders changed since the last time."""
    return [step("orders", "Read orders", "GET", "/sell/fulfillment/v1/order", {}, reading.orders)]


def import_listings(subject: JobSubject) -> Sequence[PlanStep]:
    """Return the steps that read the seller's inventory and match it with products. eBay finds
    offers by SKU only."""
    path = "/sell/inventory/v1/inventory_item"
    return import_steps(subject, path, read_page, needs_sku=True)


def message(subject: JobSubject) -> Sequence[PlanStep]:
    """Return the step that sends a message; needs `text` and `conversation_id`."""
    path = "/commerce/message/v1/send_message"
    what = {name: subject.given.get(name) for name in ("conversation_id", "text")}
    return [step("message", "Send message", "POST", path, what, reading.message)]


def _preparations(subject: JobSubject) -> list[PlanStep]:
    _, content = subject.sold
    site = rules.site_of(content)
    category = {**common.identity(subject), "category_id": content.category_id}
    category["map_version"] = rules.CATEGORY_MAP_VERSION
    return [
        step(
            "account",
            "Check policies and location",
            "GET",
            "/sell/account/v1/{kind}_policy",
            {"marketplace_id": site, **common.chosen(content)},
            steps.account,
            of_run=True,
        ),
        step(
            "category",
            "Map category and aspects",
            "GET",
            "/commerce/taxonomy/v1/category_tree/{id}/get_item_aspects_for_category",
            category,
            steps.category,
        ),
    ]


def _images(subject: JobSubject) -> list[PlanStep]:
    path = "/commerce/media/v1_beta/image/create_image_from_url"
    return common.image_steps(subject, path, steps.upload, TaskType.DIRECT_HTTP)
