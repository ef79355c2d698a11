"""`login`, `logout`, `whoami` and `keys list|create|revoke`."""

from __future__ import annotations

import sys
from typing import Annotated, Any, Literal

import typer

from spinneret_client.cli.tools import tools_of
from spinneret_client.client import Spinneret
from spinneret_client.config import DEFAULT, Profile, config_path, save
from spinneret_client.errors import ConfigurationError, Forbidden
from spinneret_client.permissions import may

Scope = Literal["read", "write", "admin"]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(epilog="Example: spinneret login --url https://…")(login)
    app.command(epilog="Example: spinneret logout")(logout)
    app.command(epilog="Example: spinneret whoami")(whoami)
    group = typer.Typer(no_args_is_help=True, help="API keys of the tenant.")
    group.command("list", epilog="Example: spinneret keys list")(list_keys)
    group.command(epilog="Example: spinneret keys create ci --scope read")(create)
    group.command(epilog="Example: spinneret keys revoke key_0198… --yes")(revoke)
    app.add_typer(group, name="keys")


def login(
    context: typer.Context,
    key_stdin: Annotated[
        bool, typer.Option("--key-stdin", help="Read the key from stdin.")
    ] = False,
) -> None:
    """Store the URL and a key in a profile, which only you can read."""
    tools = tools_of(context)
    url = tools.url
    terminal = sys.stdin.isatty() and sys.stderr.isatty()
    if url is None and terminal:
        url = typer.prompt("URL of the API", err=True)
    if url is None:
        raise ConfigurationError("--url is missing: the address of the API")
    if key_stdin:
        key = sys.stdin.readline().strip()
    elif terminal:
        key = typer.prompt("API key", hide_input=True, err=True)
    else:
        raise ConfigurationError("there is no terminal to ask at: pass --key-stdin")
    with Spinneret(url, key) as client:
        list(client.jobs.list(limit=1, max_items=1))  # raises for a wrong key
    name = tools.profile or DEFAULT
    path = config_path()
    save(path, name, Profile(client.connection.url, key))
    tools.output.note(f"profile {name} stored in {path}")


def logout(context: typer.Context) -> None:
    """Remove the profile."""
    tools = tools_of(context)
    name = tools.profile or DEFAULT
    save(config_path(), name, None)
    tools.output.note(f"profile {name} removed")


def whoami(context: typer.Context) -> None:
    """Show where requests go, and what the key may do."""
    tools = tools_of(context)
    client = tools.client
    list(client.jobs.list(limit=1, max_items=1))
    found: dict[str, Any] = {
        "url": client.connection.url,
        "profile": client.connection.profile,
        "sources": dict(client.connection.sources),
        "write": may(client, "POST", "/api/v1/crawl"),
        "admin": _is_admin(client),
    }

    def text() -> None:
        tools.output.line(f"url: {found['url']} ({found['sources']['url']})")
        tools.output.line(f"key: from {found['sources'].get('key', 'nowhere')}")
        rights = ["read", *(name for name in ("write", "admin") if found[name])]
        tools.output.line(f"may: {', '.join(rights)}")

    tools.output.result(found, text)


def _is_admin(client: Spinneret) -> bool:
    try:
        list(client.keys.list(limit=1, max_items=1))
    except Forbidden:
        return False
    return True


def list_keys(context: typer.Context) -> None:
    """List keys."""
    tools = tools_of(context)
    found = list(tools.client.keys.list())
    rows = [
        (x.key_id, x.name, x.prefix, ",".join(x.scopes), x.is_active, x.expires_at) for x in found
    ]
    columns = ["id", "name", "prefix", "scopes", "active", "expires"]
    tools.output.result(found, lambda: tools.output.table(columns, rows))


def create(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Name of the key.")],
    scope: Annotated[Scope, typer.Option(help="What it may do.")] = "read",
) -> None:
    """Create a key, whose secret is shown once."""
    tools = tools_of(context)
    made = tools.client.keys.create(name=name, scopes=[scope])
    tools.output.result(made, lambda: tools.output.line(made.secret))
    tools.output.note(f"{made.key_id}: the secret is shown once")


def revoke(
    context: typer.Context,
    key_id: Annotated[str, typer.Argument(help="Id of a key.")],
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask.")] = False,
) -> None:
    """Revoke a key at once."""
    tools = tools_of(context)
    tools.confirm(f"Revoke {key_id}?", yes=yes)
    tools.client.keys.delete(key_id)
    tools.output.note(f"revoked {key_id}")
