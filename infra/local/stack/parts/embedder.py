"""The embedder part: text in, vector out, over the text-embeddings-inference protocol."""

import os
from typing import Final

import httpx

from stack.errors import ProbeError
from stack.parts.part import Part, Site, minimal_environment, probing, require_listener
from stack.ports import HOST
from stack.process import Spawn
from stack.tools.python_tools import embedder_sources, embedder_tool, model_folder, model_tool
from stack.tools.venv import python
from stack.workspace import Workspace

NAME: Final = "embedder"
# all-MiniLM-L6-v2, see spinneret_embedder.
DIMENSION: Final = 384
BOOT_SECONDS: Final = 300.0
PROBE_SECONDS: Final = 20.0


def embedder(workspace: Workspace) -> Part:
    libraries, model = embedder_tool(workspace), model_tool(workspace)

    def spawn(site: Site) -> Spawn:
        home = site.data(NAME)
        home.mkdir(parents=True, exist_ok=True)
        words = (
            str(python(site.store.path(libraries))),
            "-m",
            "spinneret_embedder_server.server",
            "--model",
            str(model_folder(site.store.path(model))),
            "--host",
            HOST,
            "--port",
            str(site.ports.embedder),
        )
        sources = {
            "PYTHONPATH": os.pathsep.join(map(str, embedder_sources(workspace))),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        return Spawn(words, minimal_environment(home, sources), home)

    return Part(
        name=NAME,
        title="the embedder",
        port="embedder",
        tools=(libraries, model),
        spawn=spawn,
        probe=probe,
        boot_seconds=BOOT_SECONDS,
    )


def probe(url: str) -> None:
    """Embed one text, and check the vector's dimension."""
    require_listener(url)
    http = httpx.Client(base_url=url, timeout=PROBE_SECONDS, trust_env=False)
    with probing(httpx.HTTPError), http as client:
        answer = client.post("/embed", json={"inputs": "a spider and its web"})
    if answer.status_code != 200:
        raise ProbeError(f"POST /embed answered {answer.status_code}: {answer.text[:500]}")
    dimensions = [len(vector) for vector in answer.json()]
    if dimensions != [DIMENSION]:
        raise ProbeError(f"the embedder gave vectors of {dimensions}, expected [{DIMENSION}]")
