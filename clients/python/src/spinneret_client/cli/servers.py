"""Commands `mcp` and `open`."""

from __future__ import annotations

import typer

from spinneret_client.cli.tools import tools_of
from spinneret_client.errors import ApiError, ConfigurationError


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(epilog="Example: claude mcp add spinneret -- spinneret mcp")(mcp)
    app.command("open", epilog="Example: spinneret open")(open_console)


def mcp(context: typer.Context) -> None:
    """Serve tools to an agent over stdin and stdout."""
    tools = tools_of(context)
    try:
        from spinneret_client.mcp_server.server import serve  # noqa: PLC0415 - needs the extra `mcp`
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "mcp":
            raise
        raise ConfigurationError(
            "the MCP server needs a package beside the client: pip install 'mcp>=2,<3'"
        ) from None
    serve(tools.client)


def open_console(context: typer.Context) -> None:
    """Open the console in a browser, or the API's page where there is none."""
    tools = tools_of(context)
    url = tools.client.connection.url
    address = f"{url}/console"
    try:
        tools.client.request("GET", "/console")
    except ApiError:
        address = f"{url}/docs"
    tools.output.result({"url": address}, lambda: tools.output.line(address))
    if tools.output.live:
        typer.launch(address)
