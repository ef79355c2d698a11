"""Map a product to Etsy's terms. Pure."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from html import unescape
from typing import Any, Final
from unicodedata import category

from spinneret.kernel.errors import field_error
from spinneret.kernel.unicode import composed
from spinneret.marketplace.etsy.answers import InventoryProduct, Money, ReturnPolicy, ShopListing
from spinneret.marketplace.imports.rules import title_key
from spinneret.marketplace.markup import plain_text
from spinneret.marketplace.money import CURRENCIES, decimal_text
from spinneret.marketplace.products.models import ProductContent
from spinneret.marketplace.vocabularies.models import MATERIALS

TITLE_MAX: Final = 140
TAGS_MAX: Final = 13
TAG_MAX: Final = 20
IMAGES_MAX: Final = 20
ALT_MAX: Final = 250
_ONCE: Final = "%:&+"  # a title may contain each of these once
_WHO: Final = frozenset({"i_did", "someone_else", "collective"})
# Periods that end now or begin 20 years ago have another name each year.
_PERIOD: Final = re.compile(
    r"made_to_order|before_1700|1[78]00s|19\d0s|2010_2019|(2000|2020)_20\d\d|20\d\d_2009|before_20\d\d"
)
_OF_WORDS: Final = ("L", "Nd", "Zs")
_OF_TITLES: Final = (*_OF_WORDS, "P", "Sm")
"""Unicode's categories of the characters that Etsy takes."""


def check(content: ProductContent) -> Sequence[Mapping[str, str]]:
    """Return the fields that Etsy would refuse, each with its message."""
    title, tags = title_of(content), tags_of(content)
    found = [
        *_unfit("title", title, _OF_TITLES, "™©®"),
        *_unfit("attributes.tags", "".join(tags), _OF_WORDS, "-'™©®"),
        *_unfit("attributes.material", material_of(content), _OF_WORDS, ","),
    ]
    if len(title) > TITLE_MAX:
        found.append(field_error("title", f"Etsy accepts at most {TITLE_MAX} characters"))
    found += [
        field_error("title", f"Etsy takes {sign} once") for sign in _ONCE if title.count(sign) > 1
    ]
    if not 1 <= len(content.images) <= IMAGES_MAX:
        found.append(field_error("images", f"Etsy requires 1 to {IMAGES_MAX} images"))
    if content.quantity < 1:
        found.append(field_error("quantity", "at least 1 to list it"))
    if content.category_id is None or not content.category_id.isdecimal():
        found.append(
            field_error("overrides.etsy.category_id", "the number of an Etsy taxonomy node")
        )
    if len(tags) > TAGS_MAX or any(len(tag) > TAG_MAX for tag in tags):
        message = f"at most {TAGS_MAX} tags of at most {TAG_MAX} characters"
        found.append(field_error("attributes.tags", message))
    if content.attributes.get("who_made", "i_did") not in _WHO:
        found.append(
            field_error("attributes.who_made", f"must be one of {', '.join(sorted(_WHO))}")
        )
    if not _PERIOD.fullmatch(content.attributes.get("when_made", "made_to_order")):
        found.append(
            field_error("attributes.when_made", "a period that Etsy accepts, such as 1990s")
        )
    return found


def _unfit(path: str, text: str, kinds: tuple[str, ...], signs: str) -> list[dict[str, Any]]:
    """Return an error for each character that isn't of these kinds, nor among the signs."""
    odd = [each for each in text if not category(each).startswith(kinds) and each not in signs]
    return [field_error(path, f"Etsy doesn't take {each}") for each in dict.fromkeys(odd)]


def title_of(content: ProductContent) -> str:
    """Return the title as Etsy takes it: accents are parts of their letters (Unicode's NFC)."""
    return composed(content.title)


def tags_of(content: ProductContent) -> list[str]:
    """Return the attribute `tags`, split at commas; of tags that differ in case only, the last."""
    given = composed(content.attributes.get("tags", ""))
    tags = (tag.strip() for tag in given.split(","))
    return list({tag.casefold(): tag for tag in tags if tag}.values())


def material_of(content: ProductContent) -> str:
    """Return the label of the attribute `material`; an empty text if there is none."""
    material = content.attributes.get("material", "")
    return composed(MATERIALS.get(material, material))


