"""Steps of each action on Etsy."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from spinneret.kernel.canonical import fingerprint
from spinneret.kernel.clock import to_iso
from spinneret.kernel.errors import Conflict, InputNeeded, MarketplaceUnavailable, field_error
from spinneret.marketplace.etsy import drafts, reading, rules
from spinneret.marketplace.etsy.api import EtsyApi
from spinneret.marketplace.etsy.choosing import CHOOSING, shop_of
from spinneret.marketplace.etsy.drafts import ACCOUNT, api_of
from spinneret.marketplace.etsy.importing import read_page
from spinneret.marketplace.listings.rules import require_no_other
from spinneret.marketplace.products.models import ProductContent
from spinneret.marketplace.publishing import common
from spinneret.marketplace.publishing.choices import require_choices
from spinneret.marketplace.publishing.importing import import_steps
from spinneret.marketplace.publishing.models import JobSubject
from spinneret.marketplace.publishing.plans import PlanStep, step
from spinneret.marketplace.publishing.work import StepContext
from spinneret.marketplace.tasks.models import TaskType

_SHOP: Final = "/v3/application/shops/{shop_id}"
_OF_SHOP: Final = f"{_SHOP}/listings/{{id}}"
_LISTING: Final = "/v3/application/listings/{listing_id}"


def publish(subject: JobSubject) -> Sequence[PlanStep]:
    """Return the steps: validation, account, draft, images one by one, image order, inventory,
    activation, record."""
    what = common.identity(subject)
    return [
        common.validate(rules.check)(subject),
        _account_step(subject.content),
        step("draft", "Create draft", "POST", f"{_SHOP}/listings", what, _make_draft, of_run=True),
        *_images(subject),
        *_contents(what),
        step("activate", "Publish listing", "PATCH", _OF_SHOP, what, _activate),
        common.save(subject, _external, "etsy_id"),
    ]


def update(subject: JobSubject) -> Sequence[PlanStep]:
    """Return the steps that update fields, images and inventory of the listing."""
    what = common.identity(subject)
    return [
        common.validate(rules.check)(subject),
        _account_step(subject.content),
        step("draft", "Update listing", "PATCH", _OF_SHOP, what, _change, of_run=True),
        *_images(subject),
        *_contents(what),
        common.save(subject, _external, "etsy_id"),
    ]


def delete(subject: JobSubject) -> Sequence[PlanStep]:
    """Return the steps that delete the listing."""
    what = {"generation": subject.generation}
    return [
        _account_step(),
        step("delete", "Delete listing", "DELETE", _LISTING, what, _delete),
        common.forget(subject, "delete", reference=None),
    ]


def sync(subject: JobSubject) -> Sequence[PlanStep]:  # noqa: ARG001 - every plan takes its subject
    """Return the steps that look up the listing, adopt it and report differences."""
    return [
        _account_step(),
        step("look", "Look up the listing", "GET", _LISTING, {}, reading.sync),
    ]


def link_product(subject: JobSubject) -> Sequence[PlanStep]:
    """Return the steps that link the listing `external_id` to the product; null means that there is
    none."""
    what = {"external_id": subject.given.get("external_id")}
    return [
        _account_step(),
        step("link", "Look up the listing", "GET", _LISTING, what, reading.link),
    ]


def orders(subject: JobSubject) -> Sequence[PlanStep]:  # noqa: ARG001 - every plan takes its subject
    """Return the steps that read orders changed since the last time."""
    return [
        _account_step(),
        step("orders", "Read orders", "GET", f"{_SHOP}/receipts", {}, reading.orders),
    ]


def import_listings(subject: JobSubject) -> Sequence[PlanStep]:
    """Return the steps that read the shop's listings and match them with products."""
    path = f"{_SHOP}/listings"
    return [
        _account_step(),
        *import_steps(
            subject, path, lambda work, after: read_page(api_of(work), after), needs_sku=False
        ),
    ]


def _account_step(content: ProductContent | None = None) -> PlanStep:
    """Return the step that looks up the shop; with content to list, also the seller's choices."""
    path = f"{_SHOP}/shipping-profiles"

    def run(work: StepContext) -> Mapping[str, Any]:
        if content is not None:
            require_choices(work, CHOOSING)
        account = _account(work)
        if content is not None and account.get("currency") not in (None, content.currency):
            raise InputNeeded.of_field(  # Etsy's prices are numbers of the shop's currency
                "currency",
                f"the shop sells in {account['currency']}",
                "give the product its price in the shop's currency",
            )
        return account

    what = common.chosen(content)
    return step(ACCOUNT, "Check shop and profiles", "GET", path, what, run, of_run=True)


def _images(subject: JobSubject) -> list[PlanStep]:
    """Return one step per image, run one at a time: Etsy mixes up ranks of overlapping uploads."""
    path, via = f"{_OF_SHOP}/images", TaskType.FILE_OPERATION
    return common.image_steps(subject, path, _upload, via, generation=subject.generation)


def _contents(what: Mapping[str, Any]) -> list[PlanStep]:
    path = f"{_LISTING}/inventory"
    return [
        step("order", "Set and verify image order", "PATCH", _OF_SHOP, what, _order, of_run=True),
        step("inventory", "Set inventory", "PUT", path, what, _inventory, of_run=True),
    ]


