"""Meanings of Vinted's answers, which a browser relays."""

from collections.abc import Mapping
from typing import Any, Final

from spinneret.kernel.errors import MarketplaceRefused, MarketplaceUnavailable
from spinneret.marketplace.plugins.models import TOO_SLOW, PluginAnswer
from spinneret.marketplace.refusals import Meaning, Problem, refusal_error

# Meanings by status; the site's own message is added.
MEANINGS: Final[Mapping[int, Meaning]] = {
    400: Meaning(field="product", cause="Vinted refuses a field", fix="read its message"),
    401: Meaning(field="connection", cause="not logged in", fix="log in to Vinted in the browser"),
    403: Meaning(
        field="connection", cause="Vinted blocks the browser", fix="wait, then look there"
    ),
    404: Meaning(field="listing", cause="it isn't there", fix="sync the product"),
    422: Meaning(field="product", cause="Vinted refuses a field", fix="read its message"),
}
# Vinted's fields → ours; others are shown under `product`, with Vinted's name.
_FIELDS: Final[Mapping[str, str]] = {
    **{name: name for name in ("title", "description", "price", "currency")},
    "catalog_id": "overrides.vinted.category_id",
    "catalog": "overrides.vinted.category_id",
    "status_id": "attributes.condition",
    "status": "attributes.condition",
    "brand": "attributes.brand",
    "brand_id": "attributes.brand_id",
    "size_id": "attributes.size_id",
    "color_id": "attributes.color_id",
    "color_ids": "attributes.color_id",
    "package_size_id": "attributes.package_size_id",
    "assigned_photos": "images",
    "photos": "images",
}
_OF_FIELDS: Final = (400, 422)
_GONE: Final = (404, 410)


def is_about_fields(refusal: MarketplaceRefused) -> bool:
    """Return whether the product must change before the request is repeated."""
    return refusal.details["status"] in _OF_FIELDS


def success(answer: PluginAnswer) -> Mapping[str, Any]:
    """Return the body of a success. Raises MarketplaceRefused and MarketplaceUnavailable.

    A 200 with an empty body is refused, too: this is how the site rejects suspected robots.
    """
    if answer.status == 0:
        raise MarketplaceUnavailable("the browser didn't receive Vinted's response")
    if answer.status in (TOO_SLOW, 429) or answer.status >= 500:
        raise MarketplaceUnavailable(f"Vinted answered {answer.status}")
    if not 200 <= answer.status < 300:
        raise refusal_error("vinted", answer.status, _problems(answer))
    if not any(answer.body.values()):
        blocked = Meaning(field="connection", cause="an empty answer", fix="check on Vinted")
        raise refusal_error(
            "vinted", answer.status, [Problem(id="empty", meaning=blocked, said="")]
        )
    return answer.body


def item_unless_gone(answer: PluginAnswer) -> Mapping[str, Any] | None:
    """Return the item, or None if Vinted answers that it doesn't exist. Raises MarketplaceRefused
    and MarketplaceUnavailable: any other answer without the item proves nothing."""
    return None if answer.status in _GONE else part(success(answer), "item")


def is_gone(answer: PluginAnswer) -> bool:
    """Return whether an item to delete was gone already. After a success, which may be empty, the
    item must still be looked up. Raises MarketplaceRefused and MarketplaceUnavailable."""
    if not 200 <= answer.status < 300 and answer.status not in _GONE:
        success(answer)
    return answer.status in _GONE


def part(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the object that a success contains. Raises MarketplaceUnavailable if it is missing."""
    found = body.get(name)
    if not isinstance(found, dict):
        raise MarketplaceUnavailable(f"Vinted's answer has no {name}")
    return found


def id_of(thing: Mapping[str, Any]) -> str:
    """Return the id of an object. Raises MarketplaceUnavailable if it is missing."""
    found = thing.get("id")
    if not found or isinstance(found, bool) or not isinstance(found, str | int):
        raise MarketplaceUnavailable("Vinted's answer has no id")
    return str(found)


def _problems(answer: PluginAnswer) -> list[Problem]:
    """Return one problem per field that Vinted names; without any, one for the status."""
    number = str(answer.status)
    other = Meaning(
        field="request", cause=f"Vinted answers {number}", fix="try again later, then report it"
    )
    meaning = MEANINGS.get(answer.status, other)
    errors = answer.body.get("errors")
    named = [each for each in errors if isinstance(each, dict)] if isinstance(errors, list) else []
    if not named:
        return [Problem(id=number, meaning=meaning, said=str(answer.body.get("message") or ""))]
    return [_of_field(number, str(each.get("field")), each.get("value")) for each in named]


def _of_field(number: str, theirs: str, value: Any) -> Problem:
    ours = _FIELDS.get(theirs.rpartition(".")[2])
    cause = "Vinted refuses it" if ours else f"Vinted refuses its field {theirs}"
    meaning = Meaning(field=ours or "product", cause=cause, fix="change it as the message says")
    return Problem(id=number, meaning=meaning, said=str(value or ""))
