"""The WebSocket gateway part: API Gateway's WebSocket contract in front of a deployed function."""

from typing import Final

import httpx

from stack.deployment.record import STACK_NAME, WEBSOCKET_STAGE
from stack.errors import ProbeError
from stack.parts.part import Part, Site, minimal_environment, probing, require_listener
from stack.ports import HOST
from stack.process import Spawn
from stack.tools.python_tools import websocket_tool
from stack.tools.venv import python
from stack.workspace import REGION, Workspace

NAME: Final = "websocket"
BOOT_SECONDS: Final = 300.0
PROBE_SECONDS: Final = 20.0


def websocket(workspace: Workspace) -> Part:
    tool = websocket_tool(workspace)

    def spawn(site: Site) -> Spawn:
        home = site.data(NAME)
        home.mkdir(parents=True, exist_ok=True)
        options = {
            "--host": HOST,
            "--port": str(site.ports.websocket),
            "--aws-endpoint": f"http://{HOST}:{site.ports.gateway}",
            "--region": REGION,
            "--stack": STACK_NAME,
            "--stage": WEBSOCKET_STAGE,
        }
        words = (
            str(python(site.store.path(tool))),
            "-m",
            "spinneret_websocket.server",
            *(word for option in options.items() for word in option),
        )
        sources = {
            "PYTHONPATH": str(workspace.sources / "websocket"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        return Spawn(words, minimal_environment(home, sources), home)

    return Part(
        name=NAME,
        title="the WebSocket gateway",
        port="websocket",
        tools=(tool,),
        spawn=spawn,
        probe=probe,
        boot_seconds=BOOT_SECONDS,
    )


def probe(url: str) -> None:
    """Request the health, and a connection that doesn't exist.

    A handshake would need a deployed function, which comes after the start.
    """
    require_listener(url)
    http = httpx.Client(base_url=url, timeout=PROBE_SECONDS, trust_env=False)
    with probing(httpx.HTTPError), http as client:
        answers = [client.get("/healthz"), client.get(f"/{WEBSOCKET_STAGE}/@connections/probe")]
    statuses = [answer.status_code for answer in answers]
    if statuses != [200, 410]:
        raise ProbeError(f"the WebSocket gateway answered {statuses}, expected [200, 410]")
