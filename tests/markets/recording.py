"""Records of requests to the fake marketplaces, for a later check against the descriptions."""

import base64
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.markets.web import RecordedRequest

VARIABLE: Final = "MARKETPLACE_RECORD"
"""Environment variable that names the file; without it no request is recorded."""


def record(seen: RecordedRequest) -> None:
    """Append the request as a line in one write, so that several processes can share the file."""
    path = os.environ.get(VARIABLE)
    if path:
        line = {
            "method": seen.method,
            "path": seen.path,
            "query": dict(seen.query),
            "headers": dict(seen.headers),
            "body": base64.b64encode(seen.body).decode(),
        }
        with Path(path).open("ab", buffering=0) as file:
            file.write(json.dumps(line, sort_keys=True).encode() + b"\n")


def recorded(path: Path) -> Iterator[RecordedRequest]:
    """Yield the requests of a file."""
    with path.open() as file:
        for line in file:
            kept = json.loads(line)
            yield RecordedRequest(
                method=kept["method"],
                path=kept["path"],
                query=kept["query"],
                headers=kept["headers"],
                body=base64.b64decode(kept["body"]),
            )
