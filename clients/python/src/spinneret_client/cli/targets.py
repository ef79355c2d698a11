"""Commands `watch add|tcp|dns|heartbeat|change`, with the options of targets."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any

import typer

from spinneret_client.cli.options import given, headers_of, sharing
from spinneret_client.cli.tools import Tools, tools_of
from spinneret_client.durations import seconds_of
from spinneret_client.errors import ConfigurationError
from spinneret_client.generated.models import TargetView
from spinneret_client.generated.requests import DailyHours, TargetHttpRequest

TargetId = Annotated[str, typer.Argument(help="Id of a target.")]


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


def add_to(group: typer.Typer) -> None:
    """Add the commands to the group `watch`."""
    group.command(epilog="Example: spinneret watch add https://example.com/ --every 60s")(add)
    group.command(epilog="Example: spinneret watch tcp db.example.com 5432")(tcp)
    group.command(
        epilog="Example: spinneret watch dns example.com MX --expect '10 mx.example.com'"
    )(dns)
    group.command(epilog="Example: spinneret watch heartbeat Backup --every 24h --grace 1h")(
        heartbeat
    )
    group.command(epilog="Example: spinneret watch change t_0198… --public")(change)


def _reported(
    remind: Annotated[
        str | None, typer.Option(help="Time after which an incident is reported again.")
    ] = None,
    quiet_hours: Annotated[
        str | None, typer.Option(help="Hours without reports, such as 22:00-07:00.")
    ] = None,
    zone: Annotated[str, typer.Option(help="Time zone of these hours.")] = "UTC",
    failure_threshold: Annotated[
        int | None, typer.Option(help="Failures in a row that open an incident.")
    ] = None,
    recovery_threshold: Annotated[
        int | None, typer.Option(help="Good checks in a row that end it.")
    ] = None,
    public: Annotated[
        bool | None, typer.Option("--public/--private", help="Show it on status pages.")
    ] = None,
) -> dict[str, Any]:
    """Return the options that all kinds of targets have, in units of the API."""
    reminder = _whole_seconds(remind)
    return given(
        reminder_minutes=None if reminder is None else reminder // 60,
        quiet_hours=None if quiet_hours is None else _daily_hours(quiet_hours, zone),
        failure_threshold=failure_threshold,
        recovery_threshold=recovery_threshold,
        public=public,
    )


@sharing(_reported)
def _checked(
    shared: dict[str, Any],
    name: Annotated[str | None, typer.Option(help="Name on the status page.")] = None,
    every: Annotated[str | None, typer.Option(help="Interval, such as 60s or 24h.")] = None,
    retry: Annotated[
        str | None, typer.Option(help="Time to the next check while a failure isn't confirmed.")
    ] = None,
) -> dict[str, Any]:
    """Return the options of targets that the server checks, which excludes heartbeats."""
    own = given(
        name=name,
        interval_seconds=_whole_seconds(every),
        retry_seconds=_whole_seconds(retry),
    )
    return own | shared


@sharing(_checked)
def add(
    context: typer.Context,
    shared: Any,
    url: Annotated[str, typer.Argument(help="Address to monitor.")],
    method: Annotated[Method, typer.Option(help="Method of the request.")] = Method.GET,
    header: Annotated[
        list[str] | None, typer.Option(help="Header, such as 'X-Key: value'; repeatable.")
    ] = None,
    body: Annotated[str | None, typer.Option(help="Body of the request.")] = None,
    user: Annotated[str | None, typer.Option(help="User name; asks for the password.")] = None,
) -> None:
    """Monitor an address; a known one is returned as it is."""
    tools = tools_of(context)
    made = tools.client.targets.create(
        url=url, method=method.value, request=_request_of(header, body, user), **shared
    )
    show(tools, made)


@sharing(_checked)
def tcp(
    context: typer.Context,
    shared: Any,
    host: Annotated[str, typer.Argument(help="Host to connect to.")],
    port: Annotated[int, typer.Argument(help="Port to connect to.", min=1, max=65535)],
) -> None:
    """Monitor a port: a connection is opened and closed."""
    tools = tools_of(context)
    show(tools, tools.client.targets.create(kind="tcp", host=host, port=port, **shared))


@sharing(_checked)
def dns(
    context: typer.Context,
    shared: Any,
    host: Annotated[str, typer.Argument(help="Name of the record.")],
    record_type: Annotated[RecordType, typer.Argument(help="Type of the record.")],
    expect: Annotated[
        list[str] | None, typer.Option(help="Value that must be among the records; repeatable.")
    ] = None,
) -> None:
    """Monitor a DNS record."""
    tools = tools_of(context)
    made = tools.client.targets.create(
        kind="dns", host=host, record_type=record_type.value, expected=expect or [], **shared
    )
    show(tools, made)


@sharing(_reported)
def heartbeat(
    context: typer.Context,
    shared: Any,
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
        **shared,
    )
    url = tools.client.connection.url + tools.client.targets.create_heartbeat(made.id).path

    def text() -> None:
        tools.output.line(f"{made.id}  {made.name}")
        tools.output.line(f"curl -fsS '{url}'")

    tools.output.result({"id": made.id, "name": made.name, "url": url}, text)


@sharing(_checked)
def change(context: typer.Context, shared: Any, target_id: TargetId) -> None:
    """Change the options of a target; what isn't given is kept."""
    tools = tools_of(context)
    show(tools, tools.client.targets.update(target_id, **shared))


def show(tools: Tools, target: TargetView) -> None:
    """Print a target as the result."""
    tools.output.result(target, lambda: tools.output.line(f"{target.id}  {target.url}"))


def _request_of(
    headers: list[str] | None, body: str | None, user: str | None
) -> TargetHttpRequest | None:
    request: TargetHttpRequest = {}
    if headers:
        request["headers"] = headers_of(headers)
    if body is not None:
        request["body"] = body
    if user is not None:
        password = typer.prompt("Password", hide_input=True, err=True)
        request["credentials"] = {"username": user, "password": password}
    return request or None


def _whole_seconds(duration: str | None) -> int | None:
    return None if duration is None else int(seconds_of(duration))


def _daily_hours(text: str, zone: str) -> DailyHours:
    start, dash, end = text.partition("-")
    if not dash:
        raise ConfigurationError(f"{text} is no range of hours: write it as 22:00-07:00")
    return {"start": start.strip(), "end": end.strip(), "timezone": zone}
