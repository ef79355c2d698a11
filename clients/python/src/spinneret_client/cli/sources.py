"""Commands `sources list|add|run|runs|remove`."""

from __future__ import annotations

from typing import Annotated

import typer

from spinneret_client.cli.tools import Yes, tools_of

SourceId = Annotated[str, typer.Argument(help="Id of a source.")]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True, help="Crawl sites again by a schedule.")
    group.command("list", epilog="Example: spinneret sources list")(list_sources)
    group.command(epilog="Example: spinneret sources add News 'https://example.com/**'")(add)
    group.command(epilog="Example: spinneret sources run src_0198…")(run)
    group.command(epilog="Example: spinneret sources runs src_0198…")(runs)
    group.command(epilog="Example: spinneret sources remove src_0198… --yes")(remove)
    app.add_typer(group, name="sources")


def list_sources(context: typer.Context) -> None:
    """List sources."""
    tools = tools_of(context)
    tools.listing(
        tools.client.sources.list(),
        ["id", "name", "pages", "schedule", "last crawl"],
        lambda x: (x.source_id, x.name, x.url_pattern, x.schedule_cron, x.last_crawled_at),
    )


def add(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Name of the source.")],
    pages: Annotated[str, typer.Argument(help="Pattern of its URLs.")],
    cron: Annotated[str | None, typer.Option(help="Schedule, such as '0 6 * * *'.")] = None,
    timezone: Annotated[str, typer.Option(help="Time zone of the schedule.")] = "UTC",
) -> None:
    """Add a source."""
    tools = tools_of(context)
    made = tools.client.sources.create(
        name=name, url_pattern=pages, schedule_cron=cron, timezone=timezone
    )
    tools.output.result(made, lambda: tools.output.line(made.source_id))


def run(context: typer.Context, source_id: SourceId) -> None:
    """Crawl a source now."""
    tools = tools_of(context)
    begun = tools.client.sources.trigger(source_id)
    tools.output.result(begun, lambda: tools.output.line(f"{begun.run_id}  {begun.status}"))


def runs(context: typer.Context, source_id: SourceId) -> None:
    """List the runs of a source, newest first."""
    tools = tools_of(context)
    tools.listing(
        tools.client.sources.runs(source_id, max_items=20),
        ["run", "status", "new", "changed", "unchanged", "gone"],
        lambda x: (x.run_id, x.status, x.new, x.changed, x.unchanged, x.gone),
    )


def remove(context: typer.Context, source_id: SourceId, yes: Yes = False) -> None:
    """Remove a source; its documents stay."""
    tools = tools_of(context)
    tools.remove(f"Remove {source_id}?", tools.client.sources.delete, source_id, yes=yes)
