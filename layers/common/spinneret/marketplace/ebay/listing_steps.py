"""Steps that create, revise and end a listing on eBay. Each looks before it acts."""

from collections.abc import Mapping
from datetime import datetime, time, timedelta
from typing import Any

from spinneret.jobs.worker import Defer
from spinneret.kernel.clock import to_iso
from spinneret.kernel.errors import (
    Conflict,
    InputNeeded,
    MarketplaceRefused,
    MarketplaceUnsettled,
)
from spinneret.marketplace import limits
from spinneret.marketplace.ebay import rules
from spinneret.marketplace.ebay.api import EbayApi
from spinneret.marketplace.ebay.choosing import CHOOSING, KEYS
from spinneret.marketplace.ebay.preconditions import Preconditions
from spinneret.marketplace.listings.models import Listing, ListingState
from spinneret.marketplace.publishing import common
from spinneret.marketplace.publishing.choices import require_choices
from spinneret.marketplace.publishing.models import JobSubject
from spinneret.marketplace.publishing.work import StepContext


def api_of(work: StepContext) -> EbayApi:
    """Return the client in the language of the product's marketplace."""
    content = work.subject.content
    locale = rules.locale_of(rules.site_of(content)) if content else "en-US"
    return EbayApi(calls=work.calls, locale=locale)


def account(work: StepContext) -> Mapping[str, Any]:
    """Return policies and location of the seller: the chosen ones, or else the first ones. Raises
    InputNeeded if one is missing, or if the seller hasn't joined the programme.

    They are looked up once an hour, so once for a batch: without them every product would fail at
    its last step. After a missing one, and for a retry, that is once a minute: the seller may have
    changed them just now.
    """
    _, content = work.subject.sold
    site = rules.site_of(content)
    kept = common.fresh(work, site)
    if kept is None:
        account = Preconditions(api=api_of(work)).account(site)
        fields = [dict(each) for each in account.missing]
        kept = {**account.found, "missing": fields, "checked_at": to_iso(work.clock())}
        work.calls.remember({site: kept})
    if missing := kept.get("missing"):
        details = {"fields": missing, "checked_at": kept["checked_at"]}
        raise InputNeeded("the eBay account isn't ready", details=details)
    chosen = {KEYS[name]: each for name, each in require_choices(work, CHOOSING).items()}
    first = {name: kept[name] for name in kept if name not in ("checked_at", "missing")}
    return {**first, **chosen}


def category(work: StepContext) -> Mapping[str, Any]:
    """Return the leaf category. Raises InputNeeded if the product lacks aspects that it
    requires."""
    _, content = work.subject.sold
    category = Preconditions(api=api_of(work)).category(content)
    if category.missing:
        details = {"fields": [dict(each) for each in category.missing], **category.found}
        raise InputNeeded(category.why, details=details)
    return category.found


def upload(url: str, _: int, work: StepContext) -> Mapping[str, Any]:
    """Return the copy at eBay's picture service; upload the image unless the product has a copy."""
    known = work.listing.images.get(url)
    address = known or api_of(work).upload_image(url)
    if known is None:
        work.record_image(url, address)
    return {"image_url": address}


def put_item(work: StepContext) -> Mapping[str, Any]:
    """Read, merge and write the item. A PUT replaces everything, so fields set by others are
    resent."""
    product, _ = work.subject.sold
    api = api_of(work)
    standing = api.item(product.sku)
    wanted = _wanted_item(work, standing)
    changed = not rules.is_same_item(wanted, standing)
    if changed:
        _count_revision(work)
        api.put_item(product.sku, wanted)
    return {"sku": product.sku, "changed": changed}


def _wanted_item(work: StepContext, standing: Mapping[str, Any]) -> dict[str, Any]:
    _, content = work.subject.sold
    return rules.item_of(content, common.copies(work, "image_url"), standing)


def make_offer(work: StepContext) -> Mapping[str, Any]:
    """Create the offer of SKU, marketplace and format, or adopt it and update it to the product."""
    product, content = work.subject.sold
    api, site = api_of(work), rules.site_of(content)
    wanted, listing = _wanted_offer(work), work.record_intent()
    if listing.external_id is not None and listing.reference is not None:
        _update_offer(work, listing.reference, wanted)
        return {"offer_id": listing.reference}

    def find() -> Mapping[str, Any] | None:
        standing = api.find_offer(product.sku, site)
        return {"offer_id": str(standing["offerId"])} if standing else None

    made = work.once("offer", lambda: {"offer_id": api.create_offer(wanted)}, find)
    offer_id = str(made["offer_id"])
    if work.listing.reference != offer_id:
        work.record(reference=offer_id)
    _update_offer(work, offer_id, wanted)
    return {"offer_id": offer_id}


def _wanted_offer(work: StepContext) -> dict[str, Any]:
    product, content = work.subject.sold
    account = {name: str(value) for name, value in work.results["account"].items()}
    category_id = str(work.results["category"]["category_id"])
    return rules.offer_of(content, product.sku, category_id, account)


