"""What each action does on eBay, step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, time, timedelta
from functools import partial
from typing import Any, Final

from spinneret.jobs.worker import Defer
from spinneret.kernel import bounds
from spinneret.kernel.clock import parse_stamp, stamp
from spinneret.kernel.errors import InputNeeded
from spinneret.marketplace.ebay import rules
from spinneret.marketplace.ebay.api import PRICE_QUANTITY, EbayApi
from spinneret.marketplace.ebay.preconditions import POLICIES, Preconditions
from spinneret.marketplace.listings.models import ListingState
from spinneret.marketplace.publishing import common
from spinneret.marketplace.publishing.models import Step, Subject
from spinneret.marketplace.publishing.work import Work
from spinneret.marketplace.tasks.models import TaskType

_ITEM: Final = "/sell/inventory/v1/inventory_item/{sku}"


def publish(subject: Subject) -> Sequence[Step]:
    """Validate, preconditions, category, images, inventory item, offer, listing, record."""
    what = common.identity(subject)
    return [
        common.validate(rules.check)(subject),
        *_preparations(subject),
        *_images(subject),
        _step("item", "Create inventory item", "PUT", _ITEM, what, _put_item),
        _step("offer", "Create offer", "POST", "/sell/inventory/v1/offer", what, _make_offer),
        _step(
            "publish",
            "Create listing",
            "POST",
            "/sell/inventory/v1/offer/{offerId}/publish",
            what,
            _publish,
        ),
        common.save(subject, partial(_external, subject), "ebay_id"),
    ]


def update(subject: Subject) -> Sequence[Step]:
    """Bring item and offer of the listing up to the product; what is the same stays untouched.

    A change of price and quantity alone is one call, and so one of the listing's revisions of the
    day; what else changes takes one for the item and one for the offer.
    """
    what = common.identity(subject)
    return [
        common.validate(rules.check)(subject),
        *_preparations(subject),
        *_images(subject),
        _step("stock", "Update price and quantity", "POST", PRICE_QUANTITY, what, _revise_stock),
        _step("item", "Update inventory item", "PUT", _ITEM, what, _revise_item),
        _step(
            "offer",
            "Update offer",
            "PUT",
            "/sell/inventory/v1/offer/{offerId}",
            what,
            _revise_offer,
        ),
        common.save(subject, _known_listing, "ebay_id"),
    ]


def delete(subject: Subject) -> Sequence[Step]:
    """Withdraw the offer; it stays, and a later publish makes another listing of it."""
    generation = subject.listing.generation if subject.listing else 1
    path = "/sell/inventory/v1/offer/{offerId}/withdraw"
    what = {"generation": generation}
    return [
        _step("withdraw", "End listing", "POST", path, what, _withdraw),
        common.forget(subject),
    ]


def sync(subject: Subject) -> Sequence[Step]:  # noqa: ARG001 - every plan takes its subject
    """Look what stands there, adopt it, and report what differs."""
    return [_step("look", "Look up the offer", "GET", "/sell/inventory/v1/offer", {}, _sync)]


def link_product(subject: Subject) -> Sequence[Step]:  # noqa: ARG001 - every plan takes its subject
    """Take the listing of the product's SKU for the product's."""
    return [_step("link", "Look up the offer", "GET", "/sell/inventory/v1/offer", {}, _sync)]


def orders(subject: Subject) -> Sequence[Step]:  # noqa: ARG001 - every plan takes its subject
    """Read orders that changed since the last time."""
    return [_step("orders", "Read orders", "GET", "/sell/fulfillment/v1/order", {}, _orders)]


def message(subject: Subject) -> Sequence[Step]:
    """Send a message: `text`, and a `conversation_id`."""
    path = "/commerce/message/v1/send_message"
    what = {name: subject.given.get(name) for name in ("conversation_id", "text")}
    return [_step("message", "Send message", "POST", path, what, _message)]


def _step(
    key: str, description: str, method: str, path: str, payload: Mapping[str, Any], run: Any
) -> Step:
    return Step(
        key=key,
        type=TaskType.DIRECT_HTTP,
        description=description,
        method=method,
        path=path,
        payload=payload,
        run=run,
    )


def _preparations(subject: Subject) -> list[Step]:
    _, content = subject.sold
    site = rules.site_of(content)
    category = {**common.identity(subject), "category_id": content.category_id}
    category["map_version"] = rules.CATEGORY_MAP_VERSION
    return [
        _step(
            "account",
            "Check policies and location",
            "GET",
            "/sell/account/v1/{kind}_policy",
            {"marketplace_id": site},
            _account,
        ),
        _step(
            "category",
            "Map category and aspects",
            "GET",
            "/commerce/taxonomy/v1/category_tree/{id}/get_item_aspects_for_category",
            category,
            _category,
        ),
    ]


def _images(subject: Subject) -> list[Step]:
    _, content = subject.sold
    total = len(content.images)
    return [
        Step(
            key=f"image-{number}",
            type=TaskType.DIRECT_HTTP,
            description=f"Upload image {number}/{total}",
            method="POST",
            path="/commerce/media/v1_beta/image/create_image_from_url",
            payload={"photo_url": url, "photo_order": number},
            run=partial(_upload, url),
        )
        for number, url in enumerate(content.images, start=1)
    ]


def _api(work: Work) -> EbayApi:
    content = work.subject.content
    locale = rules.locale_of(rules.site_of(content)) if content else "en-US"
    return EbayApi(work.calls, locale)


def _account(work: Work) -> Mapping[str, Any]:
    """Programme, policies and location of the seller: looked up once an hour, so once for a batch.
    Without them every product would fail at its last step."""
    _, content = work.subject.sold
    site = rules.site_of(content)
    kept = work.calls.access.settings.get(site)
    fresh = timedelta(seconds=bounds.PRECONDITIONS_FRESH_SECONDS)
    if kept and parse_stamp(kept["checked_at"]) + fresh > work.clock():
        return {name: kept[name] for name in kept if name != "checked_at"}
    account = Preconditions(_api(work)).account(site)
    if account.missing:
        fields = [dict(each) for each in account.missing]
        raise InputNeeded("the eBay account isn't ready", details={"fields": fields})
    checked = {site: {**account.found, "checked_at": stamp(work.clock())}}
    work.services["settings"](work.subject.tenant, "ebay", checked)
    return account.found


def _category(work: Work) -> Mapping[str, Any]:
    """The leaf category, and whether the product has the aspects that it asks for."""
    _, content = work.subject.sold
    category = Preconditions(_api(work)).category(content)
    if category.missing:
        details = {"fields": [dict(each) for each in category.missing], **category.found}
        raise InputNeeded(category.why, details=details)
    return category.found


def _upload(url: str, work: Work) -> Mapping[str, Any]:
    """A copy at eBay's picture service; one that the product has there is taken again."""
    known = work.listing.images.get(url)
    address = known or _api(work).upload_image(url)
    if known is None:
        work.record(images={**work.listing.images, url: address})
    return {"image_url": address}


