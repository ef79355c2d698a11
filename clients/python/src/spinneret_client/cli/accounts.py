"""Commands `login`, `logout` and `whoami`."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from spinneret_client.cli.tools import Tools, tools_of
from spinneret_client.client import Spinneret
from spinneret_client.config import (
    Profile,
    checked_url,
    config_path,
    load,
    profile_name,
    save,
)
from spinneret_client.errors import ConfigurationError, Forbidden, SpinneretError
from spinneret_client.generated.models import CallerView
from spinneret_client.stored_session import sessions_at, with_tokens


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(epilog="Example: spinneret login --url https://… --tenant acme --email me@x.org")(
        login
    )
    app.command(epilog="Example: spinneret logout")(logout)
    app.command(epilog="Example: spinneret whoami")(whoami)


def login(
    context: typer.Context,
    email: Annotated[str | None, typer.Option(help="Sign in as a person.")] = None,
    tenant: Annotated[str | None, typer.Option(help="Tenant of the person.")] = None,
    key_stdin: Annotated[
        bool, typer.Option("--key-stdin", help="Read the key from stdin.")
    ] = False,
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from stdin.")
    ] = False,
) -> None:
    """Store the URL and a key, or a person's session, in a profile, which only you can read."""
    tools = tools_of(context)
    if key_stdin and (email or tenant or password_stdin):
        raise ConfigurationError("--key-stdin stores a key: leave --email, --tenant and a password")
    url = _given(tools.url, "--url", "URL of the API")
    if email or tenant or password_stdin:
        profile = _session(url, tenant, email, from_stdin=password_stdin)
    else:
        profile = _key(url, from_stdin=key_stdin)
    name = profile_name(tools.profile)
    path = config_path()
    save(path, name, profile)
    tools.output.result(
        {"profile": name, "path": str(path)},
        lambda: tools.output.note(f"profile {name} stored in {path}"),
    )


def _key(url: str, *, from_stdin: bool) -> Profile:
    key = _secret("API key", "--key-stdin", from_stdin=from_stdin)
    with Spinneret(url, key) as client:
        with _narrowed():
            list(client.jobs.list(limit=1, max_items=1))  # raises for a wrong key
        return Profile(client.connection.url, key)


def _session(url: str, tenant: str | None, email: str | None, *, from_stdin: bool) -> Profile:
    """Sign in, and return the profile of the session. Raises AuthRequired."""
    tenant = _given(tenant, "--tenant", "Tenant")
    email = _given(email, "--email", "E-mail address")
    password = _secret("Password", "--password-stdin", from_stdin=from_stdin)
    place = checked_url(url)
    tokens = sessions_at(place).sign_in(tenant=tenant, email=email, password=password)
    return with_tokens(Profile(place, tokens.access_token), tokens, time.time())


def _given(value: str | None, option: str, question: str) -> str:
    """Return an option's value, or ask for it at a terminal. Raises ConfigurationError."""
    if value is None and _has_terminal():
        return str(typer.prompt(question, err=True))
    if value is None:
        raise ConfigurationError(f"{option} is missing: {question}")
    return value


def _secret(question: str, option: str, *, from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().strip("\r\n")
    if _has_terminal():
        return str(typer.prompt(question, hide_input=True, err=True))
    raise ConfigurationError(f"there is no terminal to ask at: pass {option}")


def _has_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def logout(context: typer.Context) -> None:
    """Remove the profile, and end its session."""
    tools = tools_of(context)
    name = profile_name(tools.profile)
    stored = load(config_path()).get(name)
    save(config_path(), name, None)
    if stored is not None and stored.refresh_token is not None:
        _end(tools, stored.url, stored.refresh_token)
    tools.output.result({"profile": name}, lambda: tools.output.note(f"profile {name} removed"))


def _end(tools: Tools, url: str, refresh_token: str) -> None:
    """End a session; print a note if that fails, because the profile is removed anyway."""
    try:
        sessions_at(url).sign_out(refresh_token=refresh_token)
    except SpinneretError as error:
        tools.output.note(f"the session wasn't ended on the server: {error}")


def whoami(context: typer.Context) -> None:
    """Show where requests go, who sends them, and what this caller may do."""
    tools = tools_of(context)
    connection = tools.client.connection
    caller = _caller(tools.client)
    found: dict[str, Any] = {
        "url": connection.url,
        "profile": connection.profile,
        "sources": dict(connection.sources),
        "caller": caller,
    }

    def text() -> None:
        tools.output.line(f"url: {found['url']} ({found['sources']['url']})")
        tools.output.line(f"key: from {found['sources'].get('key', 'nowhere')}")
        if caller is None:
            tools.output.line("may: what a key without the permission use_account is narrowed to")
            return
        role = f" ({caller.role})" if caller.role else ""
        tools.output.line(f"{caller.kind}: {caller.id} of {caller.tenant}{role}")
        tools.output.line(f"may: {', '.join(caller.permissions)}")

    tools.output.result(found, text)


def _caller(client: Spinneret) -> CallerView | None:
    """Return the caller as the server identifies it; None if a narrowed key lacks permission."""
    with _narrowed():
        return client.sessions.caller()
    return None


@contextmanager
def _narrowed() -> Iterator[None]:
    """Ignore the error of a genuine key that lacks a permission."""
    try:
        yield
    except Forbidden as error:
        if error.code != "FORBIDDEN":
            raise
