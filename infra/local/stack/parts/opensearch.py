"""The OpenSearch part with k-NN: one node on loopback."""

import uuid
from pathlib import Path
from typing import Final

import httpx

from stack.errors import ProbeError
from stack.parts.part import Part, Site, minimal_environment, probing, require_listener
from stack.ports import HOST
from stack.process import Spawn
from stack.tools import java
from stack.tools.jars import opensearch_class_path, opensearch_tool
from stack.workspace import Workspace

NAME: Final = "opensearch"
SMALLEST_HEAP: Final = "128m"
HEAP: Final = "512m"
IDLE_COLLECTION_MS: Final = 30_000
# Under load a boot of 10 s has taken a minute.
BOOT_SECONDS: Final = 600.0
PROBE_SECONDS: Final = 20.0
# From this version on, the use of native memory must be allowed explicitly.
_NATIVE_ACCESS_VERSION = 22

_INDEX = {
    "settings": {"number_of_shards": 1, "number_of_replicas": 0, "index.knn": True},
    "mappings": {
        "properties": {
            "text": {"type": "text", "analyzer": "english"},
            "vector": {
                "type": "knn_vector",
                "dimension": 2,
                # The other engines need native libraries, and hang at the first write without them.
                "method": {"name": "hnsw", "space_type": "cosinesimil", "engine": "lucene"},
            },
        }
    },
}


def opensearch(workspace: Workspace) -> Part:
    tool = opensearch_tool(workspace)

    def spawn(site: Site) -> Spawn:
        folder = site.store.path(tool)
        runtime = java.provide(site.store)
        home = site.data(NAME)
        for name in ("tmp", "plugins", "modules", "logs"):
            (home / name).mkdir(parents=True, exist_ok=True)
        kept = site.instance.kept(NAME)
        kept.mkdir(parents=True, exist_ok=True)
        settings = _settings(site.instance.name, site.ports.opensearch, kept)
        words = (
            str(runtime.executable),
            *_machine_options(runtime, home / "tmp"),
            "-cp",
            opensearch_class_path(folder),
            "LocalNode",
            str(home),
            str(folder / "config"),
            *(f"{name}={value}" for name, value in settings.items()),
        )
        return Spawn(words, minimal_environment(home, {}), home)

    return Part(
        name=NAME,
        title="OpenSearch",
        port="opensearch",
        tools=(tool,),
        spawn=spawn,
        probe=probe,
        boot_seconds=BOOT_SECONDS,
        needs_java=True,
    )


def _settings(instance: str, port: int, data: Path) -> dict[str, object]:
    return {
        "path.data": data,
        "cluster.name": f"spinneret-{instance}",
        "network.host": HOST,
        "http.port": port,
        # The port is unused; the kernel picks a free one.
        "transport.port": 0,
        "discovery.type": "single-node",
        # A nearly full disk would make every index read-only.
        "cluster.routing.allocation.disk.threshold_enabled": "false",
        "action.auto_create_index": "false",
    }


def _machine_options(runtime: java.Java, temporary: object) -> tuple[str, ...]:
    options = (
        f"-Xms{SMALLEST_HEAP}",
        f"-Xmx{HEAP}",
        "-XX:+ExitOnOutOfMemoryError",
        # An idle node returns the memory that it needs no longer.
        f"-XX:G1PeriodicGCInterval={IDLE_COLLECTION_MS}",
        f"-Djava.io.tmpdir={temporary}",
        "-Dlog4j2.disable.jmx=true",
    )
    if runtime.version >= _NATIVE_ACCESS_VERSION:
        return (*options, "--enable-native-access=ALL-UNNAMED")
    return options


def probe(url: str) -> None:
    """Create an index, write, search by text and by vector, and delete the index.

    The health status isn't sufficient: it is green even when no index can be created.
    """
    index = f"probe-{uuid.uuid4().hex}"
    require_listener(url)
    http = httpx.Client(base_url=url, timeout=PROBE_SECONDS, trust_env=False)
    with probing(httpx.HTTPError), http as client:
        _expect(client.put(f"/{index}", json=_INDEX), 200)
        try:
            document = {"text": "Spiders spinning webs", "vector": [0.6, 0.8]}
            _expect(client.put(f"/{index}/_doc/1?refresh=true", json=document), 201)
            _expect_hit(client, index, {"match": {"text": "spider"}})
            _expect_hit(client, index, {"knn": {"vector": {"vector": [0.6, 0.8], "k": 1}}})
        finally:
            _expect(client.delete(f"/{index}"), 200)


def _expect_hit(client: httpx.Client, index: str, query: dict[str, object]) -> None:
    answer = client.post(f"/{index}/_search", json={"query": query})
    _expect(answer, 200)
    if [hit["_id"] for hit in answer.json()["hits"]["hits"]] != ["1"]:
        raise ProbeError(f"OpenSearch did not find the document by {query}: {answer.text}")


def _expect(answer: httpx.Response, status: int) -> None:
    if answer.status_code != status:
        what = f"{answer.request.method} {answer.request.url.path}"
        raise ProbeError(f"{what} answered {answer.status_code}: {answer.text[:500]}")
