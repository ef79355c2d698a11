"""Check requests against the marketplaces' own published descriptions.

We may not distribute these documents: they are read from the folder that MARKETPLACE_CONTRACTS
names, and errata are applied to them (RFC 6902) before use.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.parser import BytesParser
from email.policy import HTTP
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import jsonpatch
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from tests.markets.web import RecordedRequest

FOLDER: Final = Path(os.environ.get("MARKETPLACE_CONTRACTS", "/nowhere"))
_OAUTH: Final = frozenset(
    {
        "/identity/v1/oauth2/token",
        "/identity/v1/oauth2/revoke",
        "/v3/public/oauth/token",
    }
)
CATALOGUES: Final = (
    "sell_inventory_v1",
    "sell_fulfillment_v1",
    "commerce_media_v1_beta",
    "sell_account_v1",
    "commerce_taxonomy_v1",
    "commerce_message_v1",
    "sell_compliance_v1",
)


@dataclass(frozen=True, kw_only=True)
class Description:
    """Description of one API that Spinneret calls, with its errata applied."""

    name: str
    base: str
    """Prefix of all its paths."""
    document: Mapping[str, Any]


@cache
def documents() -> tuple[Description, ...]:
    """Return all descriptions."""
    found = []
    for name in CATALOGUES:
        document = _patched(FOLDER / "ebay" / f"{name}_oas3.json")
        base = urlsplit(document["servers"][0]["url"]).path
        found.append(Description(name=name, base=base, document=document))
    etsy = _patched(FOLDER / "etsy" / "etsy_open_api_v3_oas3.json")
    found.append(Description(name="etsy", base="", document=etsy))
    return tuple(found)


def is_described(seen: RecordedRequest) -> bool:
    """Return whether a description must contain the request.

    Token requests follow OAuth (RFC 6749 and 7009): the descriptions contain at most their URLs.
    """
    return seen.path not in _OAUTH


def operation_of(seen: RecordedRequest) -> tuple[Description, Mapping[str, Any]] | None:
    """Return the operation that a request calls, with its description; None if there is none."""
    for each in documents():
        if not seen.path.startswith(each.base):
            continue
        for template, operations in each.document["paths"].items():
            pattern = re.sub(r"\{\w+\}", "[^/]+", each.base + template)
            if re.fullmatch(pattern, seen.path) and seen.method.lower() in operations:
                return each, operations[seen.method.lower()]
    return None


def error_ids(category: str | None = None) -> set[str]:
    """Return the error ids in eBay's descriptions, of one category if it is given."""
    found: set[str] = set()

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            errors = value.get("x-response-codes", {}).get("errors", {})
            found.update(
                number
                for number, each in errors.items()
                if category in (None, each.get("category"))
            )
            for each in value.values():
                walk(each)
        elif isinstance(value, list):
            for each in value:
                walk(each)

    for name in CATALOGUES:
        walk(json.loads((FOLDER / "ebay" / f"{name}_oas3.json").read_text()))
    return found


def is_bare(seen: RecordedRequest) -> bool:
    """Return whether the body is `{}` although the description has no body.

    eBay's edge requires it: it responds with 411 to a POST without a body.
    """
    found = operation_of(seen)
    return seen.body == b"{}" and found is not None and "requestBody" not in found[1]


def problems(seen: RecordedRequest) -> list[str]:
    """Return the problems of a request according to its description."""
    found = operation_of(seen)
    if found is None:
        return [f"no operation for {seen.method} {seen.path}"]
    return _checked(found[0].document, found[1], seen)


def _patched(path: Path) -> dict[str, Any]:
    document = json.loads(path.read_text())
    patch = path.parent / "errata" / f"{path.stem}.patch.json"
    if patch.exists():
        document = jsonpatch.apply_patch(document, json.loads(patch.read_text()))
    whole: dict[str, Any] = document
    return whole


def _checked(
    document: Mapping[str, Any], operation: Mapping[str, Any], seen: RecordedRequest
) -> list[str]:
    found = []
    parameters = [_resolved(document, each) for each in operation.get("parameters", [])]
    for each in parameters:
        name, place = each["name"], each["in"]
        given = seen.query if place == "query" else seen.headers
        known = name if place == "query" else name.lower()
        if each.get("required") and place != "path" and known not in given:
            found.append(f"{operation['operationId']}: {place} {name} is missing")
    queries = {each["name"] for each in parameters if each["in"] == "query"}
    found += [
        f"{operation['operationId']}: query {name} is unknown"
        for name in seen.query.keys() - queries
    ]
    body = operation.get("requestBody")
    if body is not None and seen.body:
        found += _body_problems(document, operation, _resolved(document, body), seen)
    elif body is not None and body.get("required"):
        found.append(f"{operation['operationId']}: the body is missing")
    elif body is None and seen.body and not is_bare(seen):
        found.append(f"{operation['operationId']}: no body is described")
    return found


