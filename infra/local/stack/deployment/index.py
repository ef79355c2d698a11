"""The chunk index of an instance, accessed from outside."""

import urllib.request
from typing import Final

_SECONDS: Final = 120.0
_PATTERN: Final = "chunks-*"


def remove_indices(url: str) -> None:
    """Remove all chunks: without rows they would only fill the candidates of a search."""
    request = urllib.request.Request(f"{url.rstrip('/')}/{_PATTERN}", method="DELETE")  # noqa: S310
    with urllib.request.urlopen(request, timeout=_SECONDS):  # noqa: S310 - our URL
        pass
