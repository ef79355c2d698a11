"""Command `screenshot`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from spinneret_client.cli import exits
from spinneret_client.cli.tools import tools_of
from spinneret_client.generated import models as m

Format = Literal["png", "jpeg", "webp"]


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: spinneret screenshot https://example.com/ --out page.png")(
        screenshot
    )


def screenshot(
    context: typer.Context,
    url: Annotated[str, typer.Argument(help="Page.")],
    out: Annotated[Path | None, typer.Option(help="Write the image to this file.")] = None,
    selector: Annotated[str | None, typer.Option(help="CSS selector of one element.")] = None,
    window: Annotated[
        bool, typer.Option("--window", help="Only the window instead of the whole page.")
    ] = False,
    width: Annotated[int, typer.Option(help="Width of the window in CSS pixels.")] = 1280,
    height: Annotated[int, typer.Option(help="Height of the window in CSS pixels.")] = 800,
    format_: Annotated[Format, typer.Option("--format", help="Format of the image.")] = "png",
) -> None:
    """Take a screenshot of a page in a browser on the server; waits until it is there."""
    tools = tools_of(context)
    media = tools.client.media
    made = media.take_screenshot(
        url=url,
        selector=selector,
        full_page=not window,
        viewport={"width": width, "height": height},
        format=format_,
    )
    assert isinstance(made, m.MediaSubmission)  # several pages have another response
    done = tools.follow(made.job_id, media.stream(made.job_id), media.get)
    if out is not None and done.download_url is not None:
        out.write_bytes(media.download(made.job_id))

    def text() -> None:
        reason = f": {done.error.error}" if done.error is not None else ""
        tools.output.line(f"{done.status:<10} {url}{reason}")
        if done.download_url is not None:
            tools.output.line(str(out) if out is not None else done.download_url)

    tools.output.result(done, text)
    if done.is_cut:
        tools.output.note("the page is too large for one image: this is its upper part")
    exits.leave(exits.code_of([done.status]))