def price_of(content: ProductContent) -> float:
    """Return the price as Etsy expects it: a number with the currency's digits."""
    return float(decimal_text(content.price, content.currency))


def draft_of(content: ProductContent, account: Mapping[str, Any]) -> dict[str, Any]:
    """Return the form of a new listing."""
    material = material_of(content)
    return {
        "quantity": content.quantity,
        "title": title_of(content),
        "description": plain_text(content.description),
        "price": decimal_text(content.price, content.currency),
        "who_made": content.attributes.get("who_made", "i_did"),
        "when_made": content.attributes.get("when_made", "made_to_order"),
        "taxonomy_id": int(content.category_id or 0),
        "shipping_profile_id": int(account["shipping_profile_id"]),
        "readiness_state_id": int(account["readiness_state_id"]),
        "tags": tags_of(content) or None,
        "materials": [material] if material else None,
        "type": "physical",
        **chosen(content),
    }


def changes_of(content: ProductContent) -> dict[str, Any]:
    """Return the form of an update; price and quantity belong to the inventory."""
    return {
        "title": title_of(content),
        "description": plain_text(content.description),
        "tags": tags_of(content) or None,
        "taxonomy_id": int(content.category_id or 0),
        **chosen(content),
    }


def chosen(content: ProductContent) -> dict[str, int]:
    """Return the fields of a listing that the seller chose."""
    return {f"{name}_id": int(each) for name, each in content.choices.items()}


def attributes_of(listing: ShopListing) -> dict[str, str]:
    """Return the attributes of a listing that its product keeps."""
    facts = {
        "who_made": listing.get("who_made"),
        "when_made": listing.get("when_made"),
        "tags": ",".join(listing.get("tags") or ()),
    }
    return {name: value for name, value in facts.items() if value}


def policy_text(policy: ReturnPolicy) -> str:
    """Describe a return policy, which has no name."""
    taken = [word for word in ("returns", "exchanges") if policy.get(f"accepts_{word}")]
    days = policy.get("return_deadline")
    if not taken:
        return "no returns or exchanges"
    return " and ".join(taken) + (f" within {days} days" if days else "")


def inventory_of(content: ProductContent, sku: str, readiness_state_id: int) -> dict[str, Any]:
    """Return the whole product set of a listing without variations."""
    offering = {
        "price": price_of(content),
        "quantity": content.quantity,
        "is_enabled": True,
        "readiness_state_id": readiness_state_id,
    }
    return {"products": [{"sku": sku, "property_values": [], "offerings": [offering]}]}


def is_same_inventory(wanted: Mapping[str, Any], standing: Sequence[InventoryProduct]) -> bool:
    """Return whether a PUT would change nothing; fields that Etsy adds to its response are
    ignored."""
    if len(standing) != 1 or len(standing[0]["offerings"]) != 1:
        return False
    [ours], theirs = wanted["products"], standing[0]
    [mine], other = ours["offerings"], theirs["offerings"][0]
    money = other.get("price")
    price = money["amount"] / (money["divisor"] or 1) if money else 0.0
    return bool(
        theirs.get("sku") == ours["sku"]
        and other.get("quantity") == mine["quantity"]
        and abs(price - mine["price"]) < 0.0005  # half of the smallest minor unit
    )


def alt_text(content: ProductContent, number: int) -> str:
    """Return the alt text that distinguishes the listing's images, since Etsy doesn't keep their
    names."""
    mark = f" ({number}/{len(content.images)})"
    return title_of(content)[: ALT_MAX - len(mark)] + mark


def created_at(listing: ShopListing) -> datetime:
    """Return when a listing was created, by Etsy's clock."""
    created = listing.get("created_timestamp") or listing.get("original_creation_timestamp") or 0
    return datetime.fromtimestamp(created, UTC)


def same_title(title: str) -> str:
    """Return a key that is equal for titles that Etsy may show alike: it cleans up blanks and
    entities."""
    return title_key(unescape(title))


def money_text(money: Money) -> str:
    """Format Etsy's amount and divisor as a decimal."""
    digits = CURRENCIES.get(money.get("currency_code", "EUR"), 2)
    return f"{money['amount'] / (money['divisor'] or 1):.{digits}f}"
