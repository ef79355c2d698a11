"""`products list|import|change`."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from spinneret_client.cli import exits
from spinneret_client.cli.options import choices_of
from spinneret_client.cli.tools import Tools, tools_of
from spinneret_client.errors import ApiError, ConfigurationError
from spinneret_client.generated.requests import ProductRequest

COLUMNS: Final = ("title", "description", "price", "currency", "quantity", "sku", "images")
NUMBERS: Final = frozenset({"price", "quantity"})


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True, help="Products that are offered.")
    group.command("list", epilog="Example: spinneret products list")(list_products)
    group.command("import", epilog="Example: spinneret products import products.csv")(import_csv)
    group.command(
        epilog="Example: spinneret products change prd_0198… --choose ebay.location=store-1"
    )(change)
    app.add_typer(group, name="products")


def list_products(context: typer.Context) -> None:
    """List products."""
    tools = tools_of(context)
    tools.listing(
        tools.client.products.list(),
        ["id", "sku", "price", "currency", "quantity", "title"],
        lambda x: (x.product_id, x.sku, x.price / 100, x.currency, x.quantity, x.title),
    )


def import_csv(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="CSV with title, description, price in cents …")],
) -> None:
    """Create a product from each row; other columns are attributes, `|` separates images."""
    tools = tools_of(context)
    with file.open(newline="", encoding="utf-8-sig") as lines:
        reader = csv.DictReader(lines)
        missing = {"title", "description", "price"} - set(reader.fieldnames or ())
        if missing:
            raise ConfigurationError(f"{file} lacks columns: {', '.join(sorted(missing))}")
        rows = list(reader)
    results = [_created(tools, number, row) for number, row in enumerate(rows, start=2)]
    failed = [each for each in results if each["error"]]

    def text() -> None:
        for each in results:
            tools.output.line(f"line {each['line']}: {each['product_id'] or each['error']}")

    tools.output.result(results, text)
    tools.output.note(f"{len(results) - len(failed)} products created, {len(failed)} lines refused")
    if failed:
        exits.leave(exits.FAULT if len(failed) == len(results) else exits.UNFINISHED)


def _created(tools: Tools, line: int, row: dict[str, str]) -> dict[str, Any]:
    """Create the product of a line, and return its id or the fault of the line."""
    try:
        made = tools.client.products.create(**_product(row))
    except ValueError as error:
        return {"line": line, "product_id": None, "error": str(error)}
    except ApiError as error:
        if error.status not in (400, 409, 422):
            raise
        fields = "; ".join(f"{field}: {fault}" for field, fault in error.fields)
        return {"line": line, "product_id": None, "error": fields or error.message}
    return {"line": line, "product_id": made.product_id, "error": None}


def _product(row: dict[str, str]) -> Any:
    product: dict[str, Any] = {
        name: value for name, value in row.items() if name in COLUMNS and value
    }
    for name in NUMBERS & product.keys():
        product[name] = int(product[name])
    if "images" in product:
        product["images"] = product["images"].split("|")
    attributes = {name: value for name, value in row.items() if name not in COLUMNS and value}
    return {**product, "attributes": attributes} if attributes else product


def change(
    context: typer.Context,
    product_id: Annotated[str, typer.Argument(help="Id of a product.")],
    choose: Annotated[
        list[str],
        typer.Option(help="MARKETPLACE.NAME=ID of `selling choices`; an empty ID takes it back."),
    ],
) -> None:
    """Choose a product's own policies, location, profile or section on a marketplace."""
    tools = tools_of(context)
    # A PUT replaces the whole product, and keeps an omitted SKU.
    names = ProductRequest.__annotations__.keys() - {"sku"}
    product: Any = tools.client.products.get(product_id).model_dump(include=set(names))
    for place, chosen in choices_of(choose).items():
        marketplace, dot, name = place.partition(".")
        if not dot:
            raise ConfigurationError(f"{place} lacks its marketplace: write it as ebay.{place}")
        override = product["overrides"].setdefault(marketplace, {})
        kept = {each: id_ for each, id_ in override.get("choices", {}).items() if each != name}
        override["choices"] = kept if chosen is None else {**kept, name: chosen}
    changed = tools.client.products.replace(product_id, **product)

    def text() -> None:
        for marketplace, override in changed.overrides.items():
            for name, chosen in override.choices.items():
                tools.output.line(f"{marketplace} {name.replace('_', ' ')}: {chosen}")

    tools.output.result(changed, text)
