"""Program that fetches one page in its own process and reports how much its memory grew.

Arguments: the URL, the server's `host:port`, the maximum number of bytes to accept. Standard output
is one line of JSON: `outcome` (the error's name, or "page"), and `grown`, in bytes.
"""

import json
import re
import sys
from pathlib import Path

from spinneret.kernel.errors import DomainError
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.http import GuardedFetcher
from spinneret.web.fetching.models import FetchRequest
from spinneret.web.fetching.resolver import resolve_by_system
from spinneret.web.fetching.urls import parse_url


def main(url: str, pair: str, max_bytes: str) -> None:
    """Fetch the URL once and print the report."""
    guarded = GuardedFetcher(
        AddressPolicy(frozenset({pair})), resolve_by_system, user_agent="Spinneret-Test/1"
    )
    request = FetchRequest(url=parse_url(url), max_bytes=int(max_bytes))
    before = _resident("VmRSS")  # not the peak so far: loading modules may have taken more memory
    try:
        guarded.fetch(request)
        outcome = "page"
    except DomainError as error:
        outcome = type(error).__name__
    grown = _resident("VmHWM") - before
    sys.stdout.write(json.dumps({"outcome": outcome, "grown": grown}))


def _resident(name: str) -> int:
    """Return a size in bytes (proc(5)): VmRSS is the resident memory now, VmHWM its peak."""
    status = Path("/proc/self/status").read_text()
    [kilobytes] = re.findall(rf"^{name}:\s+(\d+) kB$", status, re.MULTILINE)
    return int(kilobytes) * 1024


if __name__ == "__main__":
    main(*sys.argv[1:])