def _update_offer(work: StepContext, offer_id: str, wanted: Mapping[str, Any]) -> bool:
    api = api_of(work)
    standing = api.offer(offer_id) or {}
    site = standing.get("marketplaceId", wanted["marketplaceId"])
    if site != wanted["marketplaceId"]:
        raise InputNeeded.of_field(
            "marketplace_id",
            f"is listed on {site}",
            error=f"it is listed on {site}, and a listing can't move to {wanted['marketplaceId']}:"
            " delete it there first",
        )
    body = rules.offer_update(wanted, standing)
    if body is not None:
        _count_revision(work)
        api.put_offer(offer_id, body)
    return body is not None


def publish(work: StepContext) -> Mapping[str, Any]:
    """Publish the offer, the only call that creates a listing. eBay answers a repetition with the
    same listing."""
    api = api_of(work)
    offer_id = str(work.results["offer"]["offer_id"])

    def find() -> Mapping[str, Any] | None:
        listing_id = listing_of(api.offer(offer_id))
        return {"listing_id": listing_id} if listing_id else None

    if work.current_listing() is not None:
        found = find()
        if found is None:
            common.await_visible(work)
            raise InputNeeded("the listing has ended there: sync the product, then publish it")
        return found

    try:
        made = work.once("publish", lambda: {"listing_id": api.publish(offer_id)}, find)
    except (MarketplaceRefused, MarketplaceUnsettled) as refused:
        common.forget_refused_images(work, refused)
        raise
    return dict(made)


def listing_of(offer: Mapping[str, Any] | None) -> str | None:
    """Return the id of the offer's current listing, or None."""
    if not offer or offer.get("status") != "PUBLISHED":
        return None
    found = offer.get("listing", {}).get("listingId")
    return str(found) if found else None


def external(subject: JobSubject, work: StepContext) -> tuple[str, str | None]:
    """Return id and page of the listing that was just created."""
    listing_id = str(work.results["publish"]["listing_id"])
    return listing_id, rules.page_of(rules.site_of(subject.sold[1]), listing_id)


def revise_stock(work: StepContext) -> Mapping[str, Any]:
    """Update price and quantity in one call if nothing else differs. A repetition reads what an
    earlier call set, and sends the rest."""
    offer_id, (product, _) = _reference(work), work.subject.sold
    api = api_of(work)
    item, offer = api.item(product.sku), api.offer(offer_id) or {}
    if listing_of(offer) is None:
        common.await_visible(work)
        raise Conflict("the listing has ended there: sync the product, then publish it")
    wanted = _wanted_item(work, item), _wanted_offer(work)
    update = rules.price_quantity(wanted[0], item, wanted[1], offer)
    if update:
        _count_revision(work)
        api.update_price_quantity(update)
    return {"changed": bool(update), "is_all": update is not None}


def revise_item(work: StepContext) -> Mapping[str, Any]:
    """Update the whole item if more than price and quantity differs."""
    common.live(work)
    if work.results["stock"]["is_all"]:
        return {"sku": work.subject.sold[0].sku, "changed": False}
    return put_item(work)


def revise_offer(work: StepContext) -> Mapping[str, Any]:
    """Update the whole offer if more than price and quantity differs."""
    offer_id = _reference(work)
    if work.results["stock"]["is_all"]:
        return {"offer_id": offer_id, "changed": False}
    return {"offer_id": offer_id, "changed": _update_offer(work, offer_id, _wanted_offer(work))}


def _reference(work: StepContext) -> str:
    """Return the offer id of the live listing. Raises InputNeeded if it isn't known."""
    listing = common.live(work)
    if listing.reference is None:
        raise InputNeeded("the offer isn't known: sync the product")
    return listing.reference


def _count_revision(work: StepContext) -> None:
    """Count a revision, of which eBay accepts 250 a day for one listing. Raises Defer until the
    next day.

    Several waiting changes become one: an update sends the product's current content, and the next
    update finds nothing to send.
    """
    listing, now = work.listing, work.clock()
    if listing.state is not ListingState.ACTIVE:
        return
    today = now.date().isoformat()
    used = listing.revisions if listing.revised_on == today else 0
    if used >= limits.LISTING_REVISIONS_PER_DAY:
        tomorrow = datetime.combine(now.date() + timedelta(days=1), time(), now.tzinfo)
        raise Defer(tomorrow, "eBay's revision limit of the next day", appointed=True)
    work.record(revised_on=today, revisions=used + 1)


def withdraw(work: StepContext) -> Mapping[str, Any]:
    """End the listing by withdrawing its published offer; a repetition finds it withdrawn."""
    product, _ = work.subject.sold
    api, listing = api_of(work), work.listing
    offer = standing_offer(api, listing, product.sku)
    listing_id = listing_of(offer)
    if offer is None or listing_id is None:
        common.await_visible(work)
        return {"withdrawn": False, "on_record": listing.external_id}
    api.withdraw(str(offer["offerId"]))
    return {"withdrawn": True, "listing_id": listing_id, "on_record": listing.external_id}


def standing_offer(api: EbayApi, listing: Listing, sku: str) -> dict[str, Any] | None:
    """Return the offer of the listing on record, or else the SKU's published one, since the product
    may have moved to another site. The offer on record may be of an SKU that the product had."""
    offer = api.offer(listing.reference) if listing.reference is not None else None
    is_its = offer is not None and offer.get("sku") == sku and listing_of(offer) is not None
    return offer if is_its else api.published_offer(sku)
