"""`publish`, `products list|import`, `listings list|import|imported`, `batches list|watch` and
`selling show|choices|change`."""

from __future__ import annotations

import csv
import time
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from spinneret_client.cli import exits
from spinneret_client.cli.tools import Tools, Yes, tools_of
from spinneret_client.errors import ApiError, ConfigurationError
from spinneret_client.generated.models import PreferencesView

COLUMNS: Final = ("title", "description", "price", "currency", "quantity", "sku", "images")
NUMBERS: Final = frozenset({"price", "quantity"})
RULES: Final = (
    *("price_factor", "minimum_price", "price_ending", "quantity_buffer", "title_suffix"),
)
PAUSE: Final = 2.0
Marketplace = Annotated[str, typer.Argument(help="Marketplace, such as ebay.")]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(epilog="Example: spinneret publish ebay publish prod_0198… --yes")(publish)
    products = typer.Typer(no_args_is_help=True, help="Products that are offered.")
    products.command("list", epilog="Example: spinneret products list")(list_products)
    products.command("import", epilog="Example: spinneret products import products.csv")(import_csv)
    app.add_typer(products, name="products")
    listings = typer.Typer(no_args_is_help=True, help="Listings on marketplaces.")
    listings.command("list", epilog="Example: spinneret listings list")(list_listings)
    listings.command("import", epilog="Example: spinneret listings import etsy --create --wait")(
        import_listings
    )
    listings.command(epilog="Example: spinneret listings imported job_0198… --outcome conflict")(
        imported
    )
    app.add_typer(listings, name="listings")
    batches = typer.Typer(no_args_is_help=True, help="Batches of marketplace jobs.")
    batches.command("list", epilog="Example: spinneret batches list")(list_batches)
    batches.command(epilog="Example: spinneret batches watch mb_0198…")(watch)
    app.add_typer(batches, name="batches")
    selling = typer.Typer(no_args_is_help=True, help="How you sell on a marketplace.")
    selling.command(epilog="Example: spinneret selling show ebay")(show)
    selling.command(epilog="Example: spinneret selling choices etsy")(choices)
    selling.command(epilog="Example: spinneret selling change ebay --pause")(change)
    app.add_typer(selling, name="selling")


def publish(
    context: typer.Context,
    marketplace: Annotated[str, typer.Argument(help="Marketplace, such as ebay.")],
    action: Annotated[str, typer.Argument(help="Action, such as publish.")],
    products: Annotated[list[str], typer.Argument(help="Ids of products.")],
    at: Annotated[
        str | None, typer.Option(help="Time within 30 days, such as 2026-01-31T18:00:00Z.")
    ] = None,
    yes: Yes = False,
    wait: Annotated[bool, typer.Option("--wait", help="Wait until all are done.")] = False,
) -> None:
    """Plan an action for products, then do it."""
    tools = tools_of(context)
    request: Any = {"marketplace": marketplace, "action_code": action, "product_ids": products}
    if at is not None:
        request["publish_at"] = at
    plan = tools.client.batches.plan(**request)
    tools.output.note(f"{plan.total_count} products on {marketplace}, {plan.refused_count} refused")
    tools.confirm(f"{action} {plan.total_count - plan.refused_count} products?", yes=yes)
    made = tools.client.batches.create(**request)
    if wait:
        _follow(tools, made.batch_id)
    else:
        tools.output.result(made, lambda: tools.output.line(made.batch_id))


def show(context: typer.Context, marketplace: Marketplace) -> None:
    """Show how you sell on a marketplace."""
    tools = tools_of(context)
    _shown(tools, tools.client.connections.preferences(marketplace))


def choices(
    context: typer.Context,
    marketplace: Marketplace,
    site: Annotated[str | None, typer.Option(help="eBay marketplace, such as EBAY_GB.")] = None,
) -> None:
    """List the policies, locations, profiles and sections that you may choose."""
    tools = tools_of(context)
    found = tools.client.connections.choices(marketplace, site=site)

    def text() -> None:
        for each in found.items:
            tools.output.line(f"{each.name} ({each.description})")
            for option in each.options:
                tools.output.line(f"  {option.id}  {option.title}")

    tools.output.result(found, text)