def _put_item(work: Work) -> Mapping[str, Any]:
    """Read, merge, write: a PUT replaces all, so what others set there is sent again."""
    product, _ = work.subject.sold
    api = _api(work)
    standing = api.item(product.sku)
    wanted = _wanted_item(work, standing)
    changed = not rules.is_same_item(wanted, standing)
    if changed:
        _count_revision(work)
        api.put_item(product.sku, wanted)
    return {"sku": product.sku, "changed": changed}


def _wanted_item(work: Work, standing: Mapping[str, Any]) -> dict[str, Any]:
    _, content = work.subject.sold
    images = [work.results[f"image-{n}"]["image_url"] for n in range(1, len(content.images) + 1)]
    return rules.item_of(content, images, standing)


def _make_offer(work: Work) -> Mapping[str, Any]:
    """One offer for SKU, marketplace and format: made, or adopted and brought up to the product."""
    product, content = work.subject.sold
    api, site = _api(work), rules.site_of(content)
    work.intend()

    def find() -> Mapping[str, Any] | None:
        standing = api.find_offer(product.sku, site)
        return {"offer_id": str(standing["offerId"])} if standing else None

    wanted = _wanted_offer(work)
    made = work.once("offer", lambda: {"offer_id": api.create_offer(wanted)}, find)
    offer_id = str(made["offer_id"])
    if work.listing.reference != offer_id:
        work.record(reference=offer_id)
    _bring_up(work, offer_id, wanted)
    return {"offer_id": offer_id}


