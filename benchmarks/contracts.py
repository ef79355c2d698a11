"""Validate recorded requests against the marketplaces' published descriptions with errata.

    MARKETPLACE_RECORD=file python -m pytest …        # the tests that send the requests
    MARKETPLACE_CONTRACTS=folder python benchmarks/contracts.py file [--prism]

JSON Schema validates each distinct request. With `--prism`, each request is also sent to Prism,
which serves the same documents one after the other and needs node. The documents aren't in this
repository, because they belong to the marketplaces. The exit code is 1 if a request violates its
description, or if there is no request to validate.
"""

import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "layers" / "common"), str(ROOT / "infra" / "local")]

import httpx

from stack.port_claims import claim
from tests.markets import contracts
from tests.markets.recording import recorded
from tests.markets.web import RecordedRequest

PRISM: Final = "@stoplight/prism-cli@5.14.2"  # the last version for Node 20
_START_SECONDS: Final = 120.0  # includes the download
# Headers of the connection to the fake; the client to Prism sets its own.
_OWN_HEADERS: Final = frozenset(
    {"host", "connection", "content-length", "accept-encoding", "user-agent", "transfer-encoding"}
)
_PROBLEMS: Final = "https://stoplight.io/prism/errors#"
_UNMOCKED: Final = frozenset({"NO_RESPONSE_DEFINED", "NO_COMPLEX_OBJECT_TEXT", "UNKNOWN"})
"""Errors of Prism after it accepted a request, but couldn't generate a response."""


def distinct(path: Path) -> list[RecordedRequest]:
    """Return each distinct request of a recording once; different tokens don't matter."""
    kept: dict[str, RecordedRequest] = {}
    for seen in recorded(path):
        names = sorted(seen.headers.keys() - _OWN_HEADERS)
        key = [seen.method, seen.path, seen.query, names, seen.headers.get("content-type")]
        kept.setdefault(json.dumps([*key, seen.body.hex()], sort_keys=True), seen)
    return list(kept.values())


def by_schema(requests: Sequence[RecordedRequest]) -> list[str]:
    """Return the violations that JSON Schema finds."""
    return [
        f"{seen.method} {seen.path}: {each}"
        for seen in requests
        for each in contracts.problems(seen)
    ]


def by_prism(requests: Sequence[RecordedRequest]) -> list[str]:
    """Return the violations that Prism finds."""
    groups: dict[str, list[RecordedRequest]] = defaultdict(list)
    for seen in requests:
        found = contracts.operation_of(seen)
        if found is not None:  # JSON Schema reports it
            groups[found[0].name].append(seen)
    violations: list[str] = []
    for description in contracts.documents():
        group = groups[description.name]
        if group:
            with _prism(_with_defaults(description.document)) as url, _client(url) as client:
                if _problem(client.get("/nowhere")) != "NO_PATH_MATCHED_ERROR":
                    raise SystemExit(f"{PRISM} refuses nothing of {description.name}")
                for seen in group:
                    violations += _asked(client, seen, description.base)
    return violations


def _asked(client: httpx.Client, seen: RecordedRequest, base: str) -> Iterator[str]:
    headers = {name: text for name, text in seen.headers.items() if name not in _OWN_HEADERS}
    target = seen.path.removeprefix(base)
    if seen.query:
        target += f"?{urlencode(seen.query, doseq=True)}"
    body = b"" if contracts.is_bare(seen) else seen.body
    if not body:
        headers.pop("content-type", None)
    answer = client.request(seen.method, target, headers=headers, content=body)
    for each in json.loads(answer.headers.get("sl-violations", "[]")):
        if each["location"][0] == "request":  # the others concern Prism's own response
            yield f"{seen.method} {seen.path}: {each['code']}: {each['message']}"
    name = _problem(answer)
    if name is not None and name not in _UNMOCKED:
        yield f"{seen.method} {seen.path}: {name}"


def _problem(answer: httpx.Response) -> str | None:
    if "problem+json" not in answer.headers.get("content-type", ""):
        return None
    return str(answer.json().get("type", "")).removeprefix(_PROBLEMS)


def _with_defaults(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the description with OpenAPI's default for lists in forms written out.

    Prism reads a list of one item as a text unless the description says `form` and `explode`.
    """
    whole: dict[str, Any] = json.loads(json.dumps(document))
    for operations in whole["paths"].values():
        for method in operations.keys() & {"post", "put", "patch"}:
            content = operations[method].get("requestBody", {}).get("content", {})
            form = content.get("application/x-www-form-urlencoded")
            if form is not None:
                form["encoding"] = {
                    name: {"style": "form", "explode": True}
                    for name, each in form["schema"].get("properties", {}).items()
                    if each.get("type") == "array"
                }
    return whole


def _client(url: str) -> httpx.Client:
    return httpx.Client(base_url=url, trust_env=False, timeout=30)


@contextmanager
def _prism(document: Mapping[str, Any]) -> Iterator[str]:
    """Run Prism with one description on loopback, and yield its URL."""
    with claim() as claimed, tempfile.TemporaryDirectory() as folder:
        port = claimed.ports[0]
        path = Path(folder) / "description.json"
        path.write_text(json.dumps(document))
        wanted = ["mock", "--errors", "--seed", "1", "--host", "127.0.0.1", "--port", str(port)]
        server = subprocess.Popen(
            ["npx", "--yes", PRISM, *wanted, str(path)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            _wait(port, server)
            yield f"http://127.0.0.1:{port}"
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait(30)


def _wait(port: int, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        if server.poll() is not None or time.monotonic() > deadline:
            raise SystemExit(f"{PRISM} did not start")
        time.sleep(0.2)


def main() -> int:
    """Validate the requests of a recording, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recording", type=Path)
    parser.add_argument("--prism", action="store_true")
    given = parser.parse_args()
    if not contracts.FOLDER.is_dir():
        print("not held to the descriptions: MARKETPLACE_CONTRACTS names no folder")
        return 0
    every = distinct(given.recording)
    requests = [seen for seen in every if contracts.is_described(seen)]
    operations = Counter(
        str(found[1]["operationId"])
        for seen in requests
        if (found := contracts.operation_of(seen)) is not None
    )
    print(
        f"{len(requests)} distinct requests of {len(operations)} operations"
        f" ({len(every) - len(requests)} for tokens, which are OAuth's)"
    )
    violations = by_schema(requests)
    print(f"JSON Schema: {len(violations)} violations")
    if given.prism and shutil.which("npx") is None:
        print("not sent to Prism: there is no npx here")
    elif given.prism:
        found = by_prism(requests)
        print(f"Prism 5.14.2: {len(found)} violations")
        violations += found
    for each, number in Counter(violations).most_common(40):
        print(f"  {number} times: {each[:300]}")
    return 1 if violations or not requests else 0


if __name__ == "__main__":
    sys.exit(main())
