"""Commands `keys list|create|revoke`."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Annotated, Any, Literal

import typer

from spinneret_client.cli.tools import Yes, tools_of
from spinneret_client.durations import seconds_of

Scope = Literal["read", "write", "admin"]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True, help="API keys of the tenant.")
    group.command("list", epilog="Example: spinneret keys list")(list_keys)
    group.command(epilog="Example: spinneret keys create ci --scope write --permission run_audits")(
        create
    )
    group.command(epilog="Example: spinneret keys revoke key_0198… --yes")(revoke)
    app.add_typer(group, name="keys")


def list_keys(context: typer.Context) -> None:
    """List keys."""
    tools = tools_of(context)
    tools.listing(
        tools.client.keys.list(),
        ["id", "name", "prefix", "scopes", "active", "expires"],
        lambda x: (x.key_id, x.name, x.prefix, ",".join(x.scopes), x.is_active, x.expires_at),
    )


def create(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Name of the key.")],
    scope: Annotated[Scope, typer.Option(help="What it may do.")] = "read",
    permission: Annotated[
        list[str] | None, typer.Option(help="Narrow it to this permission; may be repeated.")
    ] = None,
    expires: Annotated[str | None, typer.Option(help="Lifetime, such as 90d or 12h.")] = None,
    rate: Annotated[int | None, typer.Option(help="Requests per minute.")] = None,
) -> None:
    """Create a key, whose secret is shown once."""
    tools = tools_of(context)
    wanted: dict[str, Any] = {"name": name, "scopes": [scope]}
    if permission:
        wanted["permissions"] = permission
    if expires is not None:
        end = datetime.now(timezone.utc) + timedelta(seconds=seconds_of(expires))
        wanted["expires_at"] = end.isoformat().replace("+00:00", "Z")
    if rate is not None:
        wanted["rate_limit_rpm"] = rate
    made = tools.client.keys.create(**wanted)
    tools.output.result(made, lambda: tools.output.line(made.secret))
    tools.output.note(f"{made.key_id}: the secret is shown once")


def revoke(
    context: typer.Context,
    key_id: Annotated[str, typer.Argument(help="Id of a key.")],
    yes: Yes = False,
) -> None:
    """Revoke a key at once."""
    tools = tools_of(context)
    tools.remove(f"Revoke {key_id}?", tools.client.keys.delete, key_id, yes=yes, done="revoked")