def change(
    context: typer.Context,
    marketplace: Marketplace,
    pause: Annotated[
        bool | None, typer.Option("--pause/--resume", help="Let jobs that list or revise wait.")
    ] = None,
    price_factor: Annotated[str | None, typer.Option(help="Decimal, such as 1.15.")] = None,
    minimum_price: Annotated[int | None, typer.Option(help="Lowest price, in cents.")] = None,
    price_ending: Annotated[int | None, typer.Option(help="Last two digits, such as 99.")] = None,
    quantity_buffer: Annotated[int | None, typer.Option(help="Pieces that aren't offered.")] = None,
    title_suffix: Annotated[str | None, typer.Option(help="Text after the title.")] = None,
    no_rules: Annotated[bool, typer.Option("--no-rules", help="Remove the other rules.")] = False,
    choose: Annotated[
        list[str] | None, typer.Option(help="NAME=ID of `selling choices`; NAME= takes it back.")
    ] = None,
) -> None:
    """Change how you sell on a marketplace; what isn't given is kept."""
    tools = tools_of(context)
    rules = (price_factor, minimum_price, price_ending, quantity_buffer, title_suffix)
    given = zip(RULES, rules, strict=True)
    changes: Any = {name: each for name, each in given if no_rules or each is not None}
    if pause is not None:
        changes["is_paused"] = pause
    if choose:
        pairs = [each.partition("=") for each in choose]
        changes["choices"] = {name: chosen or None for name, _, chosen in pairs}
    _shown(tools, tools.client.connections.change_preferences(marketplace, **changes))


def _shown(tools: Tools, preferences: PreferencesView) -> None:
    def text() -> None:
        since = preferences.paused_at
        tools.output.line(f"paused since {since}" if since else "not paused")
        for name in RULES:
            if (value := getattr(preferences, name)) is not None:
                tools.output.line(f"{name.replace('_', ' ')}: {value}")
        for name, value in preferences.choices.items():
            tools.output.line(f"{name.replace('_', ' ')}: {value}")

    tools.output.result(preferences, text)


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


def list_listings(context: typer.Context) -> None:
    """List the listings of products."""
    tools = tools_of(context)
    tools.listing(
        tools.client.marketplace.listings(),
        ["product", "marketplace", "state", "listing", "url"],
        lambda x: (x.product_id, x.marketplace, x.state, x.external_id, x.url),
    )


def import_listings(
    context: typer.Context,
    marketplace: Marketplace,
    create: Annotated[
        bool, typer.Option("--create", help="Make products of listings that match none.")
    ] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Wait until it has ended.")] = False,
) -> None:
    """Read your listings on a marketplace, and link them to products."""
    tools = tools_of(context)
    made = tools.client.marketplace.import_listings(marketplace, create=create)
    if not wait:
        tools.output.result(made, lambda: tools.output.line(made.job_id))
        return
    with tools.watching(made.job_id) as show:
        while (job := tools.client.marketplace.job(made.job_id)).completed_at is None:
            show(job.progress, job.status)
            time.sleep(PAUSE)

    def text() -> None:
        counts = ", ".join(f"{each} {name}" for name, each in (job.result_data or {}).items())
        tools.output.line(f"{job.status} {job.job_id}: {counts}")

    tools.output.result(job, text)
    exits.leave(exits.code_of([job.status]))


def imported(
    context: typer.Context,
    job_id: Annotated[str, typer.Argument(help="Id of an import.")],
    outcome: Annotated[str | None, typer.Option(help="Such as conflict or unmatched.")] = None,
) -> None:
    """List the listings that an import has read, with the reasons of conflicts."""
    tools = tools_of(context)
    query: Any = {} if outcome is None else {"outcome": outcome}
    tools.listing(
        tools.client.marketplace.imported_listings(job_id, **query),
        ["listing", "title", "outcome", "product", "reason"],
        lambda x: (x.external_id, x.title, x.outcome, x.product_id, x.reason),
    )


def list_batches(context: typer.Context) -> None:
    """List batches, newest first."""
    tools = tools_of(context)
    tools.listing(
        tools.client.batches.list(max_items=20),
        ["id", "marketplace", "action", "status", "done"],
        lambda x: (x.batch_id, x.marketplace, x.action_code, x.status, f"{x.progress_percent}%"),
    )


def watch(
    context: typer.Context, batch_id: Annotated[str, typer.Argument(help="Id of a batch.")]
) -> None:
    """Follow a batch until it ended."""
    _follow(tools_of(context), batch_id)


def _follow(tools: Tools, batch_id: str) -> None:
    with tools.watching(batch_id) as show:
        while not (batch := tools.client.batches.get(batch_id)).is_terminal:
            show(
                batch.progress_percent, f"{batch.completed_count} done, {batch.failed_count} failed"
            )
            time.sleep(PAUSE)

    def text() -> None:
        counts = f"{batch.completed_count} done, {batch.failed_count} failed"
        tools.output.line(f"{batch.status} {batch_id}: {counts}")

    tools.output.result(batch, text)
    exits.leave(exits.code_of([batch.status]))
