"""The chunk index of an instance, seen from outside."""

from __future__ import annotations

import urllib.request
from typing import Final

_SECONDS: Final = 120.0
_PATTERN: Final = "chunks-*"


def remove_indices(url: str) -> None:
    """Remove all chunks: without their rows they would only fill the candidates of a search."""
    request = urllib.request.Request(f"{url.rstrip('/')}/{_PATTERN}", method="DELETE")  # noqa: S310 - a URL of ours
    with urllib.request.urlopen(request, timeout=_SECONDS):  # noqa: S310 - see above
        pass