def _wanted_offer(work: Work) -> dict[str, Any]:
    product, content = work.subject.sold
    account = {name: str(value) for name, value in work.results["account"].items()}
    category_id = str(work.results["category"]["category_id"])
    return rules.offer_of(content, product.sku, category_id, account)


def _bring_up(work: Work, offer_id: str, wanted: Mapping[str, Any]) -> bool:
    api = _api(work)
    standing = api.offer(offer_id) or {}
    body = rules.offer_update(wanted, standing)
    if body is not None:
        _count_revision(work)
        api.put_offer(offer_id, body)
    return body is not None


def _publish(work: Work) -> Mapping[str, Any]:
    """The one call that makes a listing. eBay answers a repetition with the same listing."""
    api = _api(work)
    offer_id = str(work.results["offer"]["offer_id"])

    def find() -> Mapping[str, Any] | None:
        listing_id = _listing_of(api.offer(offer_id))
        return {"listing_id": listing_id} if listing_id else None

    made = work.once("publish", lambda: {"listing_id": api.publish(offer_id)}, find)
    return dict(made)


def _listing_of(offer: Mapping[str, Any] | None) -> str | None:
    """The id of the listing that an offer has now."""
    if not offer or offer.get("status") != "PUBLISHED":
        return None
    found = offer.get("listing", {}).get("listingId")
    return str(found) if found else None


def _external(subject: Subject, work: Work) -> tuple[str, str | None]:
    listing_id = str(work.results["publish"]["listing_id"])
    return listing_id, rules.page_of(rules.site_of(subject.sold[1]), listing_id)


def _known_listing(work: Work) -> tuple[str, str | None]:
    listing = common.live(work)
    return str(listing.external_id), listing.url


def _revise_stock(work: Work) -> Mapping[str, Any]:
    """One call for price and quantity, where nothing else differs. A repetition finds what an
    earlier call set, and sends the rest."""
    offer_id, (product, _) = _reference(work), work.subject.sold
    api = _api(work)
    item, offer = api.item(product.sku), api.offer(offer_id) or {}
    wanted = _wanted_item(work, item), _wanted_offer(work)
    update = rules.price_quantity(wanted[0], item, wanted[1], offer)
    if update:
        _count_revision(work)
        api.update_price_quantity(update)
    return {"changed": bool(update), "is_all": update is not None}


def _revise_item(work: Work) -> Mapping[str, Any]:
    common.live(work)
    if work.results["stock"]["is_all"]:
        return {"sku": work.subject.sold[0].sku, "changed": False}
    return _put_item(work)


def _revise_offer(work: Work) -> Mapping[str, Any]:
    offer_id = _reference(work)
    if work.results["stock"]["is_all"]:
        return {"offer_id": offer_id, "changed": False}
    return {"offer_id": offer_id, "changed": _bring_up(work, offer_id, _wanted_offer(work))}


def _reference(work: Work) -> str:
    """The offer of the listing that stands."""
    listing = common.live(work)
    if listing.reference is None:
        raise InputNeeded("the offer isn't known: sync the product")
    return listing.reference


def _count_revision(work: Work) -> None:
    """eBay takes 250 revisions a day for one listing. Several changes that wait become one: an
    update sends the product as it is then, and the next one finds nothing to send. Raises Defer
    until the next day."""
    listing, now = work.listing, work.clock()
    if listing.state is not ListingState.ACTIVE:
        return
    today = now.date().isoformat()
    used = listing.revisions if listing.revised_on == today else 0
    if used >= bounds.LISTING_REVISIONS_PER_DAY:
        tomorrow = datetime.combine(now.date() + timedelta(days=1), time(), now.tzinfo)
        raise Defer(tomorrow, "eBay's revisions of the next day", appointed=True)
    work.record(revised_on=today, revisions=used + 1)


