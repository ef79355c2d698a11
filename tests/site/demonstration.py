"""Serve the demonstration: the website and the marketplaces, until the process is ended.

    python -m tests.site.demonstration WEBSITE_PORT MARKETS_PORT

`GET /live` of the marketplaces counts their live listings, for a demonstration that checks its own.
"""

import signal
import sys
import threading
from collections.abc import Sequence
from typing import Final

from tests.markets.server import MarketServer
from tests.site.server import serve

REFUSED_CATEGORY: Final = "1"
"""Category that eBay rejects here, to show a refusal."""
CATEGORY_ERROR: Final = 25005  # eBay's error id for a wrong category


def main(arguments: Sequence[str]) -> None:
    """Serve until SIGTERM or SIGINT."""
    website, markets = map(int, arguments)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    with MarketServer(markets) as server:
        server.ebay.refused_categories[REFUSED_CATEGORY] = CATEGORY_ERROR
        server.etsy.visible_after = 0
        with serve(website):
            stop.wait()


if __name__ == "__main__":
    main(sys.argv[1:])
