"""Commands `publish` and `batches list|watch`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Annotated, Any, Final

import typer

from spinneret_client.cli import exits
from spinneret_client.cli.options import given
from spinneret_client.cli.tools import Tools, Yes, tools_of
from spinneret_client.generated.models import PlanView

PAUSE: Final = 2.0


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(epilog="Example: spinneret publish ebay publish prd_0198… --yes")(publish)
    group = typer.Typer(no_args_is_help=True, help="Batches of marketplace jobs.")
    group.command("list", epilog="Example: spinneret batches list")(list_batches)
    group.command(epilog="Example: spinneret batches watch mb_0198…")(watch)
    app.add_typer(group, name="batches")


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
    request |= given(publish_at=at)
    plan = tools.client.batches.plan(**request)
    for line in _planned(plan):
        tools.output.note(line)
    tools.output.note(f"{plan.total_count} products on {marketplace}, {plan.refused_count} refused")
    tools.confirm(f"{action} {plan.total_count - plan.refused_count} products?", yes=yes)
    made = tools.client.batches.create(**request)
    if wait:
        _follow(tools, made.batch_id)
    else:
        tools.output.result(made, lambda: tools.output.line(made.batch_id))


def _planned(plan: PlanView) -> Iterator[str]:
    """Yield a line for each refused field with its reason, and for each change by a rule."""
    for each in plan.items:
        for field in each.fields:
            yield f"{each.outcome} {each.product_id}: {field['path']}: {field['message']}"
        for rule in each.rules:
            yield f"{each.product_id}: {rule.field} {rule.product} becomes {rule.shown}"


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
    with tools.watching(batch_id, "batches") as show:
        while not (batch := tools.client.batches.get(batch_id)).is_terminal:
            show(batch.progress_percent, _counts(batch))
            time.sleep(PAUSE)
    tools.output.result(
        batch, lambda: tools.output.line(f"{batch.status} {batch_id}: {_counts(batch)}")
    )
    exits.leave(exits.code_of([batch.status]))


def _counts(batch: Any) -> str:
    return f"{batch.completed_count} done, {batch.failed_count} failed"
