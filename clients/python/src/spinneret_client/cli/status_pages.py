"""Commands `status pages|publish|unpublish|notices|post|update|withdraw`."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from spinneret_client.cli.tools import Yes, tools_of
from spinneret_client.errors import ConfigurationError, NotFound
from spinneret_client.generated.requests import GroupOfTargets

Slug = Annotated[str, typer.Argument(help="Last part of the page's address.")]
NoticeId = Annotated[str, typer.Argument(help="Id of a notice.")]
Pages = Annotated[list[str] | None, typer.Option("--page", help="Slug of a page; repeatable.")]


class Kind(str, Enum):
    """Kinds of notices."""

    incident = "incident"
    maintenance = "maintenance"


class Status(str, Enum):
    """Statuses of notices."""

    investigating = "investigating"
    identified = "identified"
    monitoring = "monitoring"
    resolved = "resolved"
    scheduled = "scheduled"
    in_progress = "in_progress"
    completed = "completed"


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True, help="Publish status pages and notices.")
    group.command("pages", epilog="Example: spinneret status pages")(list_pages)
    group.command(
        epilog="Example: spinneret status publish acme 'Acme' --group 'Shop=t_0198…,t_0199…'"
    )(publish)
    group.command(epilog="Example: spinneret status unpublish acme --yes")(unpublish)
    group.command("notices", epilog="Example: spinneret status notices")(list_notices)
    group.command(epilog="Example: spinneret status post 'Payments' 'Some payments fail.'")(post)
    group.command(epilog="Example: spinneret status update nt_0198… resolved 'All works.'")(update)
    group.command(epilog="Example: spinneret status withdraw nt_0198… --yes")(withdraw)
    app.add_typer(group, name="status")


def list_pages(context: typer.Context) -> None:
    """List status pages."""
    tools = tools_of(context)
    tools.listing(
        tools.client.status_page.pages().items,
        ["slug", "title", "groups"],
        lambda x: (x.slug, x.title, ", ".join(each.name for each in x.groups)),
    )


def publish(
    context: typer.Context,
    slug: Slug,
    title: Annotated[str, typer.Argument(help="Title of the page.")],
    group: Annotated[
        list[str] | None,
        typer.Option(help="Name and targets, such as 'Shop=t_1,t_2'; repeatable. None: all."),
    ] = None,
) -> None:
    """Publish a status page, or change the page with this slug."""
    tools = tools_of(context)
    pages, groups = tools.client.status_page, list(map(_group, group or []))
    try:
        page = pages.replace_at(slug, title=title, groups=groups)
    except NotFound:
        page = pages.create(slug=slug, title=title, groups=groups)
    url = tools.client.connection.url + page.path
    tools.output.result(page, lambda: tools.output.line(url))


def unpublish(context: typer.Context, slug: Slug, yes: Yes = False) -> None:
    """Remove a status page."""
    tools = tools_of(context)
    delete = tools.client.status_page.delete_at
    tools.remove(f"Remove the page {slug}?", delete, slug, yes=yes)


def list_notices(context: typer.Context) -> None:
    """List notices, newest first."""
    tools = tools_of(context)
    tools.listing(
        tools.client.notices.list(),
        ["id", "kind", "status", "updated", "title"],
        lambda x: (x.id, x.kind, x.status, x.updated_at, x.title),
    )


def post(
    context: typer.Context,
    title: Annotated[str, typer.Argument(help="Title for everybody.")],
    text: Annotated[str, typer.Argument(help="Text of the first update.")],
    kind: Annotated[Kind, typer.Option(help="Kind of the notice.")] = Kind.incident,
    starts: Annotated[str | None, typer.Option(help="Begin of maintenance (RFC 3339).")] = None,
    ends: Annotated[str | None, typer.Option(help="End of maintenance (RFC 3339).")] = None,
    page: Pages = None,
) -> None:
    """Post an incident or maintenance on all pages, or on some."""
    tools = tools_of(context)
    notice = tools.client.notices.post(
        kind=kind.value, title=title, text=text, starts_at=starts, ends_at=ends, slugs=page or []
    )
    tools.output.result(notice, lambda: tools.output.line(f"{notice.id}  {notice.title}"))


def update(
    context: typer.Context,
    notice_id: NoticeId,
    status: Annotated[Status, typer.Argument(help="Status from now on.")],
    text: Annotated[str, typer.Argument(help="Text for everybody.")],
) -> None:
    """Add an update; `resolved` or `completed` ends the notice."""
    tools = tools_of(context)
    notice = tools.client.notices.update(notice_id, status=status.value, text=text)
    tools.output.result(notice, lambda: tools.output.line(f"{notice.id}  {notice.status}"))


def withdraw(context: typer.Context, notice_id: NoticeId, yes: Yes = False) -> None:
    """Remove a notice from all pages."""
    tools = tools_of(context)
    tools.remove(f"Remove {notice_id}?", tools.client.notices.delete, notice_id, yes=yes)


def _group(text: str) -> GroupOfTargets:
    name, sign, ids = text.partition("=")
    if not sign:
        raise ConfigurationError(f"{text} is no group: write it as 'Shop=t_1,t_2'")
    return {"name": name.strip(), "target_ids": [each.strip() for each in ids.split(",")]}
