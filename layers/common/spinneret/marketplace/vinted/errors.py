"""What Vinted's answers mean, as a browser hands them on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from spinneret.kernel.errors import InputNeeded, MarketplaceRefused, MarketplaceUnavailable
from spinneret.marketplace.refusals import Meaning, Problem, refusal_error
from spinneret.marketplace.vinted.models import PluginAnswer

# What the site says by status; its words come along.
MEANINGS: Final[Mapping[int, Meaning]] = {
    400: Meaning(field="product", cause="Vinted refuses a field", fix="read its message"),
    401: Meaning(field="connection", cause="not logged in", fix="log in to Vinted in the browser"),
    403: Meaning(
        field="connection", cause="Vinted blocks the browser", fix="wait, then look there"
    ),
    404: Meaning(field="listing", cause="it isn't there", fix="sync the product"),
    422: Meaning(field="product", cause="Vinted refuses a field", fix="read its message"),
}
# Vinted's fields in ours; the others are shown under `product` with Vinted's name of them.
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
_TOO_SLOW: Final = 408  # somebody on the way gave up: what Vinted did is unknown
_OF_FIELDS: Final = (400, 422)
_GONE: Final = (404, 410)
_REASONS: Final = ("message", "code", "errors")


def is_refusal(answer: PluginAnswer) -> bool:
    """Whether it proves that nothing was done: a 4xx that says why. What comes without a reason may
    be of somebody on the way, and what is no 4xx may come after the deed."""
    return (
        400 <= answer.status < 500
        and answer.status != _TOO_SLOW
        and any(answer.body.get(name) for name in _REASONS)
    )


def is_about_fields(refusal: MarketplaceRefused) -> bool:
    """Whether the product has to be changed before it is asked for again."""
    return refusal.details["status"] in _OF_FIELDS


def success(answer: PluginAnswer) -> Mapping[str, Any]:
    """Its body. Raises MarketplaceRefused and MarketplaceUnavailable; a 200 without anything in it
    is how the site turns away what it takes for a robot."""
    if answer.status == 0:
        raise MarketplaceUnavailable("the browser doesn't know what Vinted answered")
    if answer.status in (_TOO_SLOW, 429) or answer.status >= 500:
        raise MarketplaceUnavailable(f"Vinted answered {answer.status}")
    if not 200 <= answer.status < 300:
        raise refusal_error("vinted", answer.status, _problems(answer))
    if not any(answer.body.values()):
        blocked = Meaning(
            field="connection", cause="an empty answer", fix="look at Vinted yourself"
        )
        raise refusal_error(
            "vinted", answer.status, [Problem(id="empty", meaning=blocked, said="")]
        )
    return answer.body


def item_unless_gone(answer: PluginAnswer) -> Mapping[str, Any] | None:
    """The item, or None where Vinted says that it isn't there. Raises MarketplaceRefused and
    MarketplaceUnavailable: an answer without it proves nothing."""
    return None if answer.status in _GONE else part(success(answer), "item")


def is_gone(answer: PluginAnswer) -> bool:
    """Whether an item that was to be deleted wasn't there any more. After a success, which may be
    empty, that is still to be looked at. Raises MarketplaceRefused and MarketplaceUnavailable."""
    if not 200 <= answer.status < 300 and answer.status not in _GONE:
        success(answer)
    return answer.status in _GONE


def part(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The object that a success is about. Raises MarketplaceRefused."""
    found = body.get(name)
    return found if isinstance(found, dict) else _incomplete(name)


def id_of(thing: Mapping[str, Any]) -> str:
    """Raises MarketplaceRefused."""
    found = thing.get("id")
    return str(found) if found else _incomplete("id")


def undecided(message: str) -> InputNeeded:
    """The error for what only the seller can find out."""
    fix = "submit link_product with its external_id, or with null if there is none"
    return InputNeeded(
        message, details={"fields": [{"field": "input_data.external_id", "message": fix}]}
    )


def _problems(answer: PluginAnswer) -> list[Problem]:
    """One for each field that Vinted names; without any, one by the status."""
    number = str(answer.status)
    other = Meaning(field="request", cause=f"Vinted answers {number}")
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


def _incomplete(name: str) -> Any:
    meaning = Meaning(field="connection", cause=f"an answer without {name}")
    raise refusal_error("vinted", 200, [Problem(id="incomplete", meaning=meaning, said="")])
