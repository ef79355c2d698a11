"""`check` and `watch add|tcp|dns|heartbeat|list|results|remove`."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from enum import Enum
from typing import Annotated

import typer

from spinneret_client.cli import exits
from spinneret_client.cli.tools import Tools, Yes, tools_of
from spinneret_client.durations import seconds_of
from spinneret_client.errors import ConfigurationError
from spinneret_client.generated.models import TargetView
from spinneret_client.generated.requests import DailyHours, TargetHttpRequest
from spinneret_client.links import check as check_links

TargetId = Annotated[str, typer.Argument(help="Id of a target.")]
NameOption = Annotated[str | None, typer.Option("--name", help="Name on the status page.")]
EveryOption = Annotated[str | None, typer.Option("--every", help="Interval, such as 60s or 24h.")]


class Method(str, Enum):
    """Methods of requests."""

    GET = "GET"
    HEAD = "HEAD"
    POST = "POST"
    PUT = "PUT"
    PATCH = "PATCH"
    DELETE = "DELETE"
    OPTIONS = "OPTIONS"


class RecordType(str, Enum):
    """Types of DNS records."""

    A = "A"
    AAAA = "AAAA"
    CNAME = "CNAME"
    MX = "MX"
    TXT = "TXT"
    NS = "NS"


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(epilog="Example: spinneret check https://example.com/ https://example.com/faq")(
        check
    )
    group = typer.Typer(no_args_is_help=True, help="Monitor addresses.")
    group.command(epilog="Example: spinneret watch add https://example.com/ --every 60s")(add)
    group.command(epilog="Example: spinneret watch tcp db.example.com 5432")(tcp)
    group.command(
        epilog="Example: spinneret watch dns example.com MX --expect '10 mx.example.com'"
    )(dns)
    group.command(epilog="Example: spinneret watch heartbeat Backup --every 24h --grace 1h")(
        heartbeat
    )
    group.command("list", epilog="Example: spinneret watch list")(list_targets)
    group.command(epilog="Example: spinneret watch results t_0198…")(results)
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
    with tools.watching("links") as show:
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


def add(
    context: typer.Context,
    url: Annotated[str, typer.Argument(help="Address to monitor.")],
    name: NameOption = None,
    every: EveryOption = None,
    retry: Annotated[
        str | None, typer.Option(help="Time to the next check while a failure isn't confirmed.")
    ] = None,
    remind: Annotated[
        str | None, typer.Option(help="Time after which an incident is reported again.")
    ] = None,
    quiet_hours: Annotated[
        str | None, typer.Option(help="Hours without reports, such as 22:00-07:00.")
    ] = None,
    zone: Annotated[str, typer.Option(help="Time zone of these hours.")] = "UTC",
    method: Annotated[Method, typer.Option(help="Method of the request.")] = Method.GET,
    header: Annotated[
        list[str] | None, typer.Option(help="Header, such as 'X-Key: value'; repeatable.")
    ] = None,
    body: Annotated[str | None, typer.Option(help="Body of the request.")] = None,
    user: Annotated[str | None, typer.Option(help="User name; asks for the password.")] = None,
) -> None:
    """Monitor an address; a known one is returned as it is."""
    tools = tools_of(context)
    reminder = _whole_seconds(remind)
    made = tools.client.targets.create(
        url=url,
        method=method.value,
        request=_request_of(header or [], body, user),
        name=name,
        interval_seconds=_whole_seconds(every),
        retry_seconds=_whole_seconds(retry),
        reminder_minutes=None if reminder is None else reminder // 60,
        quiet_hours=None if quiet_hours is None else _daily_hours(quiet_hours, zone),
    )
    _show(tools, made)


def tcp(
    context: typer.Context,
    host: Annotated[str, typer.Argument(help="Host to connect to.")],
    port: Annotated[int, typer.Argument(help="Port to connect to.", min=1, max=65535)],
    name: NameOption = None,
    every: EveryOption = None,
) -> None:
    """Monitor a port: a connection is opened and closed."""
    tools = tools_of(context)
    seconds = _whole_seconds(every)
    made = tools.client.targets.create(
        kind="tcp", host=host, port=port, name=name, interval_seconds=seconds
    )
    _show(tools, made)


def dns(
    context: typer.Context,
    host: Annotated[str, typer.Argument(help="Name of the record.")],
    record_type: Annotated[RecordType, typer.Argument(help="Type of the record.")],
    expect: Annotated[
        list[str] | None, typer.Option(help="Value that must be among the records; repeatable.")
    ] = None,
    name: NameOption = None,
    every: EveryOption = None,
) -> None:
    """Monitor a DNS record."""
    tools = tools_of(context)
    made = tools.client.targets.create(
        kind="dns",
        host=host,
        record_type=record_type.value,
        expected=expect or [],
        name=name,
        interval_seconds=_whole_seconds(every),
    )
    _show(tools, made)


def heartbeat(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Name of the job that calls.")],
    every: Annotated[str, typer.Option(help="Longest time between two calls.")] = "24h",
    grace: Annotated[str, typer.Option(help="Time by which a call may be late.")] = "0s",
) -> None:
    """Monitor a job by its calls; shows once the secret address to call."""
    tools = tools_of(context)
    made = tools.client.targets.create(
        kind="heartbeat",
        name=name,
        interval_seconds=_whole_seconds(every),
        grace_seconds=_whole_seconds(grace) or 0,
    )
    url = tools.client.connection.url + tools.client.targets.create_heartbeat(made.id).path

    def text() -> None:
        tools.output.line(f"{made.id}  {made.name}")
        tools.output.line(f"curl -fsS '{url}'")

    tools.output.result({"id": made.id, "name": made.name, "url": url}, text)


def _show(tools: Tools, made: TargetView) -> None:
    tools.output.result(made, lambda: tools.output.line(f"{made.id}  {made.url}"))


def _request_of(headers: list[str], body: str | None, user: str | None) -> TargetHttpRequest | None:
    request: TargetHttpRequest = {}
    if headers:
        request["headers"] = dict(map(_header, headers))
    if body is not None:
        request["body"] = body
    if user is not None:
        password = typer.prompt("Password", hide_input=True, err=True)
        request["credentials"] = {"username": user, "password": password}
    return request or None


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon:
        raise ConfigurationError(f"{name} is no header: write it as 'Name: value'")
    return name.strip(), value.strip()


def _whole_seconds(duration: str | None) -> int | None:
    return None if duration is None else int(seconds_of(duration))


def _daily_hours(text: str, zone: str) -> DailyHours:
    start, dash, end = text.partition("-")
    if not dash:
        raise ConfigurationError(f"{text} is no range of hours: write it as 22:00-07:00")
    return {"start": start.strip(), "end": end.strip(), "timezone": zone}


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


def remove(context: typer.Context, target_id: TargetId, yes: Yes = False) -> None:
    """End the monitoring of an address."""
    tools = tools_of(context)
    question = f"Remove {target_id} with its results?"
    tools.remove(question, tools.client.targets.delete, target_id, yes=yes)
