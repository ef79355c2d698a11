"""Commands `webhooks list|add|test|listen`."""

from __future__ import annotations

import re
from enum import Enum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Annotated, Any, Final

import typer

from spinneret_client.cli.options import headers_of
from spinneret_client.cli.tools import Tools, tools_of
from spinneret_client.errors import ConfigurationError, WebhookInvalid
from spinneret_client.webhooks import verify_webhook

MOST_BYTES: Final = 1_000_000
SECONDS: Final = 10


class Kind(str, Enum):
    """Kinds of endpoints."""

    webhook = "webhook"
    slack = "slack"
    discord = "discord"
    teams = "teams"
    ntfy = "ntfy"


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True, help="Receive events.")
    group.command("list", epilog="Example: spinneret webhooks list")(list_webhooks)
    group.command(
        epilog="Example: spinneret webhooks add https://hooks.slack.com/services/… --kind slack "
        "--event target.down --event target.up"
    )(add)
    group.command(epilog="Example: spinneret webhooks test wh_0198…")(test)
    group.command(epilog="Example: SPINNERET_WEBHOOK_SECRET=whsec_… spinneret webhooks listen")(
        listen
    )
    app.add_typer(group, name="webhooks")


def list_webhooks(context: typer.Context) -> None:
    """List endpoints."""
    tools = tools_of(context)
    tools.listing(
        tools.client.webhooks.list(),
        ["id", "kind", "name", "url", "events"],
        lambda x: (x.endpoint_id, x.kind, x.name, x.url, ",".join(x.events)),
    )


def add(
    context: typer.Context,
    url: Annotated[str, typer.Argument(help="Address that receives the events.")],
    event: Annotated[list[str], typer.Option(help="Type of events to send; repeatable.")],
    kind: Annotated[Kind, typer.Option(help="Format of the messages.")] = Kind.webhook,
    name: Annotated[str | None, typer.Option(help="Name for people; the kind by default.")] = None,
    header: Annotated[
        list[str] | None,
        typer.Option(help="Such as 'Authorization: Bearer tk_…' for ntfy; repeatable."),
    ] = None,
) -> None:
    """Send events to an address: as signed JSON, or as texts to a chat service."""
    tools = tools_of(context)
    made = tools.client.webhooks.create(
        url=url,
        name=name or kind.value,
        kind=kind.value,
        events=event,
        headers=headers_of(header),
    )
    tools.output.result(
        made, lambda: tools.output.line(f"{made.endpoint_id}  {made.kind}  {made.secret}")
    )


def test(
    context: typer.Context,
    endpoint_id: Annotated[str, typer.Argument(help="Id of an endpoint.")],
) -> None:
    """Send a test message to an endpoint."""
    tools = tools_of(context)
    sent = tools.client.webhooks.test(endpoint_id)
    tools.output.result(sent, lambda: tools.output.line(f"{sent.delivery_id}  {sent.message}"))


def listen(
    context: typer.Context,
    port: Annotated[int, typer.Option(help="Port on loopback; 0 takes a free one.")] = 8787,
    secret: Annotated[
        str | None,
        typer.Option(
            envvar="SPINNERET_WEBHOOK_SECRET", help="Secret of the endpoint.", show_default=False
        ),
    ] = None,
    count: Annotated[
        int | None, typer.Option(min=1, help="End after this many deliveries.")
    ] = None,
) -> None:
    """Receive deliveries on this machine, verify them and print them."""
    tools = tools_of(context)
    if secret is None:
        raise ConfigurationError("set SPINNERET_WEBHOOK_SECRET to the endpoint's secret (whsec_…)")
    with Receiver(("127.0.0.1", port), tools, secret) as server:
        tools.output.note(f"listening on http://127.0.0.1:{server.server_port}/")
        while count is None or server.genuine < count:
            server.handle_request()


class Receiver(ThreadingHTTPServer):
    """A server that prints genuine deliveries and rejects others with 401."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], tools: Tools, secret: str) -> None:
        super().__init__(address, _Handler)
        self.tools = tools
        self.secret = secret
        self.genuine = 0

    def process_request(self, request: Any, client_address: Any) -> None:
        """Handle the request in this thread, so that deliveries are printed in their order."""
        self.finish_request(request, client_address)
        self.shutdown_request(request)


class _Handler(BaseHTTPRequestHandler):
    timeout = SECONDS
    server: Receiver

    def do_POST(self) -> None:
        """Send 204 for a genuine delivery, 401 for any other, and 413 for a large request."""
        length = self.headers.get("Content-Length") or "0"
        if not re.fullmatch("[0-9]{1,7}", length) or int(length) > MOST_BYTES:
            self.send_error(413)
            return
        body = self.rfile.read(int(length))
        output = self.server.tools.output
        try:
            webhook = verify_webhook(dict(self.headers.items()), body, self.server.secret)
        except WebhookInvalid as error:
            output.problem(str(error))
            self.send_error(401)
            return
        self.send_response(204)
        self.end_headers()
        self.server.genuine += 1
        event = str(webhook.data.get("type") or webhook.data.get("event") or "event")
        document = {"id": webhook.id, "event": event, "body": webhook.data}
        # Each delivery is a line, even with --json, because the number of deliveries is unlimited.
        output.result(document, lambda: output.line(f"{event}  {webhook.id}"))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base's name
        """Print no access log."""