def _body_problems(
    document: Mapping[str, Any],
    operation: Mapping[str, Any],
    body: Mapping[str, Any],
    seen: RecordedRequest,
) -> list[str]:
    kind = seen.headers.get("content-type", "").partition(";")[0]
    content = body["content"].get(kind)
    if content is None:
        return [f"{operation['operationId']}: {kind} isn't taken"]
    schema = content.get("schema", {})
    found: list[str] = []
    if kind == "application/json":
        value = seen.json
    elif kind == "multipart/form-data":
        parts = _parts(seen)
        found += _part_problems(schema, parts)
        value = _form(schema, {name: each.texts for name, each in parts.items()})
    else:
        unknown = seen.form.keys() - schema["properties"].keys()
        found += [f"the field {name} is unknown" for name in unknown]
        repeated = [name for name, values in seen.form.items() if len(values) > 1]
        found += [f"the field {name} is repeated" for name in repeated]
        value = _form(schema, seen.form)
    return [f"{operation['operationId']}: {each}" for each in found] + [
        f"{operation['operationId']}: {'/'.join(map(str, each.absolute_path))}: {each.message}"
        for each in _errors(document, schema, value)
    ]


@dataclass
class _Part:
    """The parts of a form that have the same name."""

    texts: list[str]
    is_file: bool
    """Whether each part has a file name and isn't empty."""


def _parts(seen: RecordedRequest) -> dict[str, _Part]:
    """Return the parts of a multipart form by name (RFC 7578)."""
    head = f"Content-Type: {seen.headers['content-type']}\r\n\r\n".encode()
    whole = BytesParser(policy=HTTP).parsebytes(head + seen.body)
    found: dict[str, _Part] = {}
    for part in whole.iter_parts() if whole.is_multipart() else ():
        name = str(part.get_param("name", "", header="content-disposition"))
        body = part.get_payload(decode=True) or b""
        assert isinstance(body, bytes)
        each = found.setdefault(name, _Part(texts=[], is_file=True))
        each.texts.append(body.decode("latin-1"))
        each.is_file &= bool(part.get_filename()) and bool(body)
    return found


def _part_problems(schema: Mapping[str, Any], parts: Mapping[str, _Part]) -> list[str]:
    """Return the problems of the parts' names and files."""
    if not parts:
        return ["no parts"]
    known = schema["properties"]
    found = [f"the field {name} is unknown" for name in parts.keys() - known.keys()]
    return found + [
        f"the field {name} isn't a file"
        for name, each in parts.items()
        if name in known and known[name].get("format") == "binary" and not each.is_file
    ]


def _errors(
    document: Mapping[str, Any], schema: Mapping[str, Any], value: Any
) -> list[ValidationError]:
    whole = Resource(contents=document, specification=DRAFT202012)
    registry: Registry[Any] = Registry().with_resource("urn:doc", whole)
    located = json.loads(json.dumps(_nullable(schema)).replace('"#/', '"urn:doc#/'))
    return list(Draft202012Validator(located, registry=registry).iter_errors(value))


def _nullable(schema: Any) -> Any:
    """Convert OpenAPI 3.0's `nullable` to JSON Schema."""
    if isinstance(schema, list):
        return [_nullable(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: _nullable(each) for name, each in schema.items()}
    if made.pop("nullable", False) and isinstance(made.get("type"), str):
        made["type"] = [made["type"], "null"]
    return made


def _form(schema: Mapping[str, Any], fields: Mapping[str, list[str]]) -> dict[str, Any]:
    """Return the fields of a form, converted to the schema's types."""
    made: dict[str, Any] = {}
    for name, values in fields.items():
        wanted = schema["properties"].get(name)
        if wanted is None:
            continue
        if wanted["type"] == "array":
            # Etsy reads a comma-separated list, although the description doesn't say so.
            listed = values[-1].split(",")
            made[name] = [_typed(wanted["items"]["type"], each) for each in listed]
        else:
            made[name] = _typed(wanted["type"], values[0])
    return made


def _typed(kind: str, text: str) -> Any:
    """Convert a text to its type; return the text itself if that fails."""
    try:
        match kind:
            case "integer":
                return int(text)
            case "number":
                return float(text)
            case "boolean":
                return {"true": True, "false": False}.get(text, text)
    except ValueError:
        pass
    return text


def _resolved(document: Mapping[str, Any], value: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" not in value:
        return value
    found: Any = document
    for part in value["$ref"].removeprefix("#/").split("/"):
        found = found[part]
    resolved: Mapping[str, Any] = found
    return resolved
