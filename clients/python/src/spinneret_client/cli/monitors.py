"""Commands `check` and `watch list|results|pause|resume|remove`."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Annotated

import typer

from spinneret_client.cli import exits, targets
from spinneret_client.cli.targets import TargetId
from spinneret_client.cli.tools import Yes, tools_of
from spinneret_client.durations import seconds_of
from spinneret_client.errors import ConfigurationError
from spinneret_client.links import check as check_links


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(epilog="Example: spinneret check https://example.com/ https://example.com/faq")(
        check
    )
    group = typer.Typer(no_args_is_help=True, help="Monitor addresses.")
    targets.add_to(group)
    group.command("list", epilog="Example: spinneret watch list")(list_targets)
    group.command(epilog="Example: spinneret watch results t_0198…")(results)
    group.command(epilog="Example: spinneret watch pause t_0198…")(pause)
    group.command(epilog="Example: spinneret watch resume t_0198…")(resume)
    group.command(epilog="Example: spinneret watch remove t_0198… --yes")(remove)
    app.add_typer(group, name="watch")


def check(
    context: typer.Context,
    urls: Annotated[list[str], typer.Argument(help="Links to check.")],
    timeout: Annotated[str, typer.Option(help="Longest wait for all, such as 90s.")] = "60s",
) -> None:
    """Check links now: 0 all work, 2 some are broken, 1 the check failed, 8 some are unknown."""
    tools = tools_of(context)
    seconds = seconds_of(timeout)
    if seconds <= 0:
        raise ConfigurationError("--timeout must be above 0s")
    found = []
    with tools.watching("links", None) as show:
        for result in check_links(tools.client, urls, seconds):
            found.append(result)
            show(100 * len(found) / len(urls), f"{result.outcome} {result.url}")

    counts = Counter(each.outcome for each in found)
    words = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))

    def text() -> None:
        for each in found:
            status = each.status_code or "-"
            reason = f": {each.reason}" if each.reason else ""
            tools.output.line(f"{each.outcome:<10} {status:<4} {each.url}{reason}")

    rows = [asdict(each) for each in found]
    document = {"counts": dict(counts), "links": rows}
    tools.output.result(rows if tools.output.form == "jsonl" else document, text)
    tools.output.note(f"{len(found)} links: {words}")
    rest = exits.UNFINISHED if counts.keys() - {"ok"} else exits.DONE
    exits.leave(exits.GATE if counts["broken"] else rest)


def list_targets(context: typer.Context) -> None:
    """List monitored addresses with their states."""
    tools = tools_of(context)
    tools.listing(
        tools.client.targets.list(),
        ["id", "kind", "state", "status", "ms", "url"],
        lambda x: (x.id, x.kind, x.status, x.last_status_code, x.last_latency_ms, x.name or x.url),
    )


def results(
    context: typer.Context,
    target_id: TargetId,
    limit: Annotated[int, typer.Option(help="Most results.")] = 20,
) -> None:
    """List a target's results, newest first."""
    tools = tools_of(context)
    tools.listing(
        tools.client.targets.results(target_id, max_items=limit),
        ["time", "outcome", "status", "ms", "error"],
        lambda x: (x.checked_at, x.outcome, x.status_code, x.latency_ms, x.error),
    )


def pause(context: typer.Context, target_id: TargetId) -> None:
    """Stop the checks of a target until it is resumed."""
    tools = tools_of(context)
    targets.show(tools, tools.client.targets.pause(target_id))


def resume(context: typer.Context, target_id: TargetId) -> None:
    """Check a paused target again."""
    tools = tools_of(context)
    targets.show(tools, tools.client.targets.resume(target_id))


def remove(context: typer.Context, target_id: TargetId, yes: Yes = False) -> None:
    """End the monitoring of an address."""
    tools = tools_of(context)
    question = f"Remove {target_id} with its results?"
    tools.remove(question, tools.client.targets.delete, target_id, yes=yes)
