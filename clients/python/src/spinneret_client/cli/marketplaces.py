"""Commands `listings list|import|imported` and `selling show|choices|change`."""

from __future__ import annotations

import time
from typing import Annotated, Any, Final

import typer

from spinneret_client.cli import exits
from spinneret_client.cli.options import choices_of, given
from spinneret_client.cli.publishing import PAUSE
from spinneret_client.cli.tools import Tools, tools_of
from spinneret_client.generated.models import PreferencesView

RULES: Final = (
    *("price_factor", "minimum_price", "price_ending", "quantity_buffer", "title_suffix"),
)
Marketplace = Annotated[str, typer.Argument(help="Marketplace, such as ebay.")]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    listings = typer.Typer(no_args_is_help=True, help="Listings on marketplaces.")
    listings.command("list", epilog="Example: spinneret listings list")(list_listings)
    listings.command("import", epilog="Example: spinneret listings import etsy --create --wait")(
        import_listings
    )
    listings.command(epilog="Example: spinneret listings imported job_0198… --outcome conflict")(
        imported
    )
    app.add_typer(listings, name="listings")
    selling = typer.Typer(no_args_is_help=True, help="How you sell on a marketplace.")
    selling.command(epilog="Example: spinneret selling show ebay")(show)
    selling.command(epilog="Example: spinneret selling choices etsy")(choices)
    selling.command(epilog="Example: spinneret selling change ebay --pause")(change)
    app.add_typer(selling, name="selling")


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
    wanted = dict(zip(RULES, rules, strict=True))
    changes: Any = wanted if no_rules else given(**wanted)
    changes |= given(is_paused=pause, choices=choices_of(choose) or None)
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