def _withdraw(work: Work) -> Mapping[str, Any]:
    """Only a published offer is withdrawn: a repetition finds it withdrawn."""
    product, content = work.subject.sold
    api, listing = _api(work), work.listing
    if listing.reference is not None:
        offer = api.offer(listing.reference)
    else:
        offer = api.find_offer(product.sku, rules.site_of(content))
    if offer is None or _listing_of(offer) is None:
        return {"withdrawn": False}
    api.withdraw(str(offer["offerId"]))
    return {"withdrawn": True, "listing_id": _listing_of(offer)}


def _sync(work: Work) -> Mapping[str, Any]:
    product, content = work.subject.sold
    site = rules.site_of(content)
    offer = _api(work).find_offer(product.sku, site)
    listing_id, listing = _listing_of(offer), work.listing
    if offer is None or listing_id is None:
        if listing.state is ListingState.ACTIVE:
            common.ended(work, listing, ListingState.ENDED)
        elif listing.version:
            work.record(last_sync_at=work.clock())
        return {"state": "ended" if listing.version else "unknown"}
    price = rules.offer_of(content, product.sku, "", _nothing())["pricingSummary"]["price"]
    drift = common.drift_between(
        {"price": price["value"], "currency": price["currency"], "quantity": content.quantity},
        {
            **_price_of(offer),
            "quantity": offer.get("availableQuantity"),
        },
    )
    work.record(
        state=ListingState.ACTIVE,
        external_id=listing_id,
        reference=str(offer["offerId"]),
        url=rules.page_of(site, listing_id),
        drift=drift,
        last_sync_at=work.clock(),
    )
    return {
        "state": "active",
        "ebay_id": listing_id,
        "drift": [[each.field, each.ours, each.theirs] for each in drift],
    }


def _price_of(offer: Mapping[str, Any]) -> dict[str, Any]:
    price = offer.get("pricingSummary", {}).get("price", {})
    return {"price": price.get("value"), "currency": price.get("currency")}


def _nothing() -> dict[str, str]:
    names = [*(f"{kind}_policy_id" for kind in POLICIES), "location_key"]
    return dict.fromkeys(names, "")


def _orders(work: Work) -> Mapping[str, Any]:
    api, book = _api(work), work.services["orders"]
    now, seen, offset = work.clock(), 0, 0
    since = book.since(work.subject.tenant, "ebay", now)
    while True:
        page = api.orders(since, offset)
        found = page.get("orders", [])
        for order in found:
            for line in order.get("lineItems", []):
                book.sold(
                    work.context.lease,
                    marketplace="ebay",
                    order_id=f"{order['orderId']}",
                    line_id=str(line.get("lineItemId", "")),
                    sku=str(line.get("sku", "")),
                    quantity=int(line.get("quantity", 1)),
                    sold_at=str(order.get("creationDate", "")),
                )
        seen += len(found)
        offset += len(found)
        if not found or offset >= int(page.get("total", 0)):
            break
    book.remember(work.subject.tenant, "ebay", now)
    return {"orders": seen, "looked_again": book.look_again(work.subject.tenant, "ebay")}


def _message(work: Work) -> Mapping[str, Any]:
    subject = work.subject
    text = common.given_text(subject, "text")
    conversation = common.given_text(subject, "conversation_id")
    api = _api(work)

    def find() -> Mapping[str, Any] | None:
        started = work.context.job.started_at
        begun = stamp(started) if started else ""
        for each in api.conversation(conversation):
            if each.get("messageBody") == text and str(each.get("createdDate", "")) >= begun[:19]:
                return {"message_id": str(each.get("messageId", ""))}
        return None

    body = {"messageText": text, "conversationId": conversation}
    return work.once_in_job("message", lambda: {"message_id": api.send_message(body)}, find)
