"""Commands `products list|import|change`."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from spinneret_client.cli import exits
from spinneret_client.cli.options import choices_of, text_in
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
        lambda x: (x.product_id, x.sku, f"{x.price / 100:.2f}", x.currency, x.quantity, x.title),
    )


def import_csv(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="CSV with title, description, price in cents …")],
) -> None:
    """Create a product from each row; other columns are attributes, `|` separates images."""
    tools = tools_of(context)
    rows = _rows(file)
    results: list[dict[str, Any]] = []
    try:
        results.extend(_created(tools, line, row) for line, row in enumerate(rows, start=2))
    finally:  # the user must not create these products again
        failed = _shown(tools, results)
        if len(results) < len(rows):
            tools.output.note(f"broken off in line {len(results) + 2}: look for its product")
    if failed:
        exits.leave(exits.FAULT if failed == len(results) else exits.UNFINISHED)


def _rows(file: Path) -> list[dict[str, str]]:
    reader = csv.DictReader(io.StringIO(text_in(file), newline=""))
    try:
        missing = {"title", "description", "price"} - set(reader.fieldnames or ())
        rows = list(reader)
    except csv.Error as error:
        raise ConfigurationError(f"{file} isn't CSV: {error}") from error
    if missing:
        raise ConfigurationError(f"{file} lacks columns: {', '.join(sorted(missing))}")
    return rows


def _shown(tools: Tools, results: list[dict[str, Any]]) -> int:
    """Print the outcomes of lines, and return the number of refused lines."""
    failed = sum(each["error"] is not None for each in results)

    def text() -> None:
        for each in results:
            tools.output.line(f"line {each['line']}: {each['product_id'] or each['error']}")

    tools.output.result(results, text)
    tools.output.note(f"{len(results) - failed} products created, {failed} lines refused")
    return failed


def _created(tools: Tools, line: int, row: dict[str, str]) -> dict[str, Any]:
    """Create the product of a line, and return its id or the error of the line."""
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
    # A PUT replaces the whole product, but keeps an omitted SKU.
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
