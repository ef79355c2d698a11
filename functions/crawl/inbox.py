"""Rule function: handles a new object in the inbox's bucket."""

from spinneret.crawl.inbox.wiring import arrivals
from spinneret.runtime.steps import step_entrypoint

handler = step_entrypoint(arrivals, "crawl-inbox")
