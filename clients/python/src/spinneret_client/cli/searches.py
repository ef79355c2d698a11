"""Command `search`."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import typer

from spinneret_client.cli.tools import marked, tools_of
from spinneret_client.errors import ConfigurationError
from spinneret_client.generated import models as m

LISTS: Final = {
    "collection": "collection_ids",
    "domain": "domains",
    "language": "languages",
    "source": "source_types",
    "tag": "tag_ids",
    "type": "content_types",
}
SINGLE: Final = {"from": "date_from", "to": "date_to"}
Mode = Literal["hybrid", "vector", "keyword"]


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: spinneret search 'sticky silk' --filter domain=example.com")(
        search
    )


def search(
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="Words; a quoted phrase must occur literally.")],
    mode: Annotated[Mode, typer.Option(help="Search by meaning and words, or by one.")] = "hybrid",
    filters: Annotated[
        list[str] | None,
        typer.Option("--filter", help=f"NAME=VALUE; names: {', '.join([*LISTS, *SINGLE])}."),
    ] = None,
    limit: Annotated[int, typer.Option(help="Most hits, up to 100.")] = 10,
    cursor: Annotated[str | None, typer.Option(help="Continue after an earlier page.")] = None,
) -> None:
    """Search what was crawled and uploaded."""
    tools = tools_of(context)
    body: dict[str, Any] = {"query": query, "limit": limit, "cursor": cursor}
    body |= filters_of(filters or [])
    found: m.SearchResponse = getattr(tools.client.search, mode)(**body)

    def text() -> None:
        console = tools.output.console
        for number, hit in enumerate(found.results, start=1):
            scores = {"vector": hit.vector_score, "keyword": hit.keyword_score}
            legs = " ".join(f"{leg} {each:.2f}" for leg, each in scores.items() if each is not None)
            tools.output.line(f"{number}. {hit.title or hit.url}", style="bold")
            tools.output.line(
                f"   {hit.url}  score {hit.score:.4f}, found by {hit.source} ({legs})"
            )
            ranges = [(begin, end) for begin, end in hit.highlights]
            console.print("   " + marked(hit.content, ranges))
        tools.output.note(
            f"{len(found.results)} of {found.total_count} hits, {found.latency_ms:.0f} ms"
        )
        if found.next_cursor:
            tools.output.note(f"next page: --cursor {found.next_cursor}")

    tools.output.result(found.results if tools.output.form == "jsonl" else found, text)


def filters_of(given: list[str]) -> dict[str, Any]:
    """Return the fields of a search for `NAME=VALUE`. Raises ConfigurationError."""
    body: dict[str, Any] = {}
    for each in given:
        name, equals, value = each.partition("=")
        if equals and name in LISTS:
            body.setdefault(LISTS[name], []).append(value)
        elif equals and name in SINGLE:
            body[SINGLE[name]] = value
        else:
            known = ", ".join([*LISTS, *SINGLE])
            raise ConfigurationError(f"--filter {each}: expected NAME=VALUE with one of {known}")
    return body
