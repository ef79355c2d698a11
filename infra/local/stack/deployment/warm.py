"""Warm the API functions of a new deployment, so that its first requests don't wait for them."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import httpx

from stack.deployment import templates

# A cold start takes seconds on a loaded machine; a slow one must not fail the deployment.
_SECONDS: Final = 60.0
# More at once would only slow each other down.
_PARALLEL: Final = 4


def warm(template: Path, api: str) -> None:
    """Send each API function a request without a key, which it refuses; ignore failures."""
    with (
        httpx.Client(timeout=_SECONDS, trust_env=False) as http,
        ThreadPoolExecutor(_PARALLEL) as pool,
    ):
        for path in set(_paths(template)):
            pool.submit(http.get, api + path)


def _paths(template: Path) -> Iterator[str]:
    """Yield one path of each API function."""
    for resource in templates.load(template)["Resources"].values():
        events = resource.get("Properties", {}).get("Events", {}).values()
        paths = [each["Properties"]["Path"] for each in events if each["Type"] == "Api"]
        if paths:
            yield re.sub(r"\{.*?\}", "warm", paths[0])
