"""Rule function: handles a new object in the inbox's bucket."""

from __future__ import annotations

from spinneret.crawl.inbox.wiring import arrivals
from spinneret.runtime.steps import step_entrypoint

handler = step_entrypoint(arrivals, "crawl-inbox")
