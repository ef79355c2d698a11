"""Areas of the API and the part of the document that describes each of them."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

AREA: Final = "x-area"
"""Member of a tag that names its area."""
AREAS: Final[Mapping[str, str]] = {
    "crawl": "Crawls, discovery, sources, webhooks",
    "core": "Jobs, keys, people, uploads, health",
    "search": "Search, documents, collections, tags",
    "audits": "Site audits",
    "watch": "Monitoring",
    "marketplace": "Marketplaces",
}
"""Titles in the order of the README's table."""
_FOLDERS: Final = {"console": "core", "people": "core", "sign_in": "core", "streams": "core"}
"""Folders of functions that belong to another area."""
_REFERENCE: Final = re.compile(r"#/components/(\w+)/([\w.-]+)")


def area_of(folder: str) -> str:
    """Return the area of a folder of functions."""
    return _FOLDERS.get(folder, folder)


def part_of(whole: Mapping[str, Any], area: str) -> dict[str, Any]:
    """Return the document with the paths of one area and the components that they refer to.

    Its servers are relative to `/docs/<area>.json`.
    """
    tags = [tag for tag in whole["tags"] if tag[AREA] == area]
    names = {tag["name"] for tag in tags}
    paths = {
        path: methods
        for path, methods in whole["paths"].items()
        if any(names & set(operation["tags"]) for operation in methods.values())
    }
    components: dict[str, dict[str, Any]] = {
        "securitySchemes": whole["components"]["securitySchemes"]
    }
    for kind, name in sorted(_referred(whole, paths)):
        components.setdefault(kind, {})[name] = whole["components"][kind][name]
    return {
        **whole,
        "servers": [{**server, "url": ".."} for server in whole["servers"]],
        "tags": tags,
        "paths": paths,
        "components": components,
    }


def _referred(whole: Mapping[str, Any], paths: Mapping[str, Any]) -> set[tuple[str, str]]:
    """Return kind and name of all components that the paths need."""
    found: set[tuple[str, str]] = set()
    left = list(_references(paths))
    while left:
        kind, name = left.pop()
        if (kind, name) not in found:
            found.add((kind, name))
            left += _references(whole["components"][kind][name])
    return found


def _references(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, each in value.items():
            if name == "$ref" and (match := _REFERENCE.fullmatch(str(each))):
                yield match[1], match[2]
            else:
                yield from _references(each)
    elif isinstance(value, list):
        for each in value:
            yield from _references(each)
