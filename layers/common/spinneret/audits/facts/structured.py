"""Items described by JSON-LD and microdata of a page, and errors in them."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final, cast

from lxml import etree, html

from spinneret.audits.facts.models import Structured
from spinneret.kernel.unicode import storable

MAX_ITEMS: Final = 50
MAX_PROPERTIES: Final = 60
MAX_ELEMENTS: Final = 10_000  # with properties, of a page
_MAX_NAME_CHARS: Final = 60
_PRICED: Final = frozenset({"Product", "SoftwareApplication"})
"""Types whose offers need a price; for others, such as events, it is only recommended."""
_OWNER: Final = etree.XPath("ancestor::*[@itemscope][1]")
# Templates that also serve XHTML wrap scripts in CDATA sections, behind a comment's sign or not.
# Possessive: each blank is read once.
_WRAPPER: Final = re.compile(
    r"\A\s*+(?:(?://|/\*)\s*+)?<!\[CDATA\[\s*+(?:\*/)?"
    r"|(?://|/\*|(?<!\s))\s*+\]\]>\s*+(?:\*/)?\s*+\Z"
)


def structured_items(root: html.HtmlElement, text: str) -> tuple[Structured, ...]:
    """Return the first 50 items of a page: JSON-LD first, each item of a graph separately.

    Parts of a JSON-LD item with one `@id` are one item: extensions of shops add ratings that way.
    `text` is the page's source.
    """
    items: dict[object, Structured] = {}
    for script in root.iter("script"):
        if (script.get("type") or "").partition(";")[0].strip().lower() == "application/ld+json":
            for name, item in _json_ld(_WRAPPER.sub("", script.text or "")):
                key = name or len(items)
                items[key] = _joined(items[key], item) if key in items else item
    found = list(items.values())
    if "itemscope" in text.lower():  # scanning all attributes is slow
        found.extend(_microdata(root))
    return tuple(found[:MAX_ITEMS])


def _json_ld(text: str) -> Iterator[tuple[str, Structured]]:
    """Yield items with their `@id`, which may be empty."""
    try:
        # Python refuses integers of thousands of digits, which JSON allows.
        value = json.loads(text, strict=False, parse_int=float, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        yield "", Structured("json-ld", error=_fault(error))
        return
    pending: list[Any] = [value]
    while pending:
        node = pending.pop(0)
        if isinstance(node, list):
            pending[:0] = node[:MAX_ITEMS]
        elif isinstance(node, dict):
            if "@graph" in node:
                pending.insert(0, node["@graph"])
            if "@type" in node:
                found = _item("json-ld", _names(node["@type"]), _filled(node))
                if _PRICED & set(found.types):
                    pending[:0] = _offers(node.get("offers"))
                modified = node.get("dateModified")
                if isinstance(modified, str):
                    found = found._replace(modified=_kept(modified))
                name = node.get("@id")
                yield name if isinstance(name, str) else "", found
        else:
            yield "", Structured("json-ld", error="neither an object nor a list of them")


def _joined(one: Structured, other: Structured) -> Structured:
    properties = dict.fromkeys((*one.properties, *other.properties))
    return one._replace(
        types=tuple(dict.fromkeys((*one.types, *other.types))),
        properties=tuple(properties)[:MAX_PROPERTIES],
        modified=one.modified or other.modified,
    )


def _no_number(name: str) -> float:
    """Refuse what Python reads, but JSON doesn't have."""
    raise ValueError(f"{name} is not JSON")


def _fault(error: ValueError | RecursionError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg}: line {error.lineno} column {error.colno}"
    return "nested too deep" if isinstance(error, RecursionError) else str(error)


def _offers(value: Any) -> list[Any]:
    offers = value if isinstance(value, list) else [value]
    return [each for each in offers[:MAX_ITEMS] if isinstance(each, dict)]


def _filled(node: dict[str, Any]) -> list[str]:
    return [
        name for name, value in node.items() if value not in (None, "", [], {}) and name[:1] != "@"
    ]


def _names(declared: Any) -> list[str]:
    listed = declared if isinstance(declared, list) else [declared]
    return [name for name in listed if isinstance(name, str)]


def _microdata(root: html.HtmlElement) -> Iterator[Structured]:
    """Yield items that aren't a property of another item, and offers of products."""
    scopes = root.xpath("//*[@itemscope and @itemtype]")[:MAX_ITEMS]
    names: dict[etree._Element, list[str]] = {scope: [] for scope in scopes}
    for element in root.xpath("//*[@itemprop]")[:MAX_ELEMENTS]:
        owner = _owner(element)
        if owner in names:
            names[owner] += element.get("itemprop", "").split()
    for scope in scopes:
        if not scope.get("itemprop") or _is_offer_of_product(scope):
            yield _item("microdata", scope.get("itemtype", "").split(), names[scope])


def _is_offer_of_product(scope: html.HtmlElement) -> bool:
    owner = _owner(scope)
    types = () if owner is None else _bare((owner.get("itemtype") or "").split())
    return "offers" in scope.get("itemprop", "").split() and not _PRICED.isdisjoint(types)


def _owner(element: etree._Element) -> etree._Element | None:
    """Return the item whose property an element is; None if it is no item's."""
    found = cast("list[Any]", _OWNER(element))
    return found[0] if found else None


def _item(syntax: str, types: list[str], properties: list[str]) -> Structured:
    unique = dict.fromkeys(map(_kept, properties))
    return Structured(
        syntax,
        types=_bare(types),
        properties=tuple(unique)[:MAX_PROPERTIES],
    )


def _bare(types: list[str]) -> tuple[str, ...]:
    """Return the types without their vocabularies."""
    bare = (name.rstrip("/").rpartition("/")[2].rpartition("#")[2] for name in types[:10])
    return tuple(map(_kept, bare))


def _kept(text: str) -> str:
    """Return the text as stored."""
    return storable(text[:_MAX_NAME_CHARS])
