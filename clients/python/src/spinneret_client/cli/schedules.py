"""Commands `schedules list|add|remove`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from spinneret_client.cli.audits import asked
from spinneret_client.cli.options import sharing
from spinneret_client.cli.tools import Yes, tools_of


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True, help="Audit sites again by a schedule.")
    group.command("list", epilog="Example: spinneret schedules list")(list_schedules)
    group.command(
        epilog="Example: spinneret schedules add https://example.com/ --cron '0 7 * * 1'"
        " --fail-under 90"
    )(add)
    group.command(epilog="Example: spinneret schedules remove asched_0198… --yes")(remove)
    app.add_typer(group, name="schedules")


def list_schedules(context: typer.Context) -> None:
    """List scheduled audits, newest first."""
    tools = tools_of(context)
    tools.listing(
        tools.client.schedules.list(),
        ["id", "site", "schedule", "zone", "next run", "last audit", "last error"],
        lambda x: (
            *(x.schedule_id, x.url, x.schedule_cron, x.timezone),
            *(x.next_run_at, x.last_audit_id, x.last_error),
        ),
    )


@sharing(asked)
def add(
    context: typer.Context,
    shared: Any,
    cron: Annotated[str, typer.Option(help="Schedule, such as '0 7 * * 1'.")],
    timezone: Annotated[str, typer.Option(help="Time zone of the schedule.")] = "UTC",
) -> None:
    """Audit a site, or a list of pages, by a schedule."""
    tools = tools_of(context)
    made = tools.client.schedules.create(schedule_cron=cron, timezone=timezone, **shared)
    tools.output.result(made, lambda: tools.output.line(made.schedule_id))


def remove(
    context: typer.Context,
    schedule_id: Annotated[str, typer.Argument(help="Id of a schedule.")],
    yes: Yes = False,
) -> None:
    """Remove a schedule; its audits stay."""
    tools = tools_of(context)
    tools.remove(f"Remove {schedule_id}?", tools.client.schedules.delete, schedule_id, yes=yes)
