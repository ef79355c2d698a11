"""Commands `users list|invite|change|remove`."""

from __future__ import annotations

from typing import Annotated, Literal, cast

import typer

from spinneret_client.cli.tools import Yes, tools_of

Role = Literal["admin", "seller", "viewer"]
UserId = Annotated[str, typer.Argument(help="Id of a person.")]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True, help="People of the tenant.")
    group.command("list", epilog="Example: spinneret users list")(list_users)
    group.command(epilog="Example: spinneret users invite maya@example.com Maya --role seller")(
        invite
    )
    group.command(epilog="Example: spinneret users change u_0198… --role viewer")(change)
    group.command(epilog="Example: spinneret users remove u_0198… --yes")(remove)
    app.add_typer(group, name="users")


def list_users(context: typer.Context) -> None:
    """List people."""
    tools = tools_of(context)
    tools.listing(
        tools.client.users.list(),
        ["id", "email", "name", "role", "active", "last sign-in"],
        lambda x: (x.user_id, x.email, x.name, x.role, x.is_active, x.last_login_at),
    )


def invite(
    context: typer.Context,
    email: Annotated[str, typer.Argument(help="E-mail address.")],
    name: Annotated[str, typer.Argument(help="Name for people.")],
    role: Annotated[Role, typer.Option(help="What the person may do.")] = "viewer",
) -> None:
    """Add a person; the invitation is shown once and valid for 72 hours."""
    tools = tools_of(context)
    made = tools.client.users.invite(email=email, name=name, role=role)
    tools.output.result(made, lambda: tools.output.line(made.invitation))
    tools.output.note(f"{made.user_id}: the invitation is shown once; POST /api/v1/auth/accept")


def change(
    context: typer.Context,
    user_id: UserId,
    role: Annotated[Role | None, typer.Option(help="New role.")] = None,
    name: Annotated[str | None, typer.Option(help="New name.")] = None,
    active: Annotated[
        bool | None, typer.Option("--active/--inactive", help="Whether the person may sign in.")
    ] = None,
) -> None:
    """Change a person; another role or activity ends all of the person's sessions."""
    tools = tools_of(context)
    present = tools.client.users.get(user_id)
    changed = tools.client.users.replace(
        user_id,
        name=present.name if name is None else name,
        role=cast(Role, present.role) if role is None else role,
        is_active=present.is_active if active is None else active,
    )
    activity = "active" if changed.is_active else "inactive"
    tools.output.result(
        changed, lambda: tools.output.line(f"{changed.user_id}  {changed.role}  {activity}")
    )


def remove(context: typer.Context, user_id: UserId, yes: Yes = False) -> None:
    """Delete a person and end the person's sessions."""
    tools = tools_of(context)
    tools.remove(f"Remove {user_id}?", tools.client.users.delete, user_id, yes=yes)