def _account(work: StepContext) -> Mapping[str, Any]:
    """Return shop, shipping profile and processing profile, looked up once an hour. Raises
    InputNeeded if a profile is missing."""
    if (kept := common.fresh(work, "shop")) is not None:
        return {name: kept[name] for name in kept if name != "checked_at"}
    shop = shop_of(work.calls)
    shop_id = shop["shop_id"]
    api = EtsyApi(work.calls, shop_id)
    profiles, states = api.shipping_profiles(), api.readiness_states()
    missing = []
    if not profiles:
        missing.append(field_error("shipping_profile", "create a shipping profile"))
    if not states:
        missing.append(field_error("readiness_state", "create a processing profile"))
    if missing:
        raise InputNeeded("the Etsy shop isn't ready", details={"fields": missing})
    found = {
        "shop_id": shop_id,
        "shipping_profile_id": profiles[0]["shipping_profile_id"],
        "readiness_state_id": states[0],
        "currency": shop.get("currency_code"),
    }
    checked = {"shop": {**found, "checked_at": to_iso(work.clock())}}
    work.calls.remember(checked, shop_id)
    return found


def _make_draft(work: StepContext) -> Mapping[str, Any]:
    return {"listing_id": drafts.make(work)}


def _upload(url: str, number: int, work: StepContext) -> Mapping[str, Any]:
    _, content = work.subject.sold
    api, listing_id = api_of(work), _listing_id(work)
    alt_text = rules.alt_text(content, number)
    known = work.listing.images.get(url)
    if known is not None:
        return {"image_id": known}
    body, media_type = work.services.images(url)

    def find() -> Mapping[str, Any] | None:
        taken = set(work.listing.images.values())
        for image in api.images(listing_id):
            image_id = image["listing_image_id"]
            if image.get("alt_text") == alt_text and image_id not in taken:
                return {"image_id": image_id}
        return None

    made_now = []

    def perform() -> Mapping[str, Any]:
        made_now.append(api.upload(listing_id, body, media_type, number, alt_text))
        return {"image_id": made_now[0]}

    name = [listing_id, url]
    while True:
        image_id = str(work.once(f"image/{fingerprint(name)}", perform, find)["image_id"])
        if made_now or image_id in _shown(api, listing_id):
            break
        name.append(image_id)  # that copy was removed since
    work.record_image(url, image_id)
    return {"image_id": image_id}


def _order(work: StepContext) -> Mapping[str, Any]:
    """Set the image order as a whole and verify it, because Etsy sometimes ignores ranks."""
    api, listing_id = api_of(work), _listing_id(work)
    wanted = common.copies(work, "image_id")
    if _shown(api, listing_id) != wanted:
        api.change(listing_id, {"image_ids": wanted}, "images")
        if (shown := _shown(api, listing_id)) != wanted:
            copies = work.listing.images  # the next try uploads copies that were removed there
            work.record(images={url: copy for url, copy in copies.items() if copy in shown})
            raise MarketplaceUnavailable(
                "Etsy shows the images in another order", details={"shown": shown}
            )
    kept = {url: image for url, image in work.listing.images.items() if image in wanted}
    if kept != work.listing.images:
        work.record(images=kept)
    return {"image_ids": wanted}


def _shown(api: EtsyApi, listing_id: str) -> list[str]:
    return [image["listing_image_id"] for image in api.images(listing_id)]


def _inventory(work: StepContext) -> Mapping[str, Any]:
    """Update the whole product set. Raises InputNeeded for a listing with variations, since Etsy
    would delete them: a PUT wipes what it doesn't contain."""
    product, content = work.subject.sold
    api, listing_id = api_of(work), _listing_id(work)
    standing = api.inventory(listing_id)
    if len(standing) > 1:
        raise common.varied(listing_id)
    readiness = int(work.results[ACCOUNT]["readiness_state_id"])
    wanted = rules.inventory_of(content, product.sku, readiness)
    changed = not rules.is_same_inventory(wanted, standing)
    if changed:
        api.put_inventory(listing_id, wanted)
    return {"changed": changed}


def _activate(work: StepContext) -> Mapping[str, Any]:
    """Publish the draft, unless the product has another listing by now."""
    api, listing_id = api_of(work), _listing_id(work)
    require_no_other(drafts.standing_id(work.listing), listing_id)
    standing = api.listing(listing_id)
    if standing is None:
        common.await_visible(work)
        raise InputNeeded("the draft is gone: publish again", details={"listing_id": listing_id})
    if standing["state"] != "active":
        standing = api.change(listing_id, {"state": "active"}, "listing")
    return {"listing_id": listing_id, "url": standing.get("url") or _page(listing_id)}


def _change(work: StepContext) -> Mapping[str, Any]:
    listing_id = str(common.live(work).external_id)
    shown = drafts.standing(work, listing_id)
    if shown["state"] != "active":
        raise Conflict(f"the listing is {shown['state']} there: publish the product to renew it")
    return {"listing_id": listing_id, "changed": drafts.update_draft(work, shown)}


def _listing_id(work: StepContext) -> str:
    return str(work.results["draft"]["listing_id"])


def _external(work: StepContext) -> tuple[str, str | None]:
    shown = work.results.get("activate", {}).get("url") or work.listing.url
    return _listing_id(work), shown


def _page(listing_id: str) -> str:
    return f"https://www.etsy.com/listing/{listing_id}"


def _delete(work: StepContext) -> Mapping[str, Any]:
    listing, api = drafts.known(work), api_of(work)
    listing_id = drafts.standing_id(listing)
    if listing_id is None:
        return {"deleted": False, "on_record": None}
    deleted = api.delete(listing_id)
    if not deleted:
        common.await_visible(work)
    return {"deleted": deleted, "listing_id": listing_id, "on_record": listing.external_id}
